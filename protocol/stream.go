package protocol

import "encoding/json"

// Stream is one unit that a source offers: a table, a topic, a prefix of a bucket.
type Stream struct {
	// Name is unique among the source's streams by itself, and stable: runners such as PyAirbyte key their state by it.
	Name string
	// Namespace groups streams (a schema, a database). Empty: none.
	Namespace string
	// RecommendedName is a Flow collection's suggested name, usually namespace/name.
	RecommendedName string
	// Resource is the per-stream resource config as the runner would hand it back; its ResourcePath values are the stream's identity.
	Resource json.RawMessage
	Schema   Schema
	// Key holds JSON pointers ("/id") of the source's own key; nil: none.
	Key []string
	// FallbackKey holds JSON pointers that Flow and pipeline use when Key is nil.
	FallbackKey []string
	// Cursor points to a value that sorts the documents of one key by age. The source keeps its place by itself, yet some runners replace what they have,
	// instead of adding to it, where a stream has neither key nor cursor. Empty: none.
	Cursor string
	// Incremental tells that the source resumes this stream from its state; all our sources do.
	Incremental bool
}
