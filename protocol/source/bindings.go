package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// catalogBindings makes the bindings of a configured catalog, without their state. Resource is nil: an Airbyte catalog knows streams by name and
// namespace only.
func catalogBindings(c airbyte.Catalog) []protocol.Binding {
	bs := make([]protocol.Binding, len(c.Streams))
	keys := map[string]bool{}
	for i, s := range c.Streams {
		d := s.Descriptor
		key := flow.StateKey(streamPath(d.Namespace, d.Name), 0)
		if keys[key] { // x and public.x, both in public: the second keeps its whole name
			key = flow.StateKey([]string{d.Namespace, d.Name}, 0)
		}
		keys[key] = true
		bs[i] = protocol.Binding{
			Stream: protocol.Stream{Name: d.Name, Namespace: d.Namespace}, Mode: s.Mode, Key: s.Key, Schema: s.Schema,
			Projections: s.Projections, StateKey: key,
		}
	}
	return bs
}

// streamBindings makes the bindings of discovered streams, all of them incremental.
func streamBindings(streams []protocol.Stream) []protocol.Binding {
	bs := make([]protocol.Binding, len(streams))
	for i, s := range streams {
		bs[i] = protocol.Binding{
			Stream: s, Resource: s.Resource, Mode: protocol.Incremental, Key: s.Key, StateKey: flow.StateKey(streamPath(s.Namespace, s.Name), 0),
		}
	}
	return bs
}

// giveState hands the bindings their parts of the state. What belongs to no binding is left to the runner, which keeps it. Full refresh starts anew.
func giveState(bs []protocol.Binding, s airbyte.State) (base, error) {
	if s.Document == nil {
		return base{foreign: len(s.Streams) > 0}, giveStreamStates(bs, s.Streams)
	}
	return giveDocument(bs, s.Document)
}

func giveStreamStates(bs []protocol.Binding, states []airbyte.GivenState) error {
	for i := range bs {
		b := &bs[i]
		if b.Mode == protocol.FullRefresh {
			continue
		}
		for _, s := range states {
			if !sameStream(b.Stream, s.Descriptor) {
				continue
			}
			own, shared, err := splitShared(s.State)
			if err != nil {
				return stateProblem(b.Stream.Name, err)
			}
			b.State, b.Shared = own, shared
		}
	}
	return nil
}

// sameStream compares names, which are unique by themselves, and namespaces where both are known: some runners leave them out.
func sameStream(s protocol.Stream, d airbyte.Descriptor) bool {
	return s.Name == d.Name && (s.Namespace == d.Namespace || d.Namespace == "" || s.Namespace == "")
}

// splitShared takes a stream's copy of the shared state out of its state. Neither is nil.
func splitShared(state json.RawMessage) (own, shared json.RawMessage, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(state, &members); err != nil {
		return nil, nil, err
	}
	shared, err = object(members[sharedMember])
	if err != nil {
		return nil, nil, fmt.Errorf("its member %s: %w", sharedMember, err)
	}
	delete(members, sharedMember)
	own, err = json.Marshal(members)
	return own, shared, err
}

// giveDocument takes the states from {"shared":…,"bindings":{stateKey:…}}.
func giveDocument(bs []protocol.Binding, raw json.RawMessage) (base, error) {
	var d struct {
		Shared   json.RawMessage            `json:"shared"`
		Bindings map[string]json.RawMessage `json:"bindings"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return base{}, stateProblem("", err)
	}
	shared, err := object(d.Shared)
	if err != nil {
		return base{}, stateProblem("shared", err)
	}
	from := base{shared: shared}
	for i := range bs {
		b := &bs[i]
		state := d.Bindings[b.StateKey]
		if len(state) == 0 || state[0] == 'n' {
			continue
		}
		if b.Mode == protocol.FullRefresh {
			from.outdated = append(from.outdated, b.StateKey)
			continue
		}
		if b.State, err = object(state); err != nil {
			return base{}, stateProblem(b.Stream.Name, err)
		}
		b.Shared = shared
	}
	return from, nil
}

// object compacts a JSON object; absent and null are an empty one.
func object(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return json.RawMessage("{}"), nil
	}
	if raw[0] != '{' {
		return nil, errPatch
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func stateProblem(of string, err error) error {
	p := command.Problem("the state cannot be used", "it is not one that this source wrote")
	if of != "" {
		p.Fix = fmt.Sprintf("the part of %s in it is not one that this source wrote", of)
	}
	p.Err = err
	return p
}

// streamPath is the resource path of a stream that is known by name and namespace only. A name that repeats its namespace ("sales.orders" in sales)
// stands for the part behind it.
func streamPath(namespace, name string) []string {
	if namespace == "" {
		return []string{name}
	}
	if rest, ok := strings.CutPrefix(name, namespace+"."); ok && rest != "" {
		name = rest
	}
	return []string{namespace, name}
}
