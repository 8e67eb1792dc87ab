package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/estuary/connectors/protocol/materialize"
)

// loadBytes of keys are gathered, of all bindings together, before they go to the server.
const loadBytes = 4 << 20

// Load reads the documents of keys, by one query for all bindings. It is a transaction of its own, which sees everything that was committed before.
func (t *transactor) Load(ctx context.Context, keys *materialize.KeyIter, emit func(binding int, doc []byte) error) error {
	if err := t.empty(ctx); err != nil {
		return err
	}
	l := &loader{t: t, rows: make([][]byte, len(t.bindings)), asked: make([]bool, len(t.bindings))}
	for keys.Next() {
		if err := l.add(ctx, keys.Key()); err != nil {
			return err
		}
	}
	if err := keys.Err(); err != nil {
		return err
	}
	if err := l.flush(ctx); err != nil || !l.begun {
		return err
	}
	if err := l.query(ctx, emit); err != nil {
		return err
	}
	if t.begun { // what was stored already is not to be committed yet
		if err := t.session.run(ctx, joinAsEver); err != nil {
			return t.config.explain("ending a load", err)
		}
		return nil
	}
	if err := t.session.run(ctx, "COMMIT"); err != nil { // which empties the temporary tables
		return t.config.explain("ending a load", err)
	}
	for _, b := range t.bindings {
		clear(b.used)
	}
	return nil
}

// loader gathers the keys of one load. They come in any order of bindings (bug materializations 80), and one COPY runs at a time.
type loader struct {
	t     *transactor
	rows  [][]byte // by binding, in COPY text form
	asked []bool   // by binding
	size  int
	begun bool // keys were sent
}

func (l *loader) add(ctx context.Context, k *materialize.Key) error {
	b := l.t.bindings[k.Binding]
	if err := b.present(); err != nil {
		return err
	}
	rows := l.rows[k.Binding]
	before := len(rows)
	rows, err := b.appendKey(rows, k.Values)
	if err != nil {
		return err
	}
	rows = endRow(rows, before)
	l.rows[k.Binding] = rows
	l.asked[k.Binding] = true
	if l.size += len(rows) - before; l.size >= loadBytes {
		return l.flush(ctx)
	}
	return nil
}

// flush sends the keys that were gathered.
func (l *loader) flush(ctx context.Context) error {
	for i, rows := range l.rows {
		if len(rows) == 0 {
			continue
		}
		b := l.t.bindings[i]
		if !l.begun && !l.t.begun {
			if err := l.t.session.run(ctx, "BEGIN"); err != nil {
				return l.t.config.explain("beginning a load", err)
			}
		}
		l.begun = true
		if err := l.t.makeTemp(ctx, b, tempKeys); err != nil {
			return err
		}
		c := chunk{b: b, goal: remove, rows: rows}
		if _, err := l.t.session.copyIn(ctx, b.stage(tempKeys), c); err != nil {
			return l.t.config.explainRows(c, err)
		}
		b.used[tempKeys] = true
		l.rows[i] = rows[:0]
	}
	l.size = 0
	return nil
}

// query reads the documents. Bindings without keys have no part in it (bug materializations 62).
func (l *loader) query(ctx context.Context, emit func(binding int, doc []byte) error) (err error) {
	width := 0
	for i, b := range l.t.bindings {
		if l.asked[i] {
			width = max(width, len(b.loaded()))
		}
	}
	var parts []string
	indexed := true
	for i, b := range l.t.bindings {
		if l.asked[i] {
			parts = append(parts, b.load(width))
			indexed = indexed && b.unique
		}
	}
	if indexed {
		if err = l.t.session.run(ctx, lookUpKeys); err != nil {
			return l.t.config.explain("loading documents", err)
		}
	}
	ctx, cancel := l.t.session.bounded(ctx)
	defer cancel()
	rows, err := l.t.session.conn.CopyOut(ctx, "COPY ("+strings.Join(parts, "\nUNION ALL\n")+") TO STDOUT")
	if err != nil {
		return l.t.config.explain("loading documents", l.t.session.placed(err))
	}
	defer func() {
		// bug materializations 22: the nil error of a deferred close hid that of the load
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			err = l.t.config.explain("loading documents", closeErr)
		}
	}()
	var fields [][]byte
	var doc []byte
	for {
		if fields, err = rows.Next(fields); err != nil {
			if errors.Is(err, io.EOF) { // bug materializations 23: a result that broke half-way looked complete
				return nil
			}
			return l.t.config.explain("loading documents", err)
		}
		i, err := strconv.Atoi(string(fields[0]))
		if err != nil || i < 0 || i >= len(l.t.bindings) {
			return fmt.Errorf("a loaded row is of binding %q", fields[0])
		}
		b := l.t.bindings[i]
		if doc, err = b.rebuild(doc[:0], fields[1:]); err != nil {
			return fmt.Errorf("rebuilding a document of table %s: %w", b.target.rows, err)
		}
		if err := emit(i, doc); err != nil {
			return err
		}
	}
}

// rebuild appends the document of a loaded row.
func (b *binding) rebuild(dst []byte, fields [][]byte) ([]byte, error) {
	if !b.document {
		return b.builder.append(dst, fields)
	}
	if fields[0] == nil {
		return dst, fmt.Errorf("its column %q is null: somebody else has written the row", b.columns[len(b.columns)-1].Name)
	}
	return append(dst, bytes.TrimSpace(fields[0])...), nil
}
