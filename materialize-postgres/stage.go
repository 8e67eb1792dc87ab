package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/estuary/connectors/protocol/materialize"
)

// Store encodes documents while the server takes those before them.
func (t *transactor) Store(ctx context.Context, docs *materialize.DocIter) error {
	if t.buffers == nil {
		t.buffers = newBuffers()
	}
	if err := t.empty(ctx); err != nil {
		return err
	}
	w := &writer{t: t, chunks: make(chan chunk), failed: make(chan struct{})}
	var wait sync.WaitGroup
	wait.Go(func() { w.run(ctx) })
	e := &stager{t: t, w: w, odd: make([]bool, len(t.bindings))}
	err := e.all(docs)
	close(w.chunks)
	wait.Wait()
	for i := range e.open { // an error has left some
		if e.open[i] != nil {
			t.buffers.put(e.open[i])
		}
	}
	if errors.Is(err, errStopped) {
		return w.err
	}
	return errors.Join(w.err, err)
}

// stager encodes the documents of one transaction.
type stager struct {
	t *transactor
	w *writer
	b *binding // the current one
	// binary: the current binding's rows go in binary form, so far.
	binary bool
	// odd tells of the bindings, by index, that a row could not go into in binary form.
	odd []bool
	// open are the chunks of the current binding that are being filled, by goal.
	open [goals][]byte
}

func (e *stager) all(docs *materialize.DocIter) error {
	for docs.Next() {
		if err := e.add(docs.Doc()); err != nil {
			return err
		}
	}
	if err := docs.Err(); err != nil {
		return err
	}
	return e.leave()
}

// errStopped tells that the writer has failed; its own error says why.
var errStopped = errors.New("the writer has stopped")

func (e *stager) add(d *materialize.Doc) error {
	b := e.t.bindings[d.Binding]
	if b != e.b {
		if err := e.leave(); err != nil {
			return err
		}
		if err := b.present(); err != nil {
			return err
		}
		e.b, e.binary = b, b.binary && !e.odd[b.index]
	}
	var g goal
	switch {
	case b.delta:
		g = insert
	case d.Delete && !d.Exists:
		return nil // bug materializations 67: a deletion of what was never stored inserted a tombstone
	case d.Delete && b.hardDelete:
		g = remove
	case d.Delete:
		g = bury
	case d.Exists || !b.unique:
		g = replace
	}
	buf := e.open[g]
	if buf == nil {
		if buf = e.t.buffers.get(e.w.failed); buf == nil {
			return errStopped
		}
	}
	if e.binary {
		var ok bool
		if buf, ok = b.appendBinaryRow(buf, d, g == remove); ok {
			e.open[g] = buf
			return e.sendFull(g)
		}
		e.open[g] = buf
		if err := e.turnToText(); err != nil {
			return err
		}
		if buf = e.t.buffers.get(e.w.failed); buf == nil {
			return errStopped
		}
	}
	buf, err := b.appendRow(buf, d, g == remove)
	e.open[g] = buf
	if err != nil {
		return err
	}
	return e.sendFull(g)
}

func (e *stager) sendFull(g goal) error {
	if len(e.open[g]) >= chunkBytes {
		return e.send(g)
	}
	return nil
}

// turnToText sends what the current binding has in binary form; what follows goes in text form.
func (e *stager) turnToText() error {
	for g := range goal(goals) {
		if e.open[g] != nil {
			if err := e.send(g); err != nil {
				return err
			}
		}
	}
	e.binary, e.odd[e.b.index] = false, true
	return nil
}

// leave sends what the current binding still has.
func (e *stager) leave() error {
	if e.b == nil {
		return nil
	}
	for g := range goal(goals) {
		if len(e.open[g]) > 0 {
			if err := e.send(g); err != nil {
				return err
			}
		}
	}
	err := e.w.send(chunk{b: e.b, goal: finish})
	e.b = nil
	return err
}

func (e *stager) send(g goal) error {
	c := chunk{b: e.b, goal: g, binary: e.binary, rows: e.open[g]}
	e.open[g] = nil
	return e.w.send(c)
}

// appendRow appends a document as a row; with keyOnly only its key.
func (b *binding) appendRow(dst []byte, d *materialize.Doc, keyOnly bool) ([]byte, error) {
	if len(d.Key) != b.keys || len(d.Values) != len(b.columns)-b.keys-b.documents() {
		return dst, fmt.Errorf("a document of %s has %d keys and %d values where %d columns were selected", b.stream, len(d.Key), len(d.Values), len(b.columns))
	}
	start := len(dst)
	dst, err := b.appendKey(dst, d.Key)
	if err == nil && !keyOnly {
		for i, v := range d.Values {
			if dst, err = b.appendValue(dst, b.keys+i, v); err != nil {
				break
			}
		}
		if err == nil && b.document {
			dst, err = b.appendValue(dst, len(b.columns)-1, d.JSON)
		}
	}
	if err != nil {
		return dst[:start], err
	}
	return endRow(dst, start), nil
}

func (b *binding) documents() int {
	if b.document {
		return 1
	}
	return 0
}

func (b *binding) appendKey(dst []byte, key [][]byte) ([]byte, error) {
	var err error
	for i, v := range key {
		if isNull(v) && !b.delta {
			return dst, &keyMissing{b, i}
		}
		if dst, err = b.appendValue(dst, i, v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func isNull(v []byte) bool { return v == nil || len(v) == 4 && v[0] == 'n' }

// appendValue appends a value and the tab that ends it.
func (b *binding) appendValue(dst []byte, i int, v []byte) ([]byte, error) {
	if isNull(v) {
		return append(dst, '\\', 'N', '\t'), nil
	}
	e := b.encoders[i]
	dst, err := e.append(e, dst, v)
	if err != nil {
		return dst, b.refused(i, v, err)
	}
	return append(dst, '\t'), nil
}

// endRow makes a newline of the last value's tab.
func endRow(dst []byte, start int) []byte {
	if len(dst) == start {
		return append(dst, '\n')
	}
	dst[len(dst)-1] = '\n'
	return dst
}
