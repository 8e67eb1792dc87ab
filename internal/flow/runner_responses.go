package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SpecResponse is what a connector tells of itself.
type SpecResponse struct {
	Protocol             int             `json:"protocol"`
	ConfigSchema         json.RawMessage `json:"configSchema"`
	ResourceConfigSchema json.RawMessage `json:"resourceConfigSchema"`
	DocumentationURL     string          `json:"documentationUrl"`
	ResourcePathPointers []string        `json:"resourcePathPointers"` // of captures
}

// DiscoveredBinding is a stream that a source offers.
type DiscoveredBinding struct {
	RecommendedName string          `json:"recommendedName"`
	Resource        json.RawMessage `json:"resourceConfig"`
	Schema          json.RawMessage `json:"documentSchema"`
	Key             []string        `json:"key"`
	ResourcePath    []string        `json:"resourcePath"`
	IsFallbackKey   bool            `json:"isFallbackKey"`
}

// StateUpdate changes a connector's state: a merge patch (RFC 7396), or the whole of it.
type StateUpdate struct {
	Updated    json.RawMessage `json:"updated"`
	MergePatch bool            `json:"mergePatch"`
}

// CaptureResponse is one line of a source; exactly one member is set. Captured documents are ScanCaptured's.
type CaptureResponse struct {
	Spec       *SpecResponse `json:"spec"`
	Discovered *struct {
		Bindings []DiscoveredBinding `json:"bindings"`
	} `json:"discovered"`
	Validated *struct {
		Bindings []struct {
			ResourcePath []string `json:"resourcePath"`
		} `json:"bindings"`
	} `json:"validated"`
	Applied *struct {
		ActionDescription string       `json:"actionDescription"`
		State             *StateUpdate `json:"state"`
	} `json:"applied"`
	Opened *struct {
		ExplicitAcknowledgements bool `json:"explicitAcknowledgements"`
	} `json:"opened"`
	Captured *struct {
		Binding int             `json:"binding"`
		Doc     json.RawMessage `json:"doc"`
	} `json:"captured"`
	SourcedSchema *SourcedSchema `json:"sourcedSchema"`
	Checkpoint    *struct {
		State *StateUpdate `json:"state"`
	} `json:"checkpoint"`
	Reset *Reset `json:"reset"`
}

// SourcedSchema tells what the source knows of a stream's documents.
type SourcedSchema struct {
	Binding int             `json:"binding"`
	Schema  json.RawMessage `json:"documentSchema"`
}

// Reset tells that what was captured of the binding before is void. It is an extension.
type Reset struct {
	Binding int    `json:"binding"`
	Reason  string `json:"reason"`
}

// DecodeCaptureResponse reads one line of a source.
func DecodeCaptureResponse(line []byte) (CaptureResponse, error) {
	var r CaptureResponse
	if err := decodeLine(line, &r); err != nil {
		return CaptureResponse{}, err
	}
	return r, nil
}

// Constraint says what may become of a projection. Type is a name of the protocol, such as FIELD_OPTIONAL.
type Constraint struct {
	Type        string `json:"type"`
	Reason      string `json:"reason"`
	FoldedField string `json:"foldedField"`
}

// ValidatedBinding is a sink's word on a binding.
type ValidatedBinding struct {
	CaseInsensitiveFields bool                  `json:"caseInsensitiveFields"`
	Constraints           map[string]Constraint `json:"constraints"`
	ResourcePath          []string              `json:"resourcePath"`
	DeltaUpdates          bool                  `json:"deltaUpdates"`
}

// SinkResponse is one line of a sink; exactly one member is set.
type SinkResponse struct {
	Spec      *SpecResponse `json:"spec"`
	Validated *struct {
		Bindings []ValidatedBinding `json:"bindings"`
	} `json:"validated"`
	Applied *struct {
		ActionDescription string       `json:"actionDescription"`
		State             *StateUpdate `json:"state"`
	} `json:"applied"`
	Opened *struct {
		// Checkpoint is nil when the runner's counts, {} when the destination has none yet; else it is byte for byte what was committed.
		Checkpoint              json.RawMessage `json:"runtimeCheckpoint"`
		DisableLoadOptimization bool            `json:"disableLoadOptimization"`
		// Lengths is an extension: the sink takes the offer to be told where keys, values and documents end.
		Lengths bool `json:"lengths"`
	} `json:"opened"`
	Loaded *struct {
		Binding int             `json:"binding"`
		Doc     json.RawMessage `json:"doc"`
	} `json:"loaded"`
	Flushed       *Updated `json:"flushed"`
	StartedCommit *Updated `json:"startedCommit"`
	Acknowledged  *Updated `json:"acknowledged"`
}

// Updated is a response that may change the state.
type Updated struct {
	State *StateUpdate `json:"state"`
}

// DecodeSinkResponse reads one line of a sink.
func DecodeSinkResponse(line []byte) (SinkResponse, error) {
	var r SinkResponse
	if err := decodeLine(line, &r); err != nil {
		return SinkResponse{}, err
	}
	if r.Opened != nil && bytes.Equal(r.Opened.Checkpoint, []byte("null")) {
		r.Opened.Checkpoint = nil
	}
	return r, nil
}

// decodeLine names the start of a line that is no response.
func decodeLine(line []byte, into any) error {
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("reading the line %q, which is no response of the protocol: %w", beginning(line), err)
	}
	return nil
}

func beginning(line []byte) string {
	const shown = 80
	if len(line) > shown {
		return string(line[:shown]) + "…"
	}
	return string(line)
}
