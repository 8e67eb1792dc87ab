package flow

import (
	"encoding/json"
	"fmt"

	"github.com/estuary/connectors/protocol"
)

// The annotations by which a sink's resource schema says where the names of a table go.
const (
	MarkCollection = "x-collection-name"
	MarkSchema     = "x-schema-name"
	MarkDelta      = "x-delta-updates"
)

// ResourceNames knows which members of a sink's resource hold a table's names.
type ResourceNames struct {
	table, schema, delta string // "": the resource has none
}

// NamesOf reads a resource's JSON schema.
func NamesOf(resourceSchema []byte) (ResourceNames, error) {
	var s struct {
		Properties map[string]map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(resourceSchema, &s); err != nil {
		return ResourceNames{}, fmt.Errorf("reading the schema of a resource: %w", err)
	}
	var n ResourceNames
	for name, property := range s.Properties {
		for mark, into := range map[string]*string{MarkCollection: &n.table, MarkSchema: &n.schema, MarkDelta: &n.delta} {
			if string(property[mark]) == "true" {
				*into = name
			}
		}
	}
	if n.table == "" {
		return n, fmt.Errorf("the schema of the resource marks no property with %s", MarkCollection)
	}
	return n, nil
}

// Resource makes the resource of a table. An empty schema leaves the choice to the sink's configuration.
func (n ResourceNames) Resource(schema, table string, delta bool) (json.RawMessage, error) {
	r := map[string]any{n.table: table}
	if schema != "" {
		if n.schema == "" {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("the destination has no schemas, but the table %s is to go into the schema %s", table, schema), Fix: "leave the namespace out",
			}
		}
		r[n.schema] = schema
	}
	if delta {
		if n.delta == "" {
			return nil, &protocol.Problem{Kind: protocol.Config, Summary: "the destination has no tables to which rows are only added", Fix: "give the stream a key and append_dedup"}
		}
		r[n.delta] = true
	}
	return json.Marshal(r)
}

// Of returns the names in a resource; an absent schema is empty.
func (n ResourceNames) Of(resource []byte) (schema, table string, delta bool, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(resource, &members); err != nil {
		return "", "", false, fmt.Errorf("reading a resource: %w", err)
	}
	for member, into := range map[string]any{n.schema: &schema, n.table: &table, n.delta: &delta} {
		if raw := members[member]; member != "" && raw != nil {
			if err := json.Unmarshal(raw, into); err != nil {
				return "", "", false, fmt.Errorf("reading %s of a resource: %w", member, err)
			}
		}
	}
	return schema, table, delta, nil
}
