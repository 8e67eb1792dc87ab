package catalog

import (
	"encoding/json"
	"slices"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// Project returns the schema of documents whose top-level fields a source has put at other places (field → JSON pointer). Objects on the way are made, and
// are joined member by member when a document is changed, as the root is. The order of properties stays. What cannot be moved is left as it is.
func Project(schema []byte, projections map[string]string) []byte {
	root, ok := readMembers(schema)
	if !ok || len(projections) == 0 {
		return schema
	}
	properties, _ := readMembers(root.get("properties"))
	var moved []string
	for _, m := range slices.Clone(properties) {
		pointer, isMoved := projections[m.name]
		if !isMoved || pointer == "/"+protocol.EscapePointer(m.name) {
			continue
		}
		p, err := rawjson.ParsePointer(pointer)
		if err != nil || len(p.Tokens()) == 0 {
			continue
		}
		properties = slices.DeleteFunc(properties, func(other member) bool { return other.name == m.name })
		properties = properties.put(p.Tokens(), m.value)
		moved = append(moved, m.name)
	}
	if moved == nil {
		return schema
	}
	root = root.set("properties", properties.json())
	var required []string
	if json.Unmarshal(root.get("required"), &required) == nil { // something else requires nothing
		required = slices.DeleteFunc(required, func(r string) bool { return slices.Contains(moved, r) })
		raw, _ := json.Marshal(required) // strings always have a JSON form
		root = root.set("required", raw)
	}
	if len(required) == 0 {
		root = slices.DeleteFunc(root, func(m member) bool { return m.name == "required" })
	}
	return root.json()
}

// ProjectKey returns a key (JSON pointers) of such documents: a part that was at the top is where its field was put.
func ProjectKey(key []string, projections map[string]string) []string {
	out := slices.Clone(key)
	for i, pointer := range out {
		if name, ok := protocol.TopLevel(pointer); ok && projections[name] != "" {
			out[i] = projections[name]
		}
	}
	return out
}

// members is a JSON object that keeps its order.
type members []member

type member struct {
	name  string
	value []byte
}

// readMembers reads an object; not ok: it is something else.
func readMembers(raw []byte) (o members, ok bool) {
	err := rawjson.Object(raw, func(name, value []byte) error {
		o = o.set(string(rawjson.AppendUnquoted(nil, name)), value)
		return nil
	})
	return o, err == nil
}

func (o members) get(name string) []byte {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o members) set(name string, value []byte) members {
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

// put places a schema among properties, below objects that are made where there are none.
func (o members) put(tokens []string, value []byte) members {
	name := tokens[0]
	if len(tokens) == 1 {
		return o.set(name, value)
	}
	inner, ok := readMembers(o.get(name))
	if !ok || !allowsObject(inner.get("type")) {
		inner = members{{"type", []byte(`"object"`)}, {"reduce", []byte(`{"strategy":"merge"}`)}}
	}
	below, _ := readMembers(inner.get("properties"))
	return o.set(name, inner.set("properties", below.put(tokens[1:], value).json()).json())
}

// allowsObject looks at a "type".
func allowsObject(raw []byte) bool {
	var one string
	var list []string
	if json.Unmarshal(raw, &one) == nil {
		return one == "object"
	}
	_ = json.Unmarshal(raw, &list) // something else names no types
	return slices.Contains(list, "object")
}

func (o members) json() []byte {
	dst := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(rawjson.AppendQuoted(dst, []byte(m.name)), ':'), m.value...)
	}
	return append(dst, '}')
}
