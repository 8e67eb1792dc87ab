package main

import (
	"strconv"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

// sourceEncoder renders _meta.source. What is the same for all rows of a table is rendered once.
type sourceEncoder struct {
	tag    string
	events map[*sqlcapture.Table][]byte
	rows   map[*sqlcapture.Table][]byte

	lastEvents, lastRows         *sqlcapture.Table
	lastEventPrefix, lastRowPart []byte

	// What is the same for all changes of a transaction is rendered once: the parts around the change's own position.
	txn                      *sqlcapture.Txn
	toLSN, toIDs, toSequence []byte
	lsn                      []byte
}

var _ sqlcapture.SourceEncoder = (*sourceEncoder)(nil)

func newSourceEncoder(tag string) *sourceEncoder {
	return &sourceEncoder{tag: tag, events: map[*sqlcapture.Table][]byte{}, rows: map[*sqlcapture.Table][]byte{}}
}

// AppendEvent appends the object for a change. loc sorts changes: across transactions by its first element, inside one by the second. The integers are
// log positions; sequence holds the first two as Debezium writes them.
func (m *sourceEncoder) AppendEvent(dst []byte, e *sqlcapture.Event) []byte {
	if m.lastEvents != e.Table {
		m.lastEvents, m.lastEventPrefix = e.Table, m.prefix(m.events, e.Table, false)
	}
	if m.txn != e.Txn {
		m.renderTxn(e.Txn)
	}
	m.lsn = strconv.AppendUint(m.lsn[:0], e.LSN, 10)
	dst = append(dst, m.lastEventPrefix...)
	dst = append(dst, m.toLSN...)
	dst = append(dst, m.lsn...)
	dst = append(dst, m.toIDs...)
	dst = append(dst, m.lsn...)
	dst = append(dst, m.toSequence...)
	dst = append(dst, m.lsn...)
	dst = append(dst, `\"]","row":`...)
	dst = strconv.AppendInt(dst, e.Row, 10)
	return append(dst, '}')
}

func (m *sourceEncoder) renderTxn(t *sqlcapture.Txn) {
	m.txn = t
	dst := strconv.AppendInt(m.toLSN[:0], t.TimeMicros/1000, 10)
	dst = append(dst, `,"loc":[`...)
	dst = strconv.AppendUint(dst, t.PrevEnd, 10)
	m.toLSN = append(dst, ',')

	dst = append(m.toIDs[:0], ',')
	dst = strconv.AppendUint(dst, t.Final, 10)
	dst = append(dst, `],"txid":`...)
	dst = strconv.AppendUint(dst, uint64(t.ID), 10)
	dst = append(dst, `,"txId":`...)
	dst = strconv.AppendUint(dst, uint64(t.ID), 10)
	m.toIDs = append(dst, `,"lsn":`...)

	dst = append(m.toSequence[:0], `,"sequence":"[\"`...)
	dst = strconv.AppendUint(dst, t.PrevEnd, 10)
	m.toSequence = append(dst, `\",\"`...)
}

// AppendRow appends the object for a row of a backfill: it has no place in the log, so loc sorts it before every change.
func (m *sourceEncoder) AppendRow(dst []byte, t *sqlcapture.Table, n int64) []byte {
	if m.lastRows != t {
		m.lastRows, m.lastRowPart = t, m.prefix(m.rows, t, true)
	}
	dst = append(dst, m.lastRowPart...)
	dst = strconv.AppendInt(dst, n, 10)
	dst = append(dst, `,0],"row":`...)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '}')
}

func (m *sourceEncoder) prefix(cache map[*sqlcapture.Table][]byte, t *sqlcapture.Table, scanned bool) []byte {
	if p := cache[t]; p != nil {
		return p
	}
	if len(cache) > 256 {
		clear(cache) // descriptions come with each walsender and each ALTER; old ones never come back
	}
	p := []byte(`{"schema":`)
	p, _ = appendString(p, []byte(t.Schema)) // a string always encodes
	p = append(p, `,"table":`...)
	p, _ = appendString(p, []byte(t.Name))
	if m.tag != "" {
		p = append(p, `,"tag":`...)
		p, _ = appendString(p, []byte(m.tag))
	}
	if scanned {
		p = append(p, `,"snapshot":true,"loc":[-1,`...)
	} else {
		p = append(p, `,"ts_ms":`...)
	}
	cache[t] = p
	return p
}

// Schema describes both objects.
func (m *sourceEncoder) Schema() protocol.Schema { return sourceSchema() }

func sourceSchema() protocol.Schema {
	text := func(doc string) protocol.Schema { return protocol.Schema{Types: []string{"string"}, Description: doc} }
	number := func(doc string) protocol.Schema { return protocol.Schema{Types: []string{"integer"}, Description: doc} }
	integer := number("")
	return protocol.Schema{Types: []string{"object"}, Properties: []protocol.Property{
		{Name: "schema", Required: true, Schema: text("schema of the table")},
		{Name: "table", Required: true, Schema: text("name of the table")},
		{Name: "snapshot", Schema: protocol.Schema{Types: []string{"boolean"}, Description: "true for rows of the backfill, absent for changes"}},
		{Name: "ts_ms", Schema: number("when the transaction committed, milliseconds since 1970; absent for rows of the backfill")},
		{Name: "loc", Required: true, Schema: protocol.Schema{
			Types: []string{"array"}, Items: &integer,
			Description: "log positions: the end of the commit before, this change, this transaction's commit; -1, the row's number and 0 for rows of the backfill",
		}},
		{Name: "row", Required: true, Schema: number("index of the change among its table's in the transaction, or of the row in the backfill")},
		{Name: "txid", Schema: number("transaction id, 32 bits")},
		{Name: "txId", Schema: number("the same under the name that Debezium gives it")},
		{Name: "lsn", Schema: number("log position of the change")},
		{Name: "sequence", Schema: text("the first two elements of loc, as Debezium writes them")},
		{Name: "tag", Schema: text("advanced.source_tag")},
	}}
}
