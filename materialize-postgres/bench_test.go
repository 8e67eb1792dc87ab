package main

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol/materialize"
)

// wide is the row shape that speed is measured on, as source-postgres prints it.
func wide(document bool) materialize.Binding {
	fields := []string{
		"id integer!", "quantity integer!", "name string!", "city string", "price string:number!", "created_at string:date-time!", "updated_at string:date-time", "tags object",
		"attributes array,boolean,integer,null,number,object,string", "active boolean!", "score number,string:number", "token string:uuid!", "note string", "/_meta/op string",
	}
	if document {
		fields = append(fields, "flow_document")
	}
	b := bind("wide", 1, fields...)
	b.Collection.Projections[13].Field, b.Fields.Values[12] = "_meta/op", "_meta/op"
	return b
}

const wideDocument = `{"id":%d,"quantity":7919,"name":"customer %[1]d of c4ca4238a0b923820dcc509a6f75849b","city":"city 1","price":"0.31","created_at":"2024-01-01T00:00:01.234567Z",` +
	`"updated_at":"2025-01-01T00:00:01Z","tags":{"dimensions":[3],"elements":["t1","with \"quotes\"","plain"]},"attributes":{"n":1,"kind":"k1","nested":{"deep":false}},"active":false,` +
	`"score":0.14285714285714285,"token":"dbd2bd1b-3c2c-4e5d-a5c4-6a0a40cf3b6f","note":"line one\ntab\tf4552671f8909587cf485ea990207f3bf4552671f8909587cf485ea990207f3b",` +
	`"_meta":{"op":"c","source":{"schema":"public","table":"wide","snapshot":true,"loc":[25470504,1,0],"row":0}}}`

// rows makes documents of the wide shape.
func wideDocs(r *run, first, n int, exists bool) []*materialize.Doc {
	docs := make([]*materialize.Doc, n)
	for i := range docs {
		docs[i] = r.doc(put{0, fmt.Sprintf(wideDocument, first+i)})
		docs[i].Exists = exists
	}
	return docs
}

func iterate(docs []*materialize.Doc) *materialize.DocIter {
	next := 0
	return materialize.NewDocIter(func() (*materialize.Doc, error) {
		if next == len(docs) {
			return nil, nil
		}
		next++
		return docs[next-1], nil
	})
}

// BenchmarkEncode is what a row costs this process before it is written to the socket, in COPY's text form and in its binary one.
func BenchmarkEncode(b *testing.B) {
	for _, document := range []bool{false, true} {
		for _, binary := range []bool{false, true} {
			b.Run(fmt.Sprintf("document=%v,binary=%v", document, binary), func(b *testing.B) {
				s := newSite(b, 15)
				w := wide(document)
				s.apply(nil, w)
				r := s.open(w)
				n := r.tr.bindings[0]
				docs := wideDocs(r, 0, 1000, false)
				var dst []byte
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					ok, err := true, error(nil)
					if binary {
						dst, ok = n.appendBinaryRow(dst[:0], docs[i%1000], false)
					} else {
						dst, err = n.appendRow(dst[:0], docs[i%1000], false)
					}
					if err != nil || !ok {
						b.Fatal(ok, err)
					}
					i++
				}
				b.SetBytes(int64(len(dst)))
			})
		}
	}
}

// BenchmarkStore stores 10,000 rows a transaction: new ones, then the same ones again.
func BenchmarkStore(b *testing.B) {
	for _, exists := range []bool{false, true} {
		b.Run(fmt.Sprintf("exists=%v", exists), func(b *testing.B) {
			s := newSite(b, 15)
			w := wide(true)
			s.apply(nil, w)
			r := s.open(w)
			const n = 10_000
			docs := wideDocs(r, 0, n, false)
			store := func() {
				if err := r.tr.Store(b.Context(), iterate(docs)); err != nil {
					b.Fatal(err)
				}
				if _, err := r.tr.Commit(b.Context(), []byte(`{}`)); err != nil {
					b.Fatal(err)
				}
			}
			if exists {
				store()
				for _, d := range docs {
					d.Exists = true
				}
			}
			first := 0
			for b.Loop() {
				if !exists {
					b.StopTimer()
					docs = wideDocs(r, first, n, false)
					first += n
					b.StartTimer()
				}
				store()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
		})
	}
}

// BenchmarkCopy is the public reference of BenchmarkStore: COPY alone, into a table like the one that rows are stored in.
func BenchmarkCopy(b *testing.B) {
	s := newSite(b, 15)
	w := wide(true)
	s.apply(nil, w)
	r := s.open(w)
	const n = 10_000
	first := 0
	for b.Loop() {
		b.StopTimer()
		var rows []byte
		for _, d := range wideDocs(r, first, n, false) {
			var err error
			if rows, err = r.tr.bindings[0].appendRow(rows, d, false); err != nil {
				b.Fatal(err)
			}
		}
		first += n
		b.StartTimer()
		if _, err := r.tr.session.copyIn(b.Context(), r.tr.bindings[0].into(), chunk{rows: rows}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
}

// BenchmarkBatch is the public reference of BenchmarkStore/exists=true: the driver's batches of 5,000 updates.
func BenchmarkBatch(b *testing.B) {
	s := newSite(b, 15)
	w := wide(true)
	s.apply(nil, w)
	r := s.open(w)
	const n = 10_000
	docs := wideDocs(r, 0, n, false)
	if err := r.tr.Store(b.Context(), iterate(docs)); err != nil {
		b.Fatal(err)
	}
	if _, err := r.tr.Commit(b.Context(), []byte(`{}`)); err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.Connect(b.Context(), s.cluster.DSN(s.config.Database))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	sql := "UPDATE lake.wide SET "
	columns := r.tr.bindings[0].columns
	for i, c := range columns[1:] {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("%s = $%d", quote(c.Name), i+2)
	}
	sql += " WHERE id = $1"
	text := func(v []byte) any {
		if v == nil {
			return nil
		}
		if raw, ok := inside(v); ok {
			return string(rawjson.AppendUnquoted(nil, raw))
		}
		return string(v)
	}
	// The driver encodes values of these types itself.
	typed := func(i int, v []byte) any {
		var n json.Number
		switch columns[i].Type {
		case "bigint":
			n = json.Number(v)
			k, _ := n.Int64()
			return k
		case "double precision":
			f, _ := json.Number(v).Float64()
			return f
		case "boolean":
			return string(v) == "true"
		case "timestamp with time zone":
			if v == nil {
				return nil
			}
			at, _ := time.Parse(time.RFC3339, text(v).(string))
			return at
		}
		return text(v)
	}
	for b.Loop() {
		tx, err := conn.Begin(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for start := 0; start < n; start += 5000 {
			var batch pgx.Batch
			for _, d := range docs[start : start+5000] {
				args := []any{typed(0, d.Key[0])}
				for i, v := range d.Values {
					args = append(args, typed(i+1, v))
				}
				batch.Queue(sql, append(args, string(d.JSON))...)
			}
			if err := tx.SendBatch(b.Context(), &batch).Close(); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
}

// BenchmarkLoad loads 10,000 documents.
func BenchmarkLoad(b *testing.B) {
	for _, document := range []bool{true, false} {
		b.Run(fmt.Sprintf("document=%v", document), func(b *testing.B) {
			s := newSite(b, 15)
			s.config.Advanced.NoFlowDocument = true
			w := wide(document)
			s.apply(nil, w)
			r := s.open(w)
			const n = 10_000
			docs := wideDocs(r, 0, n, false)
			if err := r.tr.Store(b.Context(), iterate(docs)); err != nil {
				b.Fatal(err)
			}
			if _, err := r.tr.Commit(b.Context(), []byte(`{}`)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				next, got := 0, 0
				err := r.tr.Load(b.Context(), materialize.NewKeyIter(func() (*materialize.Key, error) {
					if next == n {
						return nil, nil
					}
					next++
					return &materialize.Key{Values: docs[next-1].Key}, nil
				}), func(int, []byte) error { got++; return nil })
				if err != nil || got != n {
					b.Fatalf("%d documents, %v", got, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/row")
		})
	}
}
