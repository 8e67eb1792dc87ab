package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/estuary/connectors/internal/catalog"
	"github.com/estuary/connectors/internal/rawjson"
)

// schemaObject is a JSON object whose members keep their order: the order of a schema's properties becomes that of the columns.
type schemaObject []schemaMember

type schemaMember struct {
	name  string
	value json.RawMessage
}

// parseObject reads an object; not ok: it is something else.
func parseObject(raw []byte) (o schemaObject, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	err := rawjson.Object(raw, func(name, value []byte) error {
		o.set(string(rawjson.AppendUnquoted(nil, name)), slices.Clone(value))
		return nil
	})
	return o, err == nil
}

func (o schemaObject) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o *schemaObject) set(name string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, schemaMember{name, value})
}

func (o schemaObject) json() json.RawMessage {
	dst := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(rawjson.AppendQuoted(dst, []byte(m.name)), ':'), m.value...)
	}
	return append(dst, '}')
}

// widen joins what the source announces with the schema that is known of a stream's documents: nothing is dropped, types widen. changed tells whether that
// makes a difference to the sink.
func (r *route) widen(known, sourced json.RawMessage) (joined json.RawMessage, changed bool, err error) {
	joined, err = catalog.Join(known, catalog.Project(sourced, r.entry.Projections))
	if err != nil {
		return nil, false, fmt.Errorf("joining the schemas of stream %s: %w", r.full(), err)
	}
	before, err := r.collection(known)
	if err != nil {
		return nil, false, err
	}
	after, err := r.collection(joined)
	if err != nil {
		return nil, false, err
	}
	return joined, !reflect.DeepEqual(before.Projections, after.Projections), nil
}
