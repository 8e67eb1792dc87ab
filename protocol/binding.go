package protocol

import "encoding/json"

// Mode is how a stream is read.
type Mode string

// The modes of the Airbyte protocol.
const (
	Incremental Mode = "incremental"
	FullRefresh Mode = "full_refresh"
)

// Binding is a stream that the runner configured.
type Binding struct {
	Stream   Stream
	Resource json.RawMessage
	Mode     Mode
	// Key is the configured key as JSON pointers; nil: the runner named none.
	Key []string
	// Schema is the schema that the runner holds for the documents (Flow: the collection's write schema), verbatim; nil: unknown.
	Schema json.RawMessage
	// Projections maps a source field (a top-level property of the source's document) to the JSON pointer where its value is put.
	Projections map[string]string
	// StateKey names this binding's part of the state document.
	StateKey string
	// State is this binding's state; nil: none.
	State json.RawMessage
	// Shared is the state shared by all bindings, as it was when State was stored: runners that keep a state per stream hand back one copy a stream,
	// of different ages. Nil exactly when State is nil.
	Shared json.RawMessage
}
