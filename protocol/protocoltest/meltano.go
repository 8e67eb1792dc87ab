package protocoltest

import (
	"encoding/json"
)

// meltano does what Meltano's wrapper does: a line that is a JSON object must have a type, stderr is not read until the end, and data beside a STREAM
// state would be taken for the whole state.
func meltano(s *session) error {
	for _, name := range []string{"spec", "check", "discover"} {
		c := command{name: name, pinchStderr: true}
		if name != "spec" {
			c.config = s.f.Config
		}
		o, err := s.run(c)
		if err != nil {
			return err
		}
		s.sound(name, o)
		s.typed(name, o)
	}
	_, text, err := s.discoverAndConfigure(selection{mode: "incremental", destination: "append"})
	if err != nil {
		return err
	}
	kept := s.tables()
	var given []byte // no --state without one
	for _, what := range []string{"the first read", "the second read"} {
		o, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: given, pinchStderr: true})
		if err != nil {
			return err
		}
		s.sound(what, o)
		s.typed(what, o)
		s.plainStates(what, o)
		for _, m := range o.errors() {
			s.report("%s: TRACE ERROR: %s", what, m.Trace.Error.Message)
		}
		for _, m := range o.of("RECORD") {
			s.fold(kept, m.Record)
		}
		if err := s.compare(kept, "after "+what); err != nil {
			return err
		}
		if given, err = s.wrapperState(o); err != nil {
			return err
		}
		if err := s.change(); err != nil {
			return err
		}
	}
	return nil
}

// typed reports JSON objects that the wrapper cannot dispatch.
func (s *session) typed(what string, o *output) {
	for _, line := range o.lines {
		var object map[string]json.RawMessage
		if json.Unmarshal(line, &object) != nil {
			continue // logged as text
		}
		var kind string
		if json.Unmarshal(object["type"], &kind) != nil || kind == "" {
			s.report("%s: a JSON object without a type: %.100q", what, line)
		}
	}
}

// wrapperState is the state as the wrapper keeps it: type and stream, nothing else.
func (s *session) wrapperState(o *output) ([]byte, error) {
	list := []any{}
	states := lastStates(o.messages)
	for _, stream := range s.f.Streams {
		state := states[stream.descriptor()]
		if state == nil {
			return nil, errNoState
		}
		list = append(list, map[string]any{
			"type": "STREAM", "stream": map[string]any{"stream_descriptor": stream.descriptor().plain(), "stream_state": state.Stream.State},
		})
	}
	return json.Marshal(list)
}

// plain leaves an absent namespace absent.
func (d descriptor) plain() map[string]string {
	m := map[string]string{"name": d.Name}
	if d.Namespace != "" {
		m["namespace"] = d.Namespace
	}
	return m
}
