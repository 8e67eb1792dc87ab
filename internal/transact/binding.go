package transact

import (
	"fmt"
	"sync"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// Binding is what the combiner knows of a stream and its table.
type Binding struct {
	Stream string // for sentences
	// Key holds JSON pointers; KeyFields are their fields, for sentences and in the same order. Empty: the binding is a delta one.
	Key, KeyFields []string
	// ValuePointers are where the values of a Doc stand, in its order.
	ValuePointers []string
	// Document: the root document is materialized.
	Document bool
	// Delta: records are not combined, every one is a document.
	Delta bool
	// Reducer joins the documents of a key; nil: the last one counts.
	Reducer Reducer
	// NullableKey: a key may lack a value. Delta bindings take any key.
	NullableKey bool
}

// Reducer joins documents; *reduce.Reducer is one. One goroutine calls it at a time.
type Reducer interface {
	// Reduce appends left with right, the newer one, joined to it. full: left is the beginning of the document's history.
	Reduce(dst, left, right []byte, full bool) (out []byte, deleted bool, err error)
	// Single appends what becomes of a document with nothing to its left.
	Single(dst, doc []byte) (out []byte, deleted bool, err error)
	// Deletes tells whether the document ends the history of its key by a rule of the schema. An operation "d" does so always.
	Deletes(doc []byte) bool
}

// simpleReducer is a Reducer that may know, once and for all, that Single changes nothing and that Deletes says no but of an operation "d".
type simpleReducer interface{ Simple() bool }

// opPointer is where change data capture says what happened: "d" is a deletion, "u" an update of a document that existed.
const opPointer = "/_meta/op"

// plan is a Binding made ready. Its extractor finds the key, the values and the operation, in this order.
type plan struct {
	Binding
	extractor *rawjson.Extractor
	spans     int  // keys and values: the pointers without the operation
	simple    bool // the reducer need not be asked about single documents: there is none, or it is a simple one

	mu sync.Mutex // of Reducer, which Combiners that came from one by Split share
}

func (p *plan) reduce(dst, left, right []byte, full bool) ([]byte, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Reducer.Reduce(dst, left, right, full)
}

func (p *plan) single(dst, doc []byte) ([]byte, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Reducer.Single(dst, doc)
}

func (p *plan) deletes(doc []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Reducer.Deletes(doc)
}

func newPlan(b Binding) (*plan, error) {
	b.Delta = b.Delta || len(b.Key) == 0
	pointers := make([]string, 0, len(b.Key)+len(b.ValuePointers)+1)
	pointers = append(append(append(pointers, b.Key...), b.ValuePointers...), opPointer)
	e, err := rawjson.NewExtractor(pointers)
	if err != nil {
		return nil, fmt.Errorf("binding stream %s: %w", b.Stream, err)
	}
	simple := b.Reducer == nil
	if s, ok := b.Reducer.(simpleReducer); ok {
		simple = s.Simple()
	}
	return &plan{Binding: b, extractor: e, spans: len(pointers) - 1, simple: simple}, nil
}

// keyProblem tells of a record without a usable value in a key field.
func (p *plan) keyProblem(i int, reason string) error {
	field := p.Key[i]
	if i < len(p.KeyFields) {
		field = p.KeyFields[i]
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("a record of stream %s has no usable key: field %s %s", p.Stream, field, reason),
		Fix: "choose a key whose fields every record has, or append without a key",
	}
}
