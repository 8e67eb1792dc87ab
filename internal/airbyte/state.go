package airbyte

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/estuary/connectors/protocol"
)

// State is what a runner handed back: a state for each stream, or one document for all.
type State struct {
	// Streams holds the last state of each stream, in the order of the input. Namespace is empty where the runner gave none.
	Streams []GivenState
	// Document is {"shared":…,"bindings":{…}}; nil: none.
	Document json.RawMessage
}

// GivenState is the state of one stream; never null.
type GivenState struct {
	Descriptor Descriptor
	State      json.RawMessage
}

type wireState struct {
	Type   string          `json:"type"`
	State  json.RawMessage `json:"state"` // of an envelope
	Data   json.RawMessage `json:"data"`
	Stream *struct {
		Descriptor *Descriptor     `json:"stream_descriptor"`
		State      json.RawMessage `json:"stream_state"`
	} `json:"stream"`
}

// DecodeState reads every form in which runners keep a state: nothing, null, {}, []; a list of STATE messages, in envelopes or bare; such messages one
// after the other; the folded document, bare or in a STATE message; a map from stream to state. Later states of a stream replace earlier ones. An
// error is a *protocol.Problem.
func DecodeState(raw []byte) (State, error) {
	var s State
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		var value json.RawMessage
		switch err := dec.Decode(&value); {
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return State{}, badState("it is no valid JSON", err)
		}
		if err := s.add(value); err != nil {
			return State{}, err
		}
	}
}

// add reads one value of the input: a list, a message, a document or a map.
func (s *State) add(value json.RawMessage) error {
	switch value[0] {
	case 'n':
		return nil
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(value, &list); err != nil {
			return badState("it is no list of states", err)
		}
		for _, item := range list {
			if item[0] == '[' {
				return badState("it holds a list inside a list", nil)
			}
			if err := s.add(item); err != nil {
				return err
			}
		}
		return nil
	case '{':
		return s.addObject(value)
	}
	return badState("it must be a list or an object", nil)
}

func (s *State) addObject(value json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return badState("it is no valid JSON", err)
	}
	if isDocument(members) {
		s.Document = value
		return nil
	}
	if !isMessage(members) {
		return s.addMap(members)
	}
	var m wireState
	if err := json.Unmarshal(value, &m); err != nil {
		return badState("a STATE in it is not as the protocol has it", err)
	}
	switch m.Type {
	case "STATE":
		if isNull(m.State) {
			return nil
		}
		if m.State[0] != '{' {
			return badState("a STATE in it is no object", nil)
		}
		return s.addObject(m.State)
	case "STREAM":
		if m.Stream == nil || m.Stream.Descriptor == nil || m.Stream.Descriptor.Name == "" {
			return badState("a STREAM state in it names no stream", nil)
		}
		s.set(*m.Stream.Descriptor, m.Stream.State)
		return nil
	case "LEGACY", "":
		if isNull(m.Data) {
			return nil
		}
		if m.Data[0] != '{' {
			return badState("the data of a STATE in it is no object", nil)
		}
		return s.addObject(m.Data)
	}
	if slices.Contains([]string{"RECORD", "TRACE", "LOG"}, m.Type) {
		return badState(`it is the whole output of a run: keep only its lines of type STATE`, nil)
	}
	return badState("it holds a state of type "+m.Type+"; this source writes and reads states of type STREAM", nil)
}

// isDocument tells a folded document from a message and from a map of streams: it has nothing but the two members of a document.
func isDocument(members map[string]json.RawMessage) bool {
	known := 0
	for _, name := range []string{"shared", "bindings"} {
		if v, ok := members[name]; ok && (isNull(v) || v[0] == '{') {
			known++
		}
	}
	return known > 0 && known == len(members)
}

// isMessage tells a STATE message, enveloped or bare, from a map of streams, whose values are all objects.
func isMessage(members map[string]json.RawMessage) bool {
	if t, ok := members["type"]; ok && (t[0] == '"' || isNull(t)) {
		return true
	}
	for _, flag := range []string{"estuary.dev/merge", "merge"} {
		if v, ok := members[flag]; ok && (v[0] == 't' || v[0] == 'f') {
			return true
		}
	}
	_, ok := members["data"]
	return ok && len(members) == 1
}

func (s *State) addMap(members map[string]json.RawMessage) error {
	for name, value := range members {
		if !isNull(value) && value[0] != '{' {
			return badState("its member "+name+" is no state of a stream", nil)
		}
		s.set(Descriptor{Name: name}, value)
	}
	return nil
}

func (s *State) set(d Descriptor, state json.RawMessage) {
	for i, given := range s.Streams {
		if given.Descriptor == d {
			s.Streams = append(s.Streams[:i], s.Streams[i+1:]...)
			break
		}
	}
	if !isNull(state) && string(bytes.Join(bytes.Fields(state), nil)) != "{}" {
		s.Streams = append(s.Streams, GivenState{d, state})
	}
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] == 'n' }

func badState(reason string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "the state cannot be used", Fix: reason, Err: err}
}
