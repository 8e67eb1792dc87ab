package airbyte

import (
	"strings"
	"time"

	"github.com/estuary/connectors/protocol"
)

// Status is a stream's status in a run.
type Status string

// The statuses, in the order in which a stream passes through them; it ends in one of the last two.
const (
	Started    Status = "STARTED"
	Running    Status = "RUNNING"
	Complete   Status = "COMPLETE"
	Incomplete Status = "INCOMPLETE"
)

type trace struct {
	Type      string        `json:"type"`
	EmittedAt int64         `json:"emitted_at"`
	Status    *streamStatus `json:"stream_status,omitempty"`
	Estimate  *estimate     `json:"estimate,omitempty"`
	Error     *traceError   `json:"error,omitempty"`
}

type streamStatus struct {
	Descriptor Descriptor `json:"stream_descriptor"`
	Status     Status     `json:"status"`
}

type estimate struct {
	Descriptor
	Type string `json:"type"`
	Rows int64  `json:"row_estimate"`
}

type traceError struct {
	Message     string      `json:"message"`
	Internal    string      `json:"internal_message,omitempty"`
	FailureType string      `json:"failure_type"`
	Descriptor  *Descriptor `json:"stream_descriptor,omitempty"`
}

func appendTrace(dst []byte, t trace) []byte {
	return appendLine(dst, struct {
		Type  string `json:"type"`
		Trace trace  `json:"trace"`
	}{"TRACE", t})
}

// AppendStatus appends a TRACE STREAM_STATUS.
func AppendStatus(dst []byte, d Descriptor, s Status, now time.Time) []byte {
	return appendTrace(dst, trace{Type: "STREAM_STATUS", EmittedAt: now.UnixMilli(), Status: &streamStatus{d, s}})
}

// AppendEstimate appends a TRACE ESTIMATE of the rows that a run will read of a stream.
func AppendEstimate(dst []byte, d Descriptor, rows int64, now time.Time) []byte {
	return appendTrace(dst, trace{Type: "ESTIMATE", EmittedAt: now.UnixMilli(), Estimate: &estimate{d, "STREAM", rows}})
}

// mostInternal bounds what engineers are told: a server may quote a value of many megabytes.
const mostInternal = 2000

// AppendError appends a TRACE ERROR. message is for people; internal, for engineers, and d, the stream that failed, may be empty and nil.
func AppendError(dst []byte, kind protocol.Kind, message, internal string, d *Descriptor, now time.Time) []byte {
	e := &traceError{Message: message, FailureType: kind.String() + "_error", Descriptor: d}
	if internal != message {
		e.Internal = internal
		if len(internal) > mostInternal {
			e.Internal = strings.ToValidUTF8(internal[:mostInternal], "") + "…"
		}
	}
	return appendTrace(dst, trace{Type: "ERROR", EmittedAt: now.UnixMilli(), Error: e})
}
