package protocoltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// descriptor names a stream.
type descriptor struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func (d descriptor) String() string {
	if d.Namespace == "" {
		return d.Name
	}
	return d.Namespace + "." + d.Name
}

// message is one line of an Airbyte connector, as far as runners look at it. Whether it is well-formed is for the schema to say.
type message struct {
	Type    string           `json:"type"`
	Record  *record          `json:"record"`
	State   *state           `json:"state"`
	Trace   *trace           `json:"trace"`
	Spec    *spec            `json:"spec"`
	Catalog *catalog         `json:"catalog"`
	Status  *connectionState `json:"connectionStatus"`
	line    []byte
}

type record struct {
	Stream    string          `json:"stream"`
	Namespace string          `json:"namespace"`
	Data      json.RawMessage `json:"data"`
	EmittedAt float64         `json:"emitted_at"` // milliseconds since 1970
}

func (r *record) descriptor() descriptor { return descriptor{r.Stream, r.Namespace} }

type state struct {
	Type   string `json:"type"`
	Stream *struct {
		Descriptor descriptor      `json:"stream_descriptor"`
		State      json.RawMessage `json:"stream_state"`
	} `json:"stream"`
	Data  json.RawMessage `json:"data"`
	Merge bool            `json:"estuary.dev/merge"`
	Stats *struct {
		Records *float64 `json:"recordCount"`
	} `json:"sourceStats"`
	raw json.RawMessage // as it was printed
}

type trace struct {
	Type  string `json:"type"`
	Error *struct {
		Message     string `json:"message"`
		FailureType string `json:"failure_type"`
	} `json:"error"`
	Status *struct {
		Descriptor descriptor `json:"stream_descriptor"`
		Status     string     `json:"status"`
	} `json:"stream_status"`
}

type spec struct {
	Connection json.RawMessage `json:"connectionSpecification"`
}

type connectionState struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// decode reads a line. What it needs of a message is there afterwards; the rest may be missing.
func decode(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("reading %.100q: %w", line, err)
	}
	m.line = line
	missing := map[string]bool{
		"RECORD": m.Record == nil, "STATE": m.State == nil, "SPEC": m.Spec == nil, "CATALOG": m.Catalog == nil, "CONNECTION_STATUS": m.Status == nil,
		"TRACE": m.Trace == nil || m.Trace.Type == "ERROR" && m.Trace.Error == nil || m.Trace.Type == "STREAM_STATUS" && m.Trace.Status == nil,
		"LOG":   false, "CONTROL": false,
	}
	lacks, known := missing[m.Type]
	if !known || lacks {
		return m, fmt.Errorf("reading %.100q: unknown type, or no body", line)
	}
	if m.State != nil {
		var envelope struct{ State json.RawMessage }
		if err := json.Unmarshal(line, &envelope); err != nil {
			return m, err
		}
		m.State.raw = envelope.State
		if m.State.Type == "STREAM" && m.State.Stream == nil {
			return m, fmt.Errorf("reading %.100q: no stream", line)
		}
	}
	return m, nil
}

// parse reads a JSON value with its numbers as they are written, and refuses a name that an object has twice.
func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := parseValue(d)
	if err != nil {
		return nil, fmt.Errorf("reading %.100q: %w", raw, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %.100q: more than one value", raw)
	}
	return v, nil
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			token, err = d.Token()
			if err != nil {
				return nil, err
			}
			name := fmt.Sprint(token) // always a string
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("the name %q comes twice", name)
			}
			if object[name], err = parseValue(d); err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			var v any
			if v, err = parseValue(d); err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return token, nil
}
