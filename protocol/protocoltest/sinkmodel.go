package protocoltest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// collection is one that the simulators materialize.
type collection struct {
	table  string
	keys   []column
	values []column
	delta  bool
}

type column struct {
	name     string
	types    string // JSON type names, comma-separated
	required bool
}

// The tables: a plain one with a document, one with a key of two parts whose documents are not selected, one to which rows are only added.
var collections = []collection{
	{
		table: "orders", keys: []column{{"id", "integer", true}},
		values: []column{{"customer", "string", true}, {"total", "number", true}, {"paid", "boolean", false}, {"note", "null,string", false}},
	},
	{table: "events", keys: []column{{"kind", "string", true}, {"n", "integer", true}}, values: []column{{"text", "string", false}}},
	{table: "visits", keys: []column{{"id", "integer", true}}, values: []column{{"page", "string", true}}, delta: true},
}

// The bindings, by their places.
const (
	orders = iota
	events
	visits
)

const document0 = "flow_document" // the field of the root document

// doc is a document: a value for each column of its collection. Numbers are json.Number.
type doc map[string]any

func order(id int, customer string, total json.Number) doc {
	return doc{"id": number(id), "customer": customer, "total": total, "paid": id%2 == 0, "note": nil}
}

func event(kind string, n int, text string) doc {
	return doc{"kind": kind, "n": number(n), "text": text}
}
func visit(id int, page string) doc { return doc{"id": number(id), "page": page} }

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

func (c *collection) key(d doc) []any    { return pick(c.keys, d) }
func (c *collection) picked(d doc) []any { return pick(c.values, d) }

func pick(columns []column, d doc) []any {
	list := make([]any, len(columns))
	for i, col := range columns {
		list[i] = d[col.name]
	}
	return list
}

// store is one document of a transaction.
type store struct {
	binding int
	doc     doc
	deleted bool
}

// world is what a destination holds, or will: documents by packed key, and those of delta tables in the order in which they came.
type world struct {
	keyed [len3]map[string]doc
	added [len3][]doc
}

const len3 = 3 // collections

func newWorld() *world {
	w := &world{}
	for i := range w.keyed {
		w.keyed[i] = map[string]doc{}
	}
	return w
}

func (w *world) clone() *world {
	c := &world{}
	for i := range w.keyed {
		c.keyed[i], c.added[i] = maps.Clone(w.keyed[i]), slices.Clone(w.added[i])
	}
	return c
}

// apply stores documents.
func (w *world) apply(list []store) {
	for _, s := range list {
		c := &collections[s.binding]
		switch key := string(pack(c.key(s.doc))); {
		case c.delta:
			w.added[s.binding] = append(w.added[s.binding], s.doc)
		case s.deleted:
			delete(w.keyed[s.binding], key)
		default:
			w.keyed[s.binding][key] = s.doc
		}
	}
}

func (w *world) has(binding int, d doc) bool {
	_, ok := w.keyed[binding][string(pack(collections[binding].key(d)))]
	return ok
}

// rows are the rows of a table as they have to be there, canonical and sorted.
func (w *world) rows(binding int) []string {
	var list []string
	docs := slices.Concat(slices.Collect(maps.Values(w.keyed[binding])), w.added[binding])
	for _, d := range docs {
		list = append(list, canonicalRow(rowOf(binding, d)))
	}
	slices.Sort(list)
	return list
}

// rowOf is a document as a row.
func rowOf(binding int, d doc) map[string]any {
	row := map[string]any{}
	maps.Copy(row, d)
	if binding == orders {
		row[document0] = map[string]any(d)
	}
	return row
}

// canonicalRow leaves out what is null.
func canonicalRow(row map[string]any) string {
	kept := map[string]any{}
	for name, v := range row {
		if v != nil {
			kept[name] = v
		}
	}
	return canonical(kept)
}

// inOrder sorts stores as the runtime sends them: by binding, then by packed key. Those of delta tables keep their order.
func inOrder(list []store) []store {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b store) int {
		if a.binding != b.binding {
			return a.binding - b.binding
		}
		if collections[a.binding].delta {
			return 0
		}
		return bytes.Compare(pack(collections[a.binding].key(a.doc)), pack(collections[b.binding].key(b.doc)))
	})
	return list
}

// pack writes values as a tuple of the FoundationDB kind.
func pack(values []any) []byte {
	var out []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			out = append(out, 0x00)
		case bool:
			if v {
				out = append(out, 0x27)
			} else {
				out = append(out, 0x26)
			}
		case string:
			out = append(append(out, 0x02), strings.ReplaceAll(v, "\x00", "\x00\xff")...)
			out = append(out, 0)
		case json.Number:
			out = packNumber(out, v)
		}
	}
	return out
}

func packNumber(out []byte, n json.Number) []byte {
	i, err := n.Int64()
	if err != nil {
		f, _ := n.Float64() // the simulators' own numbers
		bits := math.Float64bits(f)
		if bits>>63 == 0 {
			bits |= 1 << 63
		} else {
			bits = ^bits
		}
		return binary.BigEndian.AppendUint64(append(out, 0x21), bits)
	}
	magnitude, code := uint64(i), 1
	if i < 0 {
		magnitude, code = uint64(-i), -1
	}
	var b []byte
	for m := magnitude; m > 0; m >>= 8 {
		digit := byte(m)
		if i < 0 {
			digit = ^digit
		}
		b = append([]byte{digit}, b...)
	}
	return append(append(out, byte(0x14+code*len(b))), b...)
}

func base64Of(values []any) string { return base64.StdEncoding.EncodeToString(pack(values)) }

// schemaOf is a collection's schema.
func (c *collection) schemaOf() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, col := range slices.Concat(c.keys, c.values) {
		properties[col.name] = map[string]any{"type": strings.Split(col.types, ",")}
		if col.required {
			required = append(required, col.name)
		}
	}
	return map[string]any{"type": "object", "required": required, "properties": properties, "reduce": map[string]any{"strategy": "merge"}}
}

// spec is a collection as the runtime describes it.
func (c *collection) spec() map[string]any {
	var projections []any
	var keys []string
	add := func(col column, key bool) {
		p := map[string]any{"ptr": "/" + col.name, "field": col.name, "inference": map[string]any{"types": strings.Split(col.types, ","), "exists": map[bool]string{true: "MUST", false: "MAY"}[col.required]}}
		if key {
			p["isPrimaryKey"] = true
			keys = append(keys, p["ptr"].(string))
		}
		projections = append(projections, p)
	}
	for _, col := range c.keys {
		add(col, true)
	}
	for _, col := range c.values {
		add(col, false)
	}
	projections = append(projections, map[string]any{"field": document0, "inference": map[string]any{"types": []string{"object"}, "exists": "MUST"}})
	return map[string]any{
		"name": "acme/" + c.table, "key": keys, "uuidPtr": "/_meta/uuid", "writeSchema": c.schemaOf(), "readSchema": c.schemaOf(), "projections": projections, "partitionFields": []any{},
	}
}
