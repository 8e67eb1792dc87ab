package airbyte

import (
	"encoding/json"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
)

type stream struct {
	Name        string          `json:"name"`
	Namespace   string          `json:"namespace,omitempty"`
	Schema      json.RawMessage `json:"json_schema"`
	Modes       []protocol.Mode `json:"supported_sync_modes"`
	OwnCursor   bool            `json:"source_defined_cursor,omitempty"`
	Cursor      []string        `json:"default_cursor_field,omitempty"`
	PrimaryKey  [][]string      `json:"source_defined_primary_key,omitempty"`
	IsResumable bool            `json:"is_resumable,omitempty"`
}

func toStream(s protocol.Stream) stream {
	out := stream{
		Name: s.Name, Namespace: s.Namespace, Schema: jsonschema.Airbyte(s.Schema),
		Modes: []protocol.Mode{protocol.FullRefresh}, PrimaryKey: paths(s.Key),
	}
	if s.Incremental {
		out.Modes = append(out.Modes, protocol.Incremental)
		out.OwnCursor, out.IsResumable = true, true
		if s.Cursor != "" {
			out.Cursor = paths([]string{s.Cursor})[0]
		}
	}
	return out
}

// AppendCatalog appends a CATALOG of what a source offers.
func AppendCatalog(dst []byte, streams []protocol.Stream) []byte {
	list := make([]stream, len(streams))
	for i, s := range streams {
		list[i] = toStream(s)
	}
	type catalog struct {
		Streams []stream `json:"streams"`
	}
	return appendLine(dst, struct {
		Type    string  `json:"type"`
		Catalog catalog `json:"catalog"`
	}{"CATALOG", catalog{list}})
}

// AppendConfigured appends a configured catalog of all streams, one line without an envelope: incremental, deduplicated where there is a key.
func AppendConfigured(dst []byte, streams []protocol.Stream) []byte {
	type configured struct {
		Stream      stream        `json:"stream"`
		Mode        protocol.Mode `json:"sync_mode"`
		Destination string        `json:"destination_sync_mode"`
		PrimaryKey  [][]string    `json:"primary_key,omitempty"`
	}
	list := make([]configured, len(streams))
	for i, s := range streams {
		c := configured{Stream: toStream(s), Mode: protocol.Incremental, Destination: "append", PrimaryKey: paths(s.Key)}
		if len(s.Key) > 0 {
			c.Destination = "append_dedup"
		}
		list[i] = c
	}
	return appendLine(dst, struct {
		Streams []configured `json:"streams"`
	}{list})
}

// paths turns JSON pointers into the paths of a primary key.
func paths(pointers []string) [][]string {
	var list [][]string
	for _, p := range pointers {
		path := strings.Split(strings.TrimPrefix(p, "/"), "/")
		for i := range path {
			path[i] = strings.ReplaceAll(strings.ReplaceAll(path[i], "~1", "/"), "~0", "~")
		}
		list = append(list, path)
	}
	return list
}

// pointers is the inverse of paths. Empty paths, which some runners write for "no key", are left out.
func pointers(paths [][]string) []string {
	var list []string
	for _, path := range paths {
		if len(path) == 0 {
			continue
		}
		var p strings.Builder
		for _, name := range path {
			p.WriteByte('/')
			p.WriteString(strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"))
		}
		list = append(list, p.String())
	}
	return list
}
