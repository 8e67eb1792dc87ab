package airbyte

import (
	"encoding/json"
	"strconv"
	"time"
)

// Descriptor names a stream.
type Descriptor struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// RecordOpening returns what stands before the document of a RECORD of the stream.
func RecordOpening(d Descriptor) []byte {
	dst := append([]byte(nil), `{"type":"RECORD","record":{"stream":`...)
	dst = appendJSON(dst, d.Name)
	if d.Namespace != "" {
		dst = appendJSON(append(dst, `,"namespace":`...), d.Namespace)
	}
	return append(dst, `,"data":`...)
}

// AppendRecordClosing appends what stands after the document of a RECORD, newline included.
func AppendRecordClosing(dst []byte, emittedAt time.Time) []byte {
	dst = append(dst, `,"emitted_at":`...)
	dst = strconv.AppendInt(dst, emittedAt.UnixMilli(), 10)
	return append(dst, "}}\n"...)
}

// StreamState is the content of a STREAM STATE.
type StreamState struct {
	Descriptor Descriptor
	// State is the whole state of the stream, compact JSON.
	State []byte
	// Data, where the runner knows merge patches, is the patch of the whole document; nil: no data, no merge flag.
	Data []byte
	// Records of this stream since its last STATE.
	Records int
}

// AppendState appends a STATE of type STREAM.
func AppendState(dst []byte, s StreamState) []byte {
	dst = append(dst, `{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":`...)
	dst = appendJSON(dst, s.Descriptor)
	dst = append(append(dst, `,"stream_state":`...), s.State...)
	dst = append(dst, '}')
	if s.Data != nil {
		dst = append(append(dst, `,"data":`...), s.Data...)
		dst = append(dst, `,"estuary.dev/merge":true`...)
	}
	dst = append(dst, `,"sourceStats":{"recordCount":`...)
	dst = strconv.AppendInt(dst, int64(s.Records), 10)
	return append(dst, "}}}\n"...)
}

// AppendConnectionStatus appends the answer to check: SUCCEEDED when message is empty, else FAILED.
func AppendConnectionStatus(dst []byte, message string) []byte {
	status := "SUCCEEDED"
	if message != "" {
		status = "FAILED"
	}
	type connectionStatus struct {
		Status  string `json:"status"`
		Message string `json:"message,omitempty"`
	}
	return appendLine(dst, struct {
		Type   string           `json:"type"`
		Status connectionStatus `json:"connectionStatus"`
	}{"CONNECTION_STATUS", connectionStatus{status, message}})
}

// Spec is the content of a SPEC message.
type Spec struct {
	ProtocolVersion     string          `json:"protocol_version"`
	DocumentationURL    string          `json:"documentationUrl,omitempty"`
	Schema              json.RawMessage `json:"connectionSpecification"`
	SupportsIncremental bool            `json:"supportsIncremental"`
	// DestinationModes are those that a destination can write; nil: a source.
	DestinationModes []string `json:"supported_destination_sync_modes,omitempty"`
}

// ProtocolVersion is the version of the protocol that this package writes.
const ProtocolVersion = "0.18.0"

// AppendSpec appends a SPEC.
func AppendSpec(dst []byte, s Spec) []byte {
	return appendLine(dst, struct {
		Type string `json:"type"`
		Spec Spec   `json:"spec"`
	}{"SPEC", s})
}

// AppendLog appends a LOG; level is one of FATAL, ERROR, WARN, INFO, DEBUG and TRACE.
func AppendLog(dst []byte, level, message string) []byte {
	type log struct {
		Level   string `json:"level"`
		Message string `json:"message"`
	}
	return appendLine(dst, struct {
		Type string `json:"type"`
		Log  log    `json:"log"`
	}{"LOG", log{level, message}})
}
