package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// airbyteState is the position: a state for each stream by its state key, or one for all.
type airbyteState struct {
	Streams map[string]json.RawMessage `json:"streams,omitempty"` // STREAM states as they are handed back
	Global  json.RawMessage            `json:"global,omitempty"`
	Legacy  json.RawMessage            `json:"legacy,omitempty"`
	// Covered are the state keys that Global or Legacy is about: a stream that has started over since has no part in it.
	Covered []string `json:"covered,omitempty"`
}

// prepare takes over the position.
func (s *airbyteSource) prepare() error {
	s.states = airbyteState{}
	if len(s.p.pos.Capture) > 0 {
		if err := json.Unmarshal(s.p.pos.Capture, &s.states); err != nil {
			return fmt.Errorf("reading the source's position: %w", err)
		}
	}
	if s.states.Streams == nil {
		s.states.Streams = map[string]json.RawMessage{}
	}
	for i, r := range s.p.routes {
		s.bound[airbyte.Descriptor{Name: r.name, Namespace: r.namespace}] = i
	}
	return s.startOver()
}

// startOver takes the parts of streams that have started over out of the one state that there is for all of a source that writes LEGACY STATEs. Such a state is
// whatever the source likes; where it has a member of the stream's name, as is the custom, that is the stream's part. A stream that is new has none yet, and the
// source begins it.
func (s *airbyteSource) startOver() error {
	if s.states.Legacy == nil || s.states.Covered == nil {
		return nil
	}
	o, _ := parseObject(s.states.Legacy)
	for _, r := range s.p.routes {
		if r.capture.Backfill == 0 || slices.Contains(s.states.Covered, r.capture.StateKey) {
			continue
		}
		if i, err := s.binding(r.name, ""); err != nil || s.p.routes[i] != r || o.get(r.name) == nil {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("the source keeps one state for all its streams, which has no part for stream %s, which therefore cannot start over alone", r.full()),
				Fix: fmt.Sprintf("let all start over with `pipeline reset %s`", s.p.file.Path),
			}
		}
		o = slices.DeleteFunc(o, func(m schemaMember) bool { return m.name == r.name })
		s.states.Covered = append(s.states.Covered, r.capture.StateKey)
	}
	s.states.Legacy = o.json()
	return nil
}

// cover notes that a state for all is about the streams as they are now.
func (s *airbyteSource) cover() {
	s.states.Covered = nil
	for _, r := range s.p.routes {
		s.states.Covered = append(s.states.Covered, r.capture.StateKey)
	}
}

// stateFile is the position in the form that sources read: a list of STATEs.
func (s *airbyteSource) stateFile() ([]byte, error) {
	type message struct {
		Type   string          `json:"type"`
		Stream json.RawMessage `json:"stream,omitempty"`
		Global json.RawMessage `json:"global,omitempty"`
	}
	list := []message{}
	switch {
	case s.states.Global != nil:
		global, err := s.global()
		if err != nil {
			return nil, err
		}
		list = append(list, message{Type: "GLOBAL", Global: global})
	case s.states.Legacy != nil:
		return s.states.Legacy, nil
	}
	for _, r := range s.p.routes {
		if state := s.states.Streams[r.capture.StateKey]; state != nil {
			list = append(list, message{Type: "STREAM", Stream: state})
		}
	}
	return json.Marshal(list)
}

// global is the state for all without the parts of streams that have started over.
func (s *airbyteSource) global() (json.RawMessage, error) {
	var g struct {
		Shared  json.RawMessage `json:"shared_state,omitempty"`
		Streams []struct {
			Descriptor airbyte.Descriptor `json:"stream_descriptor"`
			State      json.RawMessage    `json:"stream_state,omitempty"`
		} `json:"stream_states"`
	}
	if err := json.Unmarshal(s.states.Global, &g); err != nil {
		return nil, fmt.Errorf("reading the source's position: %w", err)
	}
	kept := g.Streams[:0]
	for _, one := range g.Streams {
		i, err := s.binding(one.Descriptor.Name, one.Descriptor.Namespace)
		if err != nil || slices.Contains(s.states.Covered, s.p.routes[i].capture.StateKey) {
			kept = append(kept, one)
		}
	}
	g.Streams = kept
	return json.Marshal(g)
}

// state takes a STATE: of a stream it covers that stream's records before it, else those of all streams.
func (s *airbyteSource) state(c *collector, g *airbyte.GivenMessage) error {
	switch g.Kind {
	case airbyte.StreamKind:
		i, err := s.binding(g.Stream, g.Namespace)
		if err != nil {
			return err
		}
		state, err := json.Marshal(struct {
			Descriptor airbyte.Descriptor `json:"stream_descriptor"`
			State      json.RawMessage    `json:"stream_state"`
		}{airbyte.Descriptor{Name: g.Stream, Namespace: g.Namespace}, orNull(g.StreamState)})
		if err != nil {
			return fmt.Errorf("keeping the state of stream %s: %w", g.Stream, err)
		}
		s.states.Streams[s.p.routes[i].capture.StateKey] = state
		return s.seal(c, []int{i})
	case airbyte.GlobalKind:
		s.states.Global = slices.Clone(g.Global)
		s.cover()
	case airbyte.LegacyKind:
		data, err := fold(s.states.Legacy, &flow.StateUpdate{Updated: slices.Clone(g.Data), MergePatch: g.Merge})
		if err != nil {
			return err
		}
		s.states.Legacy = data
		s.cover()
	}
	return s.seal(c, nil)
}

// seal ends a piece of these bindings, nil: of all, that may be committed.
func (s *airbyteSource) seal(c *collector, bindings []int) error {
	capture, err := json.Marshal(s.states)
	if err != nil {
		return fmt.Errorf("keeping the source's position: %w", err)
	}
	c.checkpointOf(bindings, capture)
	return nil
}
