package flow

import (
	"encoding/json"
	"strconv"

	"github.com/estuary/connectors/protocol"
)

// CaptureTask is a capture as its runner describes it.
type CaptureTask struct {
	Name     string
	Config   json.RawMessage
	Bindings []CaptureBinding
}

// CaptureBinding is a stream of a CaptureTask.
type CaptureBinding struct {
	Resource     json.RawMessage
	ResourcePath []string
	Collection   protocol.Collection
	Backfill     uint32
	StateKey     string
}

// SinkTask is a materialization as its runner describes it.
type SinkTask struct {
	Name     string
	Config   json.RawMessage
	Bindings []SinkBinding
}

// SinkBinding is a collection bound to a resource of the sink. Fields is empty before the fields are selected.
type SinkBinding struct {
	Resource     json.RawMessage
	ResourcePath []string
	Collection   protocol.Collection
	Fields       protocol.FieldSelection
	DeltaUpdates bool
	Backfill     uint32
	StateKey     string
}

// connectorType is what the runtime calls a connector that is a program and no image.
const connectorType = "LOCAL"

type (
	wireCaptureTask struct {
		Name          string               `json:"name"`
		ConnectorType string               `json:"connectorType"`
		Config        json.RawMessage      `json:"config"`
		Bindings      []wireCaptureBinding `json:"bindings"`
	}
	wireCaptureBinding struct {
		Resource     json.RawMessage `json:"resourceConfig"`
		ResourcePath []string        `json:"resourcePath,omitempty"`
		Collection   wireCollection  `json:"collection"`
		Backfill     uint32          `json:"backfill,omitempty"`
		StateKey     string          `json:"stateKey,omitempty"`
	}
	wireSinkTask struct {
		Name          string            `json:"name"`
		ConnectorType string            `json:"connectorType"`
		Config        json.RawMessage   `json:"config"`
		Bindings      []wireSinkBinding `json:"bindings"`
	}
	wireSinkBinding struct {
		Resource     json.RawMessage `json:"resourceConfig"`
		ResourcePath []string        `json:"resourcePath"`
		Collection   wireCollection  `json:"collection"`
		Fields       *wireFields     `json:"fieldSelection,omitempty"`
		DeltaUpdates bool            `json:"deltaUpdates,omitempty"`
		Backfill     uint32          `json:"backfill,omitempty"`
		StateKey     string          `json:"stateKey,omitempty"`
	}
	wireFields struct {
		Keys     []string                   `json:"keys"`
		Values   []string                   `json:"values"`
		Document string                     `json:"document,omitempty"`
		Config   map[string]json.RawMessage `json:"fieldConfig,omitempty"`
	}
	wireRange struct {
		KeyEnd    uint32 `json:"keyEnd"`
		RClockEnd uint32 `json:"rClockEnd"`
	}
)

var fullRange = wireRange{KeyEnd: protocol.FullRange.End, RClockEnd: protocol.FullRange.End}

func toWireCapture(t CaptureTask) wireCaptureTask {
	w := wireCaptureTask{Name: t.Name, ConnectorType: connectorType, Config: t.Config, Bindings: make([]wireCaptureBinding, len(t.Bindings))}
	for i, b := range t.Bindings {
		w.Bindings[i] = wireCaptureBinding{
			Resource: b.Resource, ResourcePath: b.ResourcePath, Collection: toWireCollection(b.Collection), Backfill: b.Backfill, StateKey: b.StateKey,
		}
	}
	return w
}

func toWireSink(t SinkTask) wireSinkTask {
	w := wireSinkTask{Name: t.Name, ConnectorType: connectorType, Config: t.Config, Bindings: make([]wireSinkBinding, len(t.Bindings))}
	for i, b := range t.Bindings {
		w.Bindings[i] = wireSinkBinding{
			Resource: b.Resource, ResourcePath: orEmpty(b.ResourcePath), Collection: toWireCollection(b.Collection), DeltaUpdates: b.DeltaUpdates, Backfill: b.Backfill, StateKey: b.StateKey,
			Fields: &wireFields{Keys: orEmpty(b.Fields.Keys), Values: orEmpty(b.Fields.Values), Document: b.Fields.Document, Config: b.Fields.FieldConfig},
		}
	}
	return w
}

// SinkTaskJSON renders a materialization's specification, for AppendSinkValidate and AppendSinkApply of a later start.
func SinkTaskJSON(t SinkTask) json.RawMessage {
	raw, err := json.Marshal(toWireSink(t))
	if err != nil {
		panic("flow: rendering a materialization: " + err.Error()) // strings, numbers and valid raw JSON only
	}
	return raw
}

// AppendSpecRequest appends a spec request, the same for both kinds of connector.
func AppendSpecRequest(dst []byte) []byte {
	return append(dst, `{"spec":{"connectorType":"`+connectorType+`","config":{}}}`+"\n"...)
}

// AppendDiscoverRequest appends a discover request.
func AppendDiscoverRequest(dst []byte, name string, config json.RawMessage) []byte {
	return appendLine(dst, "discover", struct {
		Name          string          `json:"name"`
		ConnectorType string          `json:"connectorType"`
		Config        json.RawMessage `json:"config"`
	}{name, connectorType, config})
}

// AppendCaptureValidate appends the request to validate a capture.
func AppendCaptureValidate(dst []byte, t CaptureTask) []byte {
	return appendLine(dst, "validate", toWireCapture(t))
}

// AppendCaptureApply appends the request to apply a capture.
func AppendCaptureApply(dst []byte, t CaptureTask, version string) []byte {
	return appendLine(dst, "apply", struct {
		Capture wireCaptureTask `json:"capture"`
		Version string          `json:"version"`
	}{toWireCapture(t), version})
}

// AppendCaptureOpen appends the request that starts a capture, with the extensions of pipeline: tail, resets honoured, and lengths asked for.
func AppendCaptureOpen(dst []byte, t CaptureTask, version string, state json.RawMessage, tail bool) []byte {
	return appendLine(dst, "open", struct {
		Capture wireCaptureTask `json:"capture"`
		Version string          `json:"version"`
		Range   wireRange       `json:"range"`
		State   json.RawMessage `json:"state"`
		Tail    bool            `json:"tail"`
		Reset   bool            `json:"reset"`
		Lengths bool            `json:"lengths"`
	}{toWireCapture(t), version, fullRange, orObject(state), tail, true, true})
}

// AppendCaptureAcknowledge appends the word that so many further checkpoints are durable.
func AppendCaptureAcknowledge(dst []byte, checkpoints uint32) []byte {
	dst = strconv.AppendUint(append(dst, `{"acknowledge":{"checkpoints":`...), uint64(checkpoints), 10)
	return append(dst, "}}\n"...)
}

// AppendSinkValidate appends the request to say what may become of each projection. last is what was applied last; nil: nothing is known.
func AppendSinkValidate(dst []byte, t SinkTask, last json.RawMessage) []byte {
	type binding struct {
		Resource   json.RawMessage `json:"resourceConfig"`
		Collection wireCollection  `json:"collection"`
		Backfill   uint32          `json:"backfill,omitempty"`
	}
	list := make([]binding, len(t.Bindings))
	for i, b := range t.Bindings {
		list[i] = binding{b.Resource, toWireCollection(b.Collection), b.Backfill}
	}
	return appendLine(dst, "validate", struct {
		Name          string          `json:"name"`
		ConnectorType string          `json:"connectorType"`
		Config        json.RawMessage `json:"config"`
		Bindings      []binding       `json:"bindings"`
		Last          json.RawMessage `json:"lastMaterialization,omitempty"`
	}{t.Name, connectorType, t.Config, list, last})
}

// AppendSinkApply appends the request to make the destination agree with the task.
func AppendSinkApply(dst []byte, t SinkTask, version string, last json.RawMessage, lastVersion string, state json.RawMessage) []byte {
	return appendLine(dst, "apply", struct {
		Task        wireSinkTask    `json:"materialization"`
		Version     string          `json:"version"`
		Last        json.RawMessage `json:"lastMaterialization,omitempty"`
		LastVersion string          `json:"lastVersion,omitempty"`
		State       json.RawMessage `json:"state"`
	}{toWireSink(t), version, last, lastVersion, orObject(state)})
}

// AppendSinkOpen appends the request that starts the transactions, with an extension of pipeline: lengths offered.
func AppendSinkOpen(dst []byte, t SinkTask, version string, state json.RawMessage) []byte {
	return appendLine(dst, "open", struct {
		Task    wireSinkTask    `json:"materialization"`
		Version string          `json:"version"`
		Range   wireRange       `json:"range"`
		State   json.RawMessage `json:"state"`
		Lengths bool            `json:"lengths"`
	}{toWireSink(t), version, fullRange, orObject(state), true})
}

func orObject(state json.RawMessage) json.RawMessage {
	if len(state) == 0 {
		return json.RawMessage("{}")
	}
	return state
}

// AppendSinkReopen appends the request to open a materialization as SinkTaskJSON rendered it, under this name and with this configuration.
func AppendSinkReopen(dst []byte, spec json.RawMessage, name string, config json.RawMessage, version string, state json.RawMessage) []byte {
	var task map[string]json.RawMessage
	_ = json.Unmarshal(spec, &task) // it was rendered here; what is missing the sink will miss
	if task == nil {
		task = map[string]json.RawMessage{}
	}
	quoted, _ := json.Marshal(name) // a string always has a JSON form
	task["name"], task["config"] = quoted, config
	return appendLine(dst, "open", struct {
		Task    map[string]json.RawMessage `json:"materialization"`
		Version string                     `json:"version"`
		Range   wireRange                  `json:"range"`
		State   json.RawMessage            `json:"state"`
	}{task, version, fullRange, orObject(state)})
}
