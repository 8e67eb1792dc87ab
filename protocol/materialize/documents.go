package materialize

import (
	"bytes"
	"context"
	"fmt"

	"github.com/estuary/connectors/internal/flow"
)

// load hands the keys to the loader until flush comes, and its documents to the runner.
func (s *session) load(ctx context.Context) error {
	clear(s.asked)
	first, broken := s.nextKey()
	switch {
	case broken != nil && s.ended != nil:
		return s.conclude(false) // nothing has begun
	case first == nil:
		return broken // without keys nothing is asked
	}
	keys := NewKeyIter(func() (*Key, error) {
		key := first
		if first = nil; key == nil && broken == nil {
			key, broken = s.nextKey()
		}
		return key, broken
	})
	err := s.loader.Load(ctx, keys, s.emit)
	return s.ending(err, broken, s.flushed && s.backlog.lines == 0, "Load")
}

// ending is the error of a phase: err is what the transactor returned, broken what its iterator met, which the transactor cannot make good; whole tells
// whether it took everything.
// bug materializations 22: the nil error of a clean-up replaced that of Load, which then passed for a success with partial results (2023)
func (s *session) ending(err, broken error, whole bool, method string) error {
	switch {
	case s.ended != nil || s.inv.Stopped() && err != nil:
		return s.conclude(true)
	case broken != nil:
		return broken
	case err == nil && !whole:
		return fmt.Errorf("%s has a bug: %s returned before it took everything", s.inv.connector.name, method)
	}
	return err
}

// nextKey returns the next key to load; nil: flush has come.
func (s *session) nextKey() (*Key, error) {
	line, err := s.backlog.next()
	if line == nil && err == nil && !s.flushed {
		line, err = s.nextLine()
	}
	if line == nil || err != nil {
		return nil, err
	}
	r, err := s.decoder.Decode(line)
	switch {
	case err != nil:
		return nil, err
	case r.Flush != nil:
		s.flushed = true
		return nil, nil
	case r.Load == nil:
		return nil, s.inv.unexpected(r, "load or flush must come")
	}
	if err := s.checkLoad(r.Load); err != nil {
		return nil, err
	}
	s.asked[r.Load.Binding]++
	s.key = Key{Binding: r.Load.Binding, Values: r.Load.Key, Packed: r.Load.Packed}
	return &s.key, nil
}

func (s *session) nextLine() ([]byte, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	line, err := s.in.next(s.inv.Stop(), nil)
	if err != nil {
		s.ended = err
	}
	return line, err
}

func (s *session) checkLoad(l *flow.Load) error {
	if err := s.checkKey("load", l.Binding, len(l.Key)); err != nil {
		return err
	}
	if s.bs[l.Binding].DeltaUpdates {
		return fmt.Errorf("the runner sent load for binding %d, but to %s that has delta updates, of which nothing is loaded", l.Binding, s.inv.connector.name)
	}
	return nil
}

func (s *session) checkKey(request string, binding, parts int) error {
	if binding >= len(s.bs) {
		return fmt.Errorf("the runner sent %s for binding %d, but %s has opened %d", request, binding, s.inv.connector.name, len(s.bs))
	}
	if want := len(s.bs[binding].Fields.Keys); parts != want {
		return fmt.Errorf("the runner sent %s for binding %d with a key of %d parts, but %s has opened it with %d", request, binding, parts, s.inv.connector.name, want)
	}
	return nil
}

// emit is what a loader calls for each document.
func (s *session) emit(binding int, doc []byte) error {
	if binding < 0 || binding >= len(s.bs) || s.asked[binding] == 0 {
		return fmt.Errorf("%s has a bug: it loaded a document of binding %d that nobody asked for", s.inv.connector.name, binding)
	}
	if len(doc) == 0 || doc[0] != '{' {
		return fmt.Errorf("%s has a bug: what it loaded of binding %d is no JSON object", s.inv.connector.name, binding)
	}
	s.asked[binding]--
	return s.respond(func(dst []byte) []byte { return flow.AppendLoaded(dst, binding, doc) })
}

// store hands the documents to the transactor until startCommit comes, and returns the runner's checkpoint.
func (s *session) store(ctx context.Context) (checkpoint []byte, err error) {
	clear(s.done)
	s.last, s.lastPacked = -1, s.lastPacked[:0]
	var broken error
	docs := NewDocIter(func() (doc *Doc, _ error) {
		if checkpoint == nil && broken == nil {
			doc, checkpoint, broken = s.nextDoc()
		}
		return doc, broken
	})
	err = s.tr.Store(ctx, docs)
	return checkpoint, s.ending(err, broken, checkpoint != nil, "Store")
}

// nextDoc returns the next document, or the checkpoint after the last one.
func (s *session) nextDoc() (*Doc, []byte, error) {
	line, err := s.nextLine()
	if err != nil {
		return nil, nil, err
	}
	r, err := s.decoder.Decode(line)
	switch {
	case err != nil:
		return nil, nil, err
	case r.StartCommit != nil:
		return nil, r.StartCommit.Checkpoint, nil
	case r.Store == nil:
		return nil, nil, s.inv.unexpected(r, "store or startCommit must come")
	}
	if err := s.checkStore(r.Store); err != nil {
		return nil, nil, err
	}
	w := r.Store
	s.doc = Doc{Binding: w.Binding, Key: w.Key, Packed: w.Packed, Values: w.Values, JSON: w.Doc, Exists: w.Exists, Delete: w.Delete}
	if s.bs[w.Binding].Fields.Document == "" {
		s.doc.JSON = nil
	}
	return &s.doc, nil, nil
}

// checkStore asserts what a transactor may rely on: documents are grouped by binding, and their keys ascend. Those of a binding with delta updates may come
// in any order: some runners combine the documents of a key, ours hands over each.
func (s *session) checkStore(w *flow.Store) error {
	if err := s.checkKey("store", w.Binding, len(w.Key)); err != nil {
		return err
	}
	b, name := &s.bs[w.Binding], s.inv.connector.name
	switch {
	case len(w.Values) != len(b.Fields.Values):
		return fmt.Errorf("the runner sent store for binding %d with %d values, but %s has opened it with %d", w.Binding, len(w.Values), name, len(b.Fields.Values))
	case w.Doc == nil && b.Fields.Document != "":
		return fmt.Errorf("the runner sent store for binding %d without a document, but %s has opened it with the field %s", w.Binding, name, b.Fields.Document)
	case s.last != w.Binding && s.done[w.Binding]:
		return fmt.Errorf("the runner sent store for binding %d after those of binding %d, but %s takes the documents of a binding in a row", w.Binding, s.last, name)
	case s.last == w.Binding && !b.DeltaUpdates && bytes.Compare(s.lastPacked, w.Packed) >= 0:
		return fmt.Errorf("the runner sent store for a key of binding %d twice or out of order, but %s takes ascending keys", w.Binding, name)
	}
	s.done[w.Binding], s.last = true, w.Binding
	s.lastPacked = append(s.lastPacked[:0], w.Packed...)
	return nil
}
