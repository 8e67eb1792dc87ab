package simdb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// localeKeys are the texts of the keys of Locale tables, in the database's order, which ignores case. Their byte order is another.
var localeKeys = []string{"a", "B", "c", "D", "e", "F", "g", "H"}

// KeyText is the key's value as wire text.
func KeyText(kind Kind, key int) string {
	if kind == Locale {
		return localeKeys[key]
	}
	return strconv.Itoa(key)
}

// ParseKey reads what KeyText returned; -1: it is no key.
func ParseKey(kind Kind, text string) int {
	if kind != Locale {
		n, err := strconv.Atoi(text)
		if err != nil {
			return -1
		}
		return n
	}
	for i, k := range localeKeys {
		if k == text {
			return i
		}
	}
	return -1
}

func columns(kind Kind) []sqlcapture.Column {
	number := func(dst, v []byte) ([]byte, error) { return append(dst, v...), nil }
	text := func(dst, v []byte) ([]byte, error) {
		dst = append(append(append(dst, '"'), v...), '"')
		for i := range v {
			v[i] = '!' // as the contract allows
		}
		return dst, nil
	}
	key := sqlcapture.Column{
		Name: "k", Type: "int4", NotNull: true, Schema: protocol.Schema{Types: []string{"integer"}}, AppendJSON: number, Ordered: true,
		AppendKey: func(dst, v []byte) ([]byte, error) {
			n, err := strconv.ParseInt(string(v), 10, 64)
			if err != nil {
				return dst, fmt.Errorf("reading key %q: %w", v, err)
			}
			return rowkey.AppendInt(dst, n), nil
		},
	}
	if kind == Locale {
		key.Type, key.Schema, key.AppendJSON, key.Ordered = "text", protocol.Schema{Types: []string{"string"}}, text, false
		key.AppendKey = func(dst, v []byte) ([]byte, error) {
			if !isLocaleKey(v) {
				return dst, fmt.Errorf("a key's bytes changed: %q", v)
			}
			return rowkey.AppendText(dst, v), nil
		}
		// The key of a row is needed after its document, too.
		key.AppendJSON = func(dst, v []byte) ([]byte, error) { return text(dst, bytes.Clone(v)) }
	}
	return []sqlcapture.Column{
		key,
		{Name: "v", Type: "int8", NotNull: true, Schema: protocol.Schema{Types: []string{"integer"}}, AppendJSON: number},
		{Name: "long", Type: "text", Schema: protocol.Schema{Types: []string{"string"}}, AppendJSON: text},
	}
}

func isLocaleKey(v []byte) bool {
	for _, k := range localeKeys {
		if string(v) == k {
			return true
		}
	}
	return false
}

// describe makes a description, as every caller gets one of its own. The log leaves out what the log does not know.
func (t *table) describe(gen *incarnation, byLog bool) *sqlcapture.Table {
	d := &sqlcapture.Table{TableName: t.spec.Name, Identity: gen.id, Columns: columns(t.spec.Kind)}
	if !byLog {
		d.Leaves = "leaf"
		if t.spec.Kind.HasKey() {
			d.Key = []string{"k"}
		}
	}
	return d
}

// values renders a row as the wire would; short: the long column was not sent.
func (t *table) values(r *Row, short bool) []sqlcapture.Value {
	v := []sqlcapture.Value{
		[]byte(KeyText(t.spec.Kind, r.Key)), []byte(strconv.FormatInt(r.Version, 10)), []byte(longText(r.Long)),
	}
	if short {
		v[2] = sqlcapture.Absent()
	}
	return v
}

func longText(v int64) string { return "long" + strconv.FormatInt(v, 10) }

// ParseLong reads a long column's value; -1: it was never written.
func ParseLong(text string) int64 {
	if len(text) < 5 || text[:4] != "long" {
		return -1
	}
	n, err := strconv.ParseInt(text[4:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// catalog plays sqlcapture.Catalog.
type catalog struct{ w *World }

// Tables implements sqlcapture.Catalog.
func (c catalog) Tables(ctx context.Context, names []sqlcapture.TableName) ([]*sqlcapture.Table, error) {
	if err := c.w.point(ctx); err != nil {
		return nil, err
	}
	var list []*sqlcapture.Table
	for _, t := range c.w.tables {
		if names == nil || hasName(names, t.spec.Name) {
			list = append(list, t.describe(t.seen(), false))
		}
	}
	return list, nil
}

// Marks implements sqlcapture.Catalog.
func (c catalog) Marks(ctx context.Context, names []sqlcapture.TableName) (map[sqlcapture.TableName]string, error) {
	if err := c.w.point(ctx); err != nil {
		return nil, err
	}
	marks := map[sqlcapture.TableName]string{}
	for _, t := range c.w.tables {
		if hasName(names, t.spec.Name) {
			marks[t.spec.Name] = t.seen().id
		}
	}
	return marks, nil
}

// Deliveries implements sqlcapture.Catalog. Nobody takes a table out again, but another one may take its name.
func (c catalog) Deliveries(ctx context.Context, names []sqlcapture.TableName) (map[sqlcapture.TableName]*sqlcapture.Delivery, error) {
	if err := c.w.point(ctx); err != nil {
		return nil, err
	}
	list := map[sqlcapture.TableName]*sqlcapture.Delivery{}
	for _, t := range c.w.tables {
		if hasName(names, t.spec.Name) && t.seen().published {
			list[t.spec.Name] = &sqlcapture.Delivery{By: "simdb", Entries: []string{t.seen().id}}
		}
	}
	return list, nil
}

// Publish implements sqlcapture.Catalog. It waits for whoever has the table locked, but not for those that write to it: the gate is for them.
func (c catalog) Publish(ctx context.Context, names []sqlcapture.TableName) error {
	if err := c.w.point(ctx); err != nil {
		return err
	}
	for _, t := range c.w.tables {
		if !hasName(names, t.spec.Name) {
			continue
		}
		for c.w.exclusivelyLocked(t) && c.w.force() {
		}
		t.seen().published = true
	}
	return nil
}

func hasName(names []sqlcapture.TableName, n sqlcapture.TableName) bool {
	for _, x := range names {
		if x == n {
			return true
		}
	}
	return false
}

func (w *World) exclusivelyLocked(t *table) bool {
	for _, x := range w.txns {
		for _, l := range x.exclusive {
			if l == t && x.active() {
				return true
			}
		}
	}
	return false
}

// encoder plays sqlcapture.SourceEncoder.
type encoder struct{}

// AppendEvent implements sqlcapture.SourceEncoder: lsn names the change.
func (encoder) AppendEvent(dst []byte, e *sqlcapture.Event) []byte {
	raw, _ := json.Marshal(struct { //nolint:errchkjson // numbers only
		LSN   uint64 `json:"lsn"`
		Final uint64 `json:"final"`
	}{e.LSN, e.Txn.Final})
	return append(dst, raw...)
}

// AppendRow implements sqlcapture.SourceEncoder.
func (encoder) AppendRow(dst []byte, _ *sqlcapture.Table, n int64) []byte {
	dst = append(dst, `{"snapshot":true,"n":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}

// Schema implements sqlcapture.SourceEncoder.
func (encoder) Schema() protocol.Schema { return protocol.Schema{Types: []string{"object"}} }
