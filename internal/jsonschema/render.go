// Package jsonschema renders the neutral protocol.Schema: for Airbyte as a flat draft-07 schema, for Flow with its annotations, and for Flow's
// sourcedSchema in closed form. Members stand in a fixed order, so that equal schemas have equal bytes.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/estuary/connectors/protocol"
)

// rendering is what differs between the forms of one schema.
type rendering struct {
	draft      string // $schema of the root; empty: none
	additional bool   // additionalProperties may hold a schema
	closed     bool   // objects that say nothing about other properties have none
}

// Airbyte renders a draft-07 schema without $ref, combinators and conditions, which the protocol's test kits refuse.
func Airbyte(s protocol.Schema) []byte {
	r := rendering{draft: "http://json-schema.org/draft-07/schema#"}
	return r.appendRoot(nil, s, false)
}

// Flow renders a discovered schema: a document whose /_meta/op is "d" deletes its key where the schema says so, and a schema that does not name every
// property asks for inference.
func Flow(s protocol.Schema) []byte {
	r := rendering{additional: true}
	return r.appendRoot(nil, s, true)
}

// FlowClosed renders the schema for a sourcedSchema response, which takes no conditional and wants every object closed.
func FlowClosed(s protocol.Schema) []byte {
	r := rendering{additional: true, closed: true}
	return r.appendRoot(nil, s, false)
}

func (r rendering) appendRoot(dst []byte, s protocol.Schema, annotate bool) []byte {
	o := object{dst: append(dst, '{')}
	if r.draft != "" {
		o.text("$schema", r.draft)
	}
	deletes := annotate && s.Deletes
	if deletes {
		s.Reduce = "" // then and else carry it
	}
	r.appendMembers(&o, s)
	if annotate && !s.Complete {
		o.raw("x-infer-schema", "true")
	}
	if deletes {
		o.raw("if", `{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"const":"d"}}}}}`)
		o.raw("then", `{"reduce":{"strategy":"merge","delete":true}}`)
		o.raw("else", `{"reduce":{"strategy":"merge"}}`)
	}
	return append(o.dst, '}')
}

func (r rendering) append(dst []byte, s protocol.Schema) []byte {
	o := object{dst: append(dst, '{')}
	r.appendMembers(&o, s)
	return append(o.dst, '}')
}

func (r rendering) appendMembers(o *object, s protocol.Schema) {
	switch len(s.Types) {
	case 0:
	case 1:
		o.text("type", s.Types[0])
	default:
		o.texts("type", s.Types)
	}
	o.textIf("title", s.Title)
	o.textIf("description", s.Description)
	o.textIf("format", s.Format)
	o.textIf("contentEncoding", s.ContentEncoding)
	o.textIf("contentMediaType", s.ContentMediaType)
	if s.MaxLength > 0 {
		o.raw("maxLength", strconv.Itoa(s.MaxLength))
	}
	if len(s.Enum) > 0 {
		r.appendEnum(o, s)
	}
	r.appendProperties(o, s)
	if s.Items != nil {
		o.name("items")
		o.dst = r.append(o.dst, *s.Items)
	}
	if s.Reduce != "" {
		o.name("reduce")
		o.dst = append(appendText(append(o.dst, `{"strategy":`...), s.Reduce), '}')
	}
}

// appendEnum adds null to the values of a nullable enum: a validator wants type and enum to agree.
func (r rendering) appendEnum(o *object, s protocol.Schema) {
	o.texts("enum", s.Enum)
	if slices.Contains(s.Types, "null") {
		o.dst = append(o.dst[:len(o.dst)-1], ",null]"...)
	}
}

func (r rendering) appendProperties(o *object, s protocol.Schema) {
	if len(s.Properties) > 0 {
		var required []string
		o.name("properties")
		inner := object{dst: append(o.dst, '{')}
		for _, p := range s.Properties {
			inner.name(p.Name)
			inner.dst = r.append(inner.dst, p.Schema)
			if p.Required {
				required = append(required, p.Name)
			}
		}
		o.dst = append(inner.dst, '}')
		if required != nil {
			o.texts("required", required)
		}
	}
	switch {
	case s.Additional != nil && r.additional:
		o.name("additionalProperties")
		o.dst = r.append(o.dst, *s.Additional)
	case s.Additional == nil && r.closed && slices.Contains(s.Types, "object"):
		o.raw("additionalProperties", "false")
	}
}

// object appends the members of a JSON object that has been opened.
type object struct {
	dst  []byte
	some bool
}

func (o *object) name(name string) {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(appendText(o.dst, name), ':')
}

func (o *object) raw(name, value string) {
	o.name(name)
	o.dst = append(o.dst, value...)
}

func (o *object) text(name, value string) {
	o.name(name)
	o.dst = appendText(o.dst, value)
}

func (o *object) textIf(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) texts(name string, values []string) {
	o.name(name)
	o.dst = append(o.dst, '[')
	for i, v := range values {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = appendText(o.dst, v)
	}
	o.dst = append(o.dst, ']')
}

// appendText appends a JSON string, leaving <, > and & readable.
func appendText(dst []byte, s string) []byte {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always has a JSON form
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
