package flow

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/protocol"
)

// SinkRequest is one line from the runner of a sink; exactly one member is set. Unknown members are ignored, null is absent. Load and Store are views,
// see SinkDecoder; everything else is a copy.
type SinkRequest struct {
	Spec        *struct{}
	Validate    *SinkValidate
	Apply       *SinkApply
	Open        *SinkOpen
	Load        *Load
	Flush       *struct{}
	Store       *Store
	StartCommit *StartCommit
	Acknowledge *SinkAcknowledge
}

// SinkValidate asks what may become of each projection.
type SinkValidate struct {
	Name     string
	Config   json.RawMessage
	Bindings []SinkProposed
	Last     *Materialization // what was applied last; nil: nothing is known
}

// SinkProposed is a binding before its fields are selected.
type SinkProposed struct {
	Resource    json.RawMessage
	Collection  protocol.Collection
	FieldConfig map[string]json.RawMessage
	Backfill    uint32
}

// SinkApply asks to make the destination agree with a materialization.
type SinkApply struct {
	Materialization Materialization
	Last            *Materialization
	State           json.RawMessage // nil: none
}

// SinkOpen starts the transactions.
type SinkOpen struct {
	Materialization Materialization
	Range           *Range
	State           json.RawMessage // nil: none
	// Lengths is an extension: the runner offers to tell where keys, values and documents end.
	Lengths bool
}

// Materialization is the task's specification.
type Materialization struct {
	Name     string
	Config   json.RawMessage
	Bindings []MaterializationBinding
	Inactive []MaterializationBinding // were bound once
}

// MaterializationBinding is a collection bound to a resource, with its fields selected.
type MaterializationBinding struct {
	Resource     json.RawMessage
	ResourcePath []string
	Collection   protocol.Collection
	Fields       protocol.FieldSelection
	DeltaUpdates bool
	Backfill     uint32
	StateKey     string
}

// StartCommit ends a transaction.
type StartCommit struct {
	// Checkpoint is the runner's, byte for byte; {} when it sent none.
	Checkpoint json.RawMessage
}

// SinkAcknowledge tells that the last transaction is durable.
type SinkAcknowledge struct {
	// Patches are those of all shards; nil: the runner sends none.
	Patches [][]byte
}

// envelope is a line as it is written.
type envelope struct {
	Spec        *struct{}        `json:"spec"`
	Validate    *wireValidate    `json:"validate"`
	Apply       *wireApply       `json:"apply"`
	Open        *wireOpen        `json:"open"`
	Load        *wireStore       `json:"load"`
	Flush       *struct{}        `json:"flush"`
	Store       *wireStore       `json:"store"`
	StartCommit *wireStartCommit `json:"startCommit"`
	Acknowledge *wireAcknowledge `json:"acknowledge"`
	Discover    *struct{}        `json:"discover"` // no request to a sink
}

type (
	wireValidate struct {
		Name     string               `json:"name"`
		Config   json.RawMessage      `json:"config"`
		Bindings []wireProposed       `json:"bindings"`
		Last     *wireMaterialization `json:"lastMaterialization"`
	}
	wireProposed struct {
		Resource    json.RawMessage            `json:"resourceConfig"`
		Collection  wireSinkCollection         `json:"collection"`
		FieldConfig map[string]json.RawMessage `json:"fieldConfig"`
		Backfill    number                     `json:"backfill"`
	}
	wireApply struct {
		Materialization wireMaterialization  `json:"materialization"`
		Last            *wireMaterialization `json:"lastMaterialization"`
		State           json.RawMessage      `json:"state"`
	}
	wireOpen struct {
		Materialization wireMaterialization `json:"materialization"`
		Range           *wireGivenRange     `json:"range"`
		State           json.RawMessage     `json:"state"`
		Lengths         bool                `json:"lengths"`
	}
	wireGivenRange struct {
		KeyBegin number  `json:"keyBegin"`
		KeyEnd   *number `json:"keyEnd"`
	}
	wireMaterialization struct {
		Name     string          `json:"name"`
		Config   json.RawMessage `json:"config"`
		Bindings []wireBound     `json:"bindings"`
		Inactive []wireBound     `json:"inactiveBindings"`
	}
	wireBound struct {
		Resource     json.RawMessage    `json:"resourceConfig"`
		ResourcePath []string           `json:"resourcePath"`
		Collection   wireSinkCollection `json:"collection"`
		Fields       wireFields         `json:"fieldSelection"`
		DeltaUpdates bool               `json:"deltaUpdates"`
		Backfill     number             `json:"backfill"`
		StateKey     string             `json:"stateKey"`
	}
	wireStartCommit struct {
		Checkpoint json.RawMessage `json:"runtimeCheckpoint"`
	}
	wireAcknowledge struct {
		Patches []json.RawMessage `json:"statePatches"`
	}
)

var (
	errSource    = errors.New("the runner takes this sink for a source: it asked to discover streams")
	errNoRequest = errors.New("the runner sent a request that is none of spec, validate, apply, open, load, flush, store, startCommit and acknowledge")
)

// decodeSlowly reads a line of any kind and spelling.
func (d *SinkDecoder) decodeSlowly(line []byte) (r SinkRequest, err error) {
	// A new envelope for each line: members that a line lacks would keep what an earlier one held.
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		return r, fmt.Errorf("reading a request: %w", err)
	}
	r.Spec, r.Flush = e.Spec, e.Flush
	members := count(e.Spec != nil, e.Validate != nil, e.Apply != nil, e.Open != nil, e.Load != nil, e.Flush != nil, e.Store != nil, e.StartCommit != nil, e.Acknowledge != nil)
	switch {
	case members == 0 && e.Discover != nil:
		return r, errSource
	case members == 0:
		return r, errNoRequest
	case members > 1:
		return r, fmt.Errorf("the runner sent a line that holds %d requests, but each has a line of its own", members)
	case e.Validate != nil:
		r.Validate = e.Validate.decoded()
	case e.Apply != nil:
		r.Apply = &SinkApply{Materialization: *e.Apply.Materialization.decoded(), Last: e.Apply.Last.decoded(), State: givenState(e.Apply.State)}
	case e.Open != nil:
		r.Open = &SinkOpen{Materialization: *e.Open.Materialization.decoded(), State: givenState(e.Open.State), Lengths: e.Open.Lengths}
		if given := e.Open.Range; given != nil {
			r.Open.Range = &Range{KeyBegin: uint32(given.KeyBegin), KeyEnd: (*uint32)(given.KeyEnd)}
		}
	case e.Load != nil:
		r.Load, err = d.givenLoad(e.Load)
	case e.Store != nil:
		r.Store, err = d.givenStore(e.Store)
	case e.StartCommit != nil:
		r.StartCommit = &StartCommit{orObject(given(e.StartCommit.Checkpoint))}
	case e.Acknowledge != nil:
		r.Acknowledge = &SinkAcknowledge{}
		for _, p := range e.Acknowledge.Patches {
			r.Acknowledge.Patches = append(r.Acknowledge.Patches, p)
		}
	}
	if err != nil {
		return SinkRequest{}, err
	}
	return r, nil
}

func count(set ...bool) (n int) {
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}

func (v *wireValidate) decoded() *SinkValidate {
	out := &SinkValidate{Name: v.Name, Config: v.Config, Bindings: make([]SinkProposed, len(v.Bindings)), Last: v.Last.decoded()}
	for i, b := range v.Bindings {
		out.Bindings[i] = SinkProposed{Resource: b.Resource, Collection: b.Collection.decoded(), FieldConfig: b.FieldConfig, Backfill: uint32(b.Backfill)}
	}
	return out
}

func (m *wireMaterialization) decoded() *Materialization {
	if m == nil {
		return nil
	}
	return &Materialization{Name: m.Name, Config: m.Config, Bindings: decodedBindings(m.Bindings), Inactive: decodedBindings(m.Inactive)}
}

func decodedBindings(list []wireBound) []MaterializationBinding {
	out := make([]MaterializationBinding, len(list))
	for i, b := range list {
		out[i] = MaterializationBinding{
			Resource: b.Resource, ResourcePath: b.ResourcePath, Collection: b.Collection.decoded(), DeltaUpdates: b.DeltaUpdates, Backfill: uint32(b.Backfill), StateKey: b.StateKey,
			Fields: protocol.FieldSelection{Keys: b.Fields.Keys, Values: b.Fields.Values, Document: b.Fields.Document, FieldConfig: b.Fields.Config},
		}
	}
	return out
}

// given is nil for null.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// givenState is nil for null and {}, which mean the same as an absent state.
func givenState(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if raw = given(raw); raw == nil || json.Unmarshal(raw, &members) == nil && len(members) == 0 {
		return nil
	}
	return raw
}
