package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// flowBindings makes bindings of Flow's. Stream.Name is the resource path joined by dots, for messages: the source knows its stream from Resource.
func (inv *invocation) flowBindings(given []flow.Binding) ([]protocol.Binding, error) {
	bs := make([]protocol.Binding, len(given))
	var problems []error
	for i, g := range given {
		if err := inv.connector.checkResource(g.ResourceConfig); err != nil {
			problems = append(problems, command.OfBinding(i, g.Collection.Name, err)...)
			continue
		}
		path, err := resourcePath(g.ResourceConfig, inv.connector.path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		key := g.StateKey
		if key == "" {
			key = flow.StateKey(path, g.Backfill)
		}
		bs[i] = protocol.Binding{
			Stream: protocol.Stream{Name: strings.Join(path, ".")}, Resource: g.ResourceConfig, Mode: protocol.Incremental,
			Key: g.Collection.Key, Schema: g.Collection.WriteSchema, Projections: explicit(g.Collection.Projections), StateKey: key,
		}
	}
	return bs, errors.Join(problems...)
}

// explicit returns the projections that a person asked for: the others are Flow's own names for what the document has.
func explicit(projections []flow.Projection) map[string]string {
	var m map[string]string
	for _, p := range projections {
		if p.Explicit {
			if m == nil {
				m = map[string]string{}
			}
			m[p.Field] = p.Pointer
		}
	}
	return m
}

// resourcePath returns the resource's values at the pointers; those that are null or absent are left out.
func resourcePath(resource json.RawMessage, pointers []string) ([]string, error) {
	var path []string
	for _, pointer := range pointers {
		names, ok := pointerPath(pointer)
		if !ok {
			return nil, fmt.Errorf("reading the resource path: %q is no JSON pointer", pointer)
		}
		raw := resource
		for _, name := range names {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(raw, &members); err != nil {
				return nil, fmt.Errorf("reading %s of the resource: %w", pointer, err)
			}
			if raw = members[name]; raw == nil {
				raw = json.RawMessage("null")
			}
		}
		var value *string
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("reading %s of the resource: %w", pointer, err)
		}
		if value != nil {
			path = append(path, *value)
		}
	}
	return path, nil
}
