package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
)

// change is a line of the log.
type change struct {
	Stream string          `json:"stream"`
	Doc    json.RawMessage `json:"doc"`
	Void   bool            `json:"void"` // what came before of this stream is void
}

// stream is one of the three that there are. at is its place in the key space.
type stream struct {
	name string
	key  []string
	at   uint32
}

const namespace = "fake"

var all = []stream{{"items", []string{"id"}, 0x10000000}, {"pairs", []string{"a", "b"}, 0x60000000}, {"notes", nil, 0xc0000000}}

func (s stream) stateKey() string   { return namespace + "%2F" + s.name }
func (s stream) descriptor() object { return object{"name": s.name, "namespace": namespace} }

func named(name string) (stream, bool) {
	i := slices.IndexFunc(all, func(s stream) bool { return s.name == name })
	if i < 0 {
		return stream{name: name}, false
	}
	return all[i], true
}

func (s stream) schema(closed bool) object {
	properties := map[string]object{
		"items": {"id": object{"type": "integer"}, "text": object{"type": []string{"string", "null"}}},
		"pairs": {"a": object{"type": "string"}, "b": object{"type": "string"}, "n": object{"type": "integer"}},
		"notes": {"line": object{"type": "string"}},
	}[s.name]
	meta := object{"type": "object", "properties": object{"op": object{"type": "string"}, "before": object{"type": "object", "properties": object{"line": object{"type": "string"}}}, "at": object{"type": "integer"}}}
	properties["_meta"] = meta
	schema := object{"type": "object", "properties": properties, "required": append(slices.Clone(s.key), "_meta")}
	if closed {
		meta["additionalProperties"], schema["additionalProperties"] = false, false
		meta["properties"].(object)["before"].(object)["additionalProperties"] = false
	}
	if closed && fault("open sourcedSchema") {
		delete(schema, "additionalProperties")
	}
	if fault("reference in a schema") && !closed {
		properties["_meta"] = object{"$ref": "#/definitions/meta"}
		schema["definitions"] = object{"meta": meta}
	}
	return schema
}

func offered() []object {
	var list []object
	for _, s := range all {
		o := object{
			"name": s.name, "namespace": namespace, "json_schema": s.schema(false),
			"supported_sync_modes": []string{"full_refresh", "incremental"}, "source_defined_cursor": true,
		}
		var key [][]string
		for _, name := range s.key {
			if fault("key that is not there") {
				name += "?"
			}
			key = append(key, []string{name})
		}
		if key != nil {
			o["source_defined_primary_key"] = key
		}
		if fault("unknown member in CATALOG") {
			o["is_resumeable"] = true
		}
		list = append(list, o)
	}
	if fault("hides a stream") {
		list = list[:2]
	}
	return list
}

// changes reads the log from a line on.
func changes(path string, from int) []change {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("the log is gone")
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var list []change
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if i < from || line == "" {
			continue
		}
		var c change
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			fail("a line of the log is no change")
		}
		list = append(list, c)
	}
	return list
}
