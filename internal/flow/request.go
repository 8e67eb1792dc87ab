package flow

import (
	"encoding/json"
	"fmt"
)

// Request is one line from the runner; exactly one member is set. Unknown members are ignored.
type Request struct {
	Spec        *struct{}    `json:"spec"`
	Discover    *Discover    `json:"discover"`
	Validate    *Validate    `json:"validate"`
	Apply       *struct{}    `json:"apply"`
	Open        *Open        `json:"open"`
	Acknowledge *Acknowledge `json:"acknowledge"`
}

// Discover asks for the streams.
type Discover struct {
	Config json.RawMessage `json:"config"`
}

// Validate asks whether a capture can run.
type Validate struct {
	Name     string          `json:"name"`
	Config   json.RawMessage `json:"config"`
	Bindings []Binding       `json:"bindings"`
}

// Open starts a capture.
type Open struct {
	Capture Capture `json:"capture"`
	Range   *Range  `json:"range"`
	// State is the folded document; null, {} and absent: none.
	State json.RawMessage `json:"state"`
	// Tail is an extension: false asks to end when caught up. Nil: true.
	Tail *bool `json:"tail"`
	// Reset is an extension: the runner acts on the response "reset".
	Reset bool `json:"reset"`
	// Lengths is an extension: the runner wants to be told where the members of documents end.
	Lengths bool `json:"lengths"`
}

// Capture is the task's specification.
type Capture struct {
	Name     string          `json:"name"`
	Config   json.RawMessage `json:"config"`
	Bindings []Binding       `json:"bindings"`
}

// Binding is a configured resource and the collection that it is captured into.
type Binding struct {
	ResourceConfig json.RawMessage `json:"resourceConfig"`
	ResourcePath   []string        `json:"resourcePath"`
	Collection     Collection      `json:"collection"`
	Backfill       uint32          `json:"backfill"`
	StateKey       string          `json:"stateKey"`
}

// Collection is where documents of a binding go.
type Collection struct {
	Name        string          `json:"name"`
	WriteSchema json.RawMessage `json:"writeSchema"`
	Key         []string        `json:"key"`
	Projections []Projection    `json:"projections"`
}

// Projection names a location of the collection's documents.
type Projection struct {
	Pointer  string `json:"ptr"`
	Field    string `json:"field"`
	Explicit bool   `json:"explicit"`
}

// Range is the part of the key space that the process owns, inclusive. KeyBegin is absent when it is zero.
type Range struct {
	KeyBegin uint32  `json:"keyBegin"`
	KeyEnd   *uint32 `json:"keyEnd"`
}

// Acknowledge tells that checkpoints are durable.
type Acknowledge struct {
	// Checkpoints counts those since the last Acknowledge; 0 counts as 1.
	Checkpoints uint32 `json:"checkpoints"`
}

// DecodeRequest reads one line.
func DecodeRequest(line []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return Request{}, fmt.Errorf("reading a request: %w", err)
	}
	return r, nil
}
