// Package materialize is what the author of a materialization (a sink) reads: Connector describes the binary, Materializer and Transactor are what to
// implement. Main owns everything else: the command line, both wire formats, the order of a transaction's phases, reductions, spilling and signals.
package materialize

import (
	"context"
	"encoding/json"
	"time"

	"github.com/estuary/connectors/protocol"
)

// Connector describes a binary. C is its config struct, R its per-binding resource struct; Main decodes both strictly.
type Connector[C, R any] struct {
	Name    string // "materialize-postgres"
	Title   string // "PostgreSQL"
	Version string
	DocsURL string
	// MemoryBytes is the sum of the connector's buffers; Main sets GOMEMLIMIT to 0.85 of it. 0: no limit.
	MemoryBytes int64
	// New makes the materializer. It must not touch the network.
	New func(C) (Materializer, error)
}

// Materializer is one configured destination. Methods are called one at a time.
type Materializer interface {
	// Check looks for everything that would stop a materialization, and never writes. It returns an errors.Join of *protocol.Problem; any other error
	// means "could not check".
	Check(ctx context.Context) error
	// Validate says what may become of each projection, by the live destination. It never writes.
	Validate(ctx context.Context, bs []Proposed) ([]Constraints, error)
	// Apply compares the live destination with what to asks for, and returns the plan that makes them agree; from is what was applied last, as far as it is
	// known. Tables and columns that to does not name stay.
	Apply(ctx context.Context, from, to []Binding, state State) (Plan, error)
	// Open starts the transactions. It fences off older sessions where the destination keeps the checkpoint.
	Open(ctx context.Context, req OpenRequest) (Transactor, Opened, error)
	Close() error
}

// State is the connector's state, the folded document of the patches that it returned; nil: none.
type State = json.RawMessage

// Proposed is a binding before its fields are selected.
type Proposed struct {
	Resource    json.RawMessage // checked against R
	Collection  protocol.Collection
	FieldConfig map[string]json.RawMessage
	Backfill    uint32
	// Replace: the binding will be written from scratch, beside the existing table (Replacer), which does not matter here.
	Replace bool
	// Last is the binding of the same resource path that was applied last, also when it is inactive now; nil: none is known.
	Last *Binding
}

// Constraints answer a Proposed.
type Constraints struct {
	ResourcePath []string
	DeltaUpdates bool
	// Fields has an entry for each projection; a projection without one is forbidden.
	Fields map[string]Constraint
	// CaseInsensitive: field names that differ in case only are one column.
	CaseInsensitive bool
}

// Constraint says what may become of one projection.
type Constraint struct {
	Kind   ConstraintKind
	Reason string // for people
	Folded string // the destination's own spelling of the field where it differs; "": as it is
}

// ConstraintKind orders from must to never. The zero value means that somebody forgot to decide, and is an error.
type ConstraintKind int

// The kinds of the Flow protocol.
const (
	FieldRequired       ConstraintKind = iota + 1
	LocationRequired                   // some field of this location must be selected
	LocationRecommended                // select it unless somebody asks otherwise
	FieldOptional
	FieldForbidden
	Incompatible // the existing column cannot hold it; starting over would cure it
)

// Binding is a collection bound to a resource of the destination, with its fields selected.
type Binding struct {
	Resource     json.RawMessage
	ResourcePath []string
	Collection   protocol.Collection
	Fields       protocol.FieldSelection
	DeltaUpdates bool
	// Backfill counts how often the binding was told to start over.
	Backfill uint32
	// StateKey names this binding's part of the state; it changes with Backfill.
	StateKey string
	// Replace: the binding is written from scratch into a table that takes the existing one's place in the end (`write` in overwrite mode; see Replacer).
	Replace bool
}

// Plan is what Apply found to do. Each step is safe to repeat, and a plan that was cut short is continued by the next Apply.
type Plan interface {
	// Steps are the exact statements, for printing; empty: there is nothing to do.
	Steps() []string
	Run(ctx context.Context) error
}

// OpenRequest starts a session.
type OpenRequest struct {
	// Task owns the checkpoint: the materialization's name under Flow and pipeline. Empty (`write`): each binding's table has a checkpoint and a fence of its
	// own, whose owner is "write/" and the resource path joined by dots; checkpoints are then JSON objects with a member for each state key, in Opened and in
	// Commit (which names the bindings that change).
	Task     string
	Bindings []Binding
	Range    protocol.Range
	State    State
}

// Opened tells where a session goes on.
type Opened struct {
	Checkpoint Checkpoint
	// NewTables lists bindings whose tables are known to be empty: no document of theirs exists yet.
	NewTables []int
	// NoLoadOptimization: rows may be there that this task did not write, so every key has to be loaded.
	NoLoadOptimization bool
}

// Checkpoint is what the destination knows of the runner's checkpoint.
type Checkpoint struct {
	Owner Owner
	JSON  json.RawMessage // of Stored, byte for byte as it was committed
}

// Owner says whose checkpoint counts.
type Owner int

// The owners.
const (
	HostOwns Owner = iota // the destination keeps none: the runner's counts
	Zero                  // the destination keeps it and has none: start from the beginning
	Stored                // the destination's counts
)

// Transactor runs the transactions of a session, one phase at a time: Load*, Store, Commit, Acknowledge, Load*, …
type Transactor interface {
	// Store takes the documents of a transaction, grouped by binding, keys ascending. There may be none.
	Store(ctx context.Context, docs *DocIter) error
	// Commit ends the transaction. When it returns, all effects are durable, or fully described in the state patch (RFC 7396; nil: no change).
	Commit(ctx context.Context, checkpoint []byte) (patch []byte, err error)
	// Acknowledge is called once the runner has made checkpoint and patch durable, and once after Open; it may be repeated. peers are the patches of all
	// shards, nil when the runner sends none.
	Acknowledge(ctx context.Context, peers [][]byte) (patch []byte, err error)
	Close() error
}

// Loader is a Transactor that reads documents back. Sinks without it are delta only.
type Loader interface {
	// Load calls emit for each key that exists, in any order; keys come in arrival order, all bindings mixed, each once. It must see everything that was
	// committed before. doc is valid during the call.
	Load(ctx context.Context, keys *KeyIter, emit func(binding int, doc []byte) error) error
}

// Doc is one document to store. Its views are valid until the next Next.
type Doc struct {
	Binding int
	Key     [][]byte // JSON values in the order of FieldSelection.Keys
	Packed  []byte   // the key as a tuple whose bytes sort as keys do (internal/jsonkey)
	Values  [][]byte // JSON values in the order of FieldSelection.Values; nil: absent, or null
	JSON    []byte   // the root document; nil: none is selected
	// Exists: the document was loaded or stored before.
	Exists bool
	// Delete: the document ends here. One that does not exist must not be inserted.
	Delete bool
}

// DocIter hands out the documents of a transaction.
type DocIter struct {
	next func() (*Doc, error)
	doc  *Doc
	err  error
}

// NewDocIter makes an iterator of a function that returns nil after the last document.
func NewDocIter(next func() (*Doc, error)) *DocIter { return &DocIter{next: next} }

// Next moves to the next document; false: there is none, or Err tells why not.
func (it *DocIter) Next() bool {
	if it.err == nil {
		it.doc, it.err = it.next()
	}
	return it.err == nil && it.doc != nil
}

// Doc is the current document.
func (it *DocIter) Doc() *Doc { return it.doc }

// Err is what ended the iteration; nil: the documents' end.
func (it *DocIter) Err() error { return it.err }

// Key is one key to load. Its views are valid until the next Next.
type Key struct {
	Binding int
	Values  [][]byte // JSON values in the order of FieldSelection.Keys
	Packed  []byte
}

// KeyIter hands out the keys to load.
type KeyIter struct {
	next func() (*Key, error)
	key  *Key
	err  error
}

// NewKeyIter makes an iterator of a function that returns nil after the last key.
func NewKeyIter(next func() (*Key, error)) *KeyIter { return &KeyIter{next: next} }

// Next moves to the next key; false: there is none, or Err tells why not.
func (it *KeyIter) Next() bool {
	if it.err == nil {
		it.key, it.err = it.next()
	}
	return it.err == nil && it.key != nil
}

// Key is the current key.
func (it *KeyIter) Key() *Key { return it.key }

// Err is what ended the iteration; nil: the keys' end.
func (it *KeyIter) Err() error { return it.err }

// FencedError tells that a newer session has taken over.
type FencedError struct {
	Since time.Time // when the newer one started
	Host  string
}

func (e *FencedError) Error() string {
	return "a newer session writes to this destination, started at " + e.Since.UTC().Format(time.RFC3339) + " on host " + e.Host + "; this one ends and has written nothing since"
}
