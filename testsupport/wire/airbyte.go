package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Descriptor names a stream of the Airbyte protocol.
type Descriptor struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// String is namespace.name.
func (d Descriptor) String() string {
	if d.Namespace == "" {
		return d.Name
	}
	return d.Namespace + "." + d.Name
}

// Message is one line of an Airbyte connector: exactly one of the pointers, or of Spec and Catalog, is set.
type Message struct {
	Type    string
	Record  *Record
	State   *State
	Status  *Status
	Trace   *Trace
	Log     *Log
	Spec    json.RawMessage
	Catalog json.RawMessage
}

// Record is one document.
type Record struct {
	Stream    Descriptor
	Data      json.RawMessage
	EmittedAt int64 // milliseconds since 1970
}

// State is a checkpoint.
type State struct {
	Type   string          // STREAM, GLOBAL or LEGACY
	Stream Descriptor      // of a STREAM state
	Body   json.RawMessage // stream_state, global or data
	// Data is the whole state document that rides along in runs with the extension keys; Merge: it is a merge patch.
	Data    json.RawMessage
	Merge   bool
	Records int64           // sourceStats.recordCount; -1: not given
	Raw     json.RawMessage // the state message's body as it was printed, fit for a state file
}

// Status is the answer of check.
type Status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Log is a log line.
type Log struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

// Trace is one of ERROR, ESTIMATE, STREAM_STATUS and ANALYTICS.
type Trace struct {
	Type        string
	Stream      Descriptor // of an ERROR with a stream, an ESTIMATE, a STREAM_STATUS
	Status      string     // STARTED, RUNNING, COMPLETE, INCOMPLETE
	Message     string     // of an ERROR
	FailureType string     // config_error, transient_error, system_error
	Rows        int64      // of an ESTIMATE
}

// bodies maps a message's type to the member that holds it.
var bodies = map[string]string{
	"RECORD": "record", "STATE": "state", "LOG": "log", "TRACE": "trace", "SPEC": "spec", "CATALOG": "catalog", "CONNECTION_STATUS": "connectionStatus", "CONTROL": "control",
}

// Airbyte decodes one line of stdout. The message refers to the line's memory.
func Airbyte(line []byte) (*Message, error) {
	members, err := Object(line)
	if err != nil {
		return nil, err
	}
	m := &Message{}
	if err = member(members, "a message", "type", true, &m.Type); err != nil {
		return nil, err
	}
	name, known := bodies[m.Type]
	if !known {
		return nil, fmt.Errorf("reading a message: unknown type %q", m.Type)
	}
	body, ok := members[name]
	if !ok || !isObject(body) {
		return nil, fmt.Errorf("reading a message of type %s: no object %q", m.Type, name)
	}
	for _, other := range bodies {
		if value, ok := members[other]; ok && other != name && string(value) != "null" {
			return nil, fmt.Errorf("reading a message of type %s: it also has %q", m.Type, other)
		}
	}
	switch m.Type {
	case "RECORD":
		m.Record, err = record(body)
	case "STATE":
		m.State, err = state(body)
	case "TRACE":
		m.Trace, err = trace(body)
	case "LOG":
		m.Log = new(Log)
		err = json.Unmarshal(body, m.Log)
	case "CONNECTION_STATUS":
		m.Status = new(Status)
		if err = json.Unmarshal(body, m.Status); err == nil && m.Status.Status != "SUCCEEDED" && m.Status.Status != "FAILED" {
			err = fmt.Errorf("reading a CONNECTION_STATUS: status %q", m.Status.Status)
		}
	case "SPEC":
		m.Spec = body
	case "CATALOG":
		m.Catalog = body
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func record(body json.RawMessage) (*Record, error) {
	members, err := split(body)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	err = errors.Join(
		member(members, "a RECORD", "stream", true, &r.Stream.Name),
		member(members, "a RECORD", "namespace", false, &r.Stream.Namespace),
		member(members, "a RECORD", "data", true, &r.Data),
		member(members, "a RECORD", "emitted_at", true, &r.EmittedAt))
	if err == nil && !isObject(r.Data) {
		err = fmt.Errorf("reading a RECORD of %s: data is no object: %.80s", r.Stream, r.Data)
	}
	return r, err
}

func state(body json.RawMessage) (*State, error) {
	members, err := split(body)
	if err != nil {
		return nil, err
	}
	s := &State{Type: "LEGACY", Records: -1, Raw: body}
	var stats struct {
		RecordCount *float64 `json:"recordCount"`
	}
	var merge bool
	err = errors.Join(
		member(members, "a STATE", "type", false, &s.Type),
		member(members, "a STATE", "data", s.Type == "LEGACY", &s.Data),
		member(members, "a STATE", "estuary.dev/merge", false, &merge),
		member(members, "a STATE", "sourceStats", false, &stats))
	if err != nil {
		return nil, err
	}
	s.Merge = merge
	if stats.RecordCount != nil {
		s.Records = int64(*stats.RecordCount)
	}
	switch s.Type {
	case "STREAM":
		var stream struct {
			Descriptor Descriptor      `json:"stream_descriptor"`
			State      json.RawMessage `json:"stream_state"`
		}
		if err = member(members, "a STREAM STATE", "stream", true, &stream); err != nil {
			return nil, err
		}
		if stream.Descriptor.Name == "" || !isObject(stream.State) {
			return nil, fmt.Errorf("reading a STREAM STATE: no stream name or no state object: %.200s", body)
		}
		s.Stream, s.Body = stream.Descriptor, stream.State
	case "GLOBAL":
		if err = member(members, "a GLOBAL STATE", "global", true, &s.Body); err != nil {
			return nil, err
		}
	case "LEGACY":
		s.Body = s.Data
	default:
		return nil, fmt.Errorf("reading a STATE: unknown type %q", s.Type)
	}
	return s, nil
}

func trace(body json.RawMessage) (*Trace, error) {
	var w struct {
		Type      string   `json:"type"`
		EmittedAt *float64 `json:"emitted_at"`
		Error     *struct {
			Message     string     `json:"message"`
			FailureType string     `json:"failure_type"`
			Stream      Descriptor `json:"stream_descriptor"`
		} `json:"error"`
		Estimate *struct {
			Descriptor
			Rows int64 `json:"row_estimate"`
		} `json:"estimate"`
		Status *struct {
			Stream Descriptor `json:"stream_descriptor"`
			Status string     `json:"status"`
		} `json:"stream_status"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("reading a TRACE: %w", err)
	}
	t := &Trace{Type: w.Type}
	switch {
	case w.EmittedAt == nil:
		return nil, errors.New("reading a TRACE: no emitted_at")
	case w.Type == "ERROR" && w.Error != nil && w.Error.Message != "":
		t.Message, t.FailureType, t.Stream = w.Error.Message, w.Error.FailureType, w.Error.Stream
	case w.Type == "ESTIMATE" && w.Estimate != nil:
		t.Stream, t.Rows = w.Estimate.Descriptor, w.Estimate.Rows
	case w.Type == "STREAM_STATUS" && w.Status != nil && slices.Contains([]string{"STARTED", "RUNNING", "COMPLETE", "INCOMPLETE"}, w.Status.Status):
		t.Stream, t.Status = w.Status.Stream, w.Status.Status
	case w.Type == "ANALYTICS":
	default:
		return nil, fmt.Errorf("reading a TRACE: type %q without its body: %.200s", w.Type, body)
	}
	return t, nil
}
