package apply

import (
	"encoding/json"
	"fmt"
	"strings"
)

// field is a place of a collection's documents and the column that it is selected for.
type field struct {
	name string
	// kind is JSON type names, then a format after a colon: "integer", "object,string", "string:date". "string:base64" is an encoding, "integer:1e19" a
	// greatest value. A final ! says that each document has it.
	kind  string
	value string // JSON of the document that is stored; empty: the document lacks it
}

// table is a binding. The fields before keys are its key, the others its values; the root document is selected, too.
type table struct {
	schema, name string // schema empty: the configuration's
	keys         int
	fields       []field
	delta        bool
	backfill     int
	extra        string // additional_table_create_sql
}

const document = "flow_document"

func (f *field) inference() map[string]any {
	kind, must := strings.CutSuffix(f.kind, "!")
	types, format, _ := strings.Cut(kind, ":")
	i := map[string]any{"types": strings.Split(types, ","), "exists": "MAY"}
	if must {
		i["exists"] = "MUST"
	}
	switch {
	case format == "":
	case format == "base64":
		i["string"] = map[string]any{"contentEncoding": format}
	case types == "integer":
		i["numeric"] = map[string]any{"hasMinimum": true, "hasMaximum": true, "maximum": json.Number(format)}
	default:
		i["string"] = map[string]any{"format": format}
	}
	return i
}

func (t *table) collection() map[string]any {
	projections := []any{map[string]any{"ptr": "", "field": document, "inference": map[string]any{"types": []string{"object"}, "exists": "MUST"}}}
	key := []string{}
	for i, f := range t.fields {
		p := map[string]any{"ptr": "/" + f.name, "field": f.name, "inference": f.inference()}
		if i < t.keys {
			p["isPrimaryKey"] = true
			key = append(key, "/"+f.name)
		}
		projections = append(projections, p)
	}
	return map[string]any{"name": "acme/" + t.name, "key": key, "projections": projections}
}

func (t *table) resource() map[string]any {
	r := map[string]any{"table": t.name}
	if t.schema != "" {
		r["schema"] = t.schema
	}
	if t.delta {
		r["delta_updates"] = true
	}
	if t.extra != "" {
		r["additional_table_create_sql"] = t.extra
	}
	return r
}

// selection is every field that there is.
func (t *table) selection() map[string]any {
	keys, values := []string{}, []string{}
	for i, f := range t.fields {
		if i < t.keys {
			keys = append(keys, f.name)
		} else {
			values = append(values, f.name)
		}
	}
	return map[string]any{"keys": keys, "values": values, "document": document}
}

// path is the resource path that the connector answers with.
func (t *table) path() []string {
	if t.schema == "" {
		return []string{schema, t.name}
	}
	return []string{t.schema, t.name}
}

func proposed(config map[string]any, tables []table) map[string]any {
	list := make([]any, len(tables))
	for i := range tables {
		list[i] = map[string]any{"resourceConfig": tables[i].resource(), "collection": tables[i].collection(), "backfill": tables[i].backfill}
	}
	return map[string]any{"name": task, "connectorType": "IMAGE", "config": config, "bindings": list}
}

func materialization(config map[string]any, tables []table) map[string]any {
	list := make([]any, len(tables))
	for i := range tables {
		t := &tables[i]
		stateKey := strings.Join(t.path(), "%2F")
		if t.backfill > 0 {
			stateKey += fmt.Sprintf(".v%d", t.backfill)
		}
		list[i] = map[string]any{
			"resourceConfig": t.resource(), "resourcePath": t.path(), "collection": t.collection(), "fieldSelection": t.selection(), "deltaUpdates": t.delta, "backfill": t.backfill,
			"stateKey": stateKey,
		}
	}
	return map[string]any{"name": task, "connectorType": "IMAGE", "config": config, "bindings": list}
}

// document is the one document that is stored of a table, and its parts as a store has them.
func (t *table) document() (key, values []json.RawMessage, doc json.RawMessage) {
	var b strings.Builder
	for i, f := range t.fields {
		value := json.RawMessage(f.value)
		if f.value == "" {
			value = json.RawMessage("null")
		} else {
			if b.Len() > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%q:%s", f.name, f.value)
		}
		if i < t.keys {
			key = append(key, value)
		} else {
			values = append(values, value)
		}
	}
	return key, values, json.RawMessage("{" + b.String() + "}")
}
