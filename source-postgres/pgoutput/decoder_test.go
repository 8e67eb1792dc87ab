package pgoutput

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/sqlcapture"
)

// messages holds one of each kind, with what it decodes to. The bytes of begin, commit and relation are spelled out once, so that build cannot share a
// mistake with the decoder.
func messages() []struct {
	name    string
	payload []byte
	want    Message
} {
	items := &Relation{OID: 42, Namespace: "public", Name: "items", Identity: IdentityDefault, Columns: []Column{
		{Name: "id", TypeOID: 23, TypeMod: -1, Key: true}, {Name: "name", TypeOID: 25, TypeMod: -1}, {Name: "note", TypeOID: 25, TypeMod: -1},
	}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	micros := uint64(at.UnixMicro() - time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return []struct {
		name    string
		payload []byte
		want    Message
	}{
		{
			"relation", []byte("R\x00\x00\x00\x2apublic\x00items\x00d\x00\x03" +
				"\x01id\x00\x00\x00\x00\x17\xff\xff\xff\xff" + "\x00name\x00\x00\x00\x00\x19\xff\xff\xff\xff" + "\x00note\x00\x00\x00\x00\x19\xff\xff\xff\xff"),
			Message{Kind: Describe, Relation: items},
		},
		{
			"begin", []byte("B\x00\x00\x00\x01\x00\x00\x00\x02\x00\x02\xea\x32\xed\x11\x00\x00\x00\x00\x03\x04"),
			Message{Kind: Begin, FinalLSN: 1<<32 | 2, CommitTime: 820454400000000 + postgresEpoch, Xid: 0x304},
		},
		{
			"commit", build('C', byte(0), uint64(7), uint64(9), micros),
			Message{Kind: Commit, FinalLSN: 7, EndLSN: 9, CommitTime: at.UnixMicro()},
		},
		{"origin", build('O', uint64(5), "node_a"), Message{Kind: Origin, LSN: 5, Name: "node_a"}},
		{"type", build('Y', uint32(16500), "public", "mood"), Message{Kind: Type, TypeOID: 16500, TypeNamespace: "public", Name: "mood"}},
		{"type of a domain", build('Y', uint32(16501), "", "int4"), Message{Kind: Type, TypeOID: 16501, TypeNamespace: "pg_catalog", Name: "int4"}},
		{
			"insert", build('I', uint32(42), byte('N'), row("1", "NULL", "")),
			Message{Kind: Insert, Relation: items, New: []sqlcapture.Value{[]byte("1"), nil, {}}},
		},
		{
			"update", build('U', uint32(42), byte('N'), row("1", "a", "UNCHANGED")),
			Message{Kind: Update, Relation: items, New: []sqlcapture.Value{[]byte("1"), []byte("a"), sqlcapture.Absent()}},
		},
		{
			"delete", build('D', uint32(42), byte('K'), row("1", "NULL", "NULL")),
			Message{Kind: Delete, Relation: items, OldKind: OldKey, Old: []sqlcapture.Value{[]byte("1"), sqlcapture.Absent(), sqlcapture.Absent()}},
		},
		{
			"truncate", build('T', uint32(1), byte(3), uint32(42)),
			Message{Kind: Truncate, Truncated: []*Relation{items}, Cascade: true, RestartIdentity: true},
		},
		{"truncate without options", build('T', uint32(2), byte(0), uint32(42), uint32(42)), Message{Kind: Truncate, Truncated: []*Relation{items, items}}},
		{
			"message", build('M', byte(1), uint64(11), "fence", uint32(3), []byte("a\x00b")),
			Message{Kind: Logical, Transactional: true, LSN: 11, Prefix: []byte("fence"), Content: []byte("a\x00b")},
		},
		{"message outside transactions", build('M', byte(0), uint64(11), "", uint32(0)), Message{Kind: Logical, LSN: 11, Prefix: []byte{}, Content: []byte{}}},
	}
}

// bug sql-cdc 52: estuary/connectors history: Truncate, Origin, Type and Message killed the stream.
func TestDecode_EachKind(t *testing.T) {
	var d Decoder
	m := Message{Truncated: make([]*Relation, 0, 4)}
	for _, tc := range messages() {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := d.Decode(tc.payload, &m, nil); err != nil {
				t.Fatal(err)
			}
			got := m
			if len(got.Truncated) == 0 {
				got.Truncated = nil
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
			for i := range tc.want.New { // DeepEqual takes a zero byte for the marker
				if sqlcapture.IsAbsent(got.New[i]) != sqlcapture.IsAbsent(tc.want.New[i]) {
					t.Errorf("value %d: got %q", i, got.New[i])
				}
			}
		})
	}
}

func TestDecode_CutOffOrTooLongIsAnError(t *testing.T) {
	for _, tc := range messages() {
		var d Decoder
		var m Message
		if _, err := d.Decode(describeItems('d', 1, 0, 0), &m, nil); err != nil {
			t.Fatal(err)
		}
		for n := range tc.payload {
			short := bytes.Clone(tc.payload[:n])
			if _, err := d.Decode(short, &m, nil); err == nil {
				t.Errorf("%s: cut to %d of %d bytes: no error", tc.name, n, len(tc.payload))
			}
		}
		if _, err := d.Decode(append(bytes.Clone(tc.payload), 0), &m, nil); err == nil {
			t.Errorf("%s with a byte too much: no error", tc.name)
		}
		if tc.want.Kind == Describe && d.Relation(42).Name != "items" {
			t.Error("a description that was cut off replaced the whole one")
		}
	}
}

// The situations in which a server sends old rows, and which.
func TestDecode_OldRows(t *testing.T) {
	for _, tc := range []struct {
		name             string
		relation, change []byte
		kind             OldKind
		before, after    string
	}{
		{"default, key unchanged", describeItems('d', 1, 0, 0), build('U', uint32(42), byte('N'), row("1", "b", "c")), NoOld, "none", "1|b|c"},
		// bug sql-cdc 58: xtdb #5542: n in a key row means "not sent", not NULL.
		{
			"default, key changed", describeItems('d', 1, 0, 0),
			build('U', uint32(42), byte('K'), row("1", "NULL", "NULL"), byte('N'), row("2", "b", "NULL")), OldKey, "1|ABSENT|ABSENT", "2|b|NULL",
		},
		{
			"default, key changed, TOAST untouched", describeItems('d', 1, 0, 0),
			build('U', uint32(42), byte('K'), row("1", "NULL", "NULL"), byte('N'), row("2", "b", "UNCHANGED")), OldKey, "1|ABSENT|ABSENT", "2|b|ABSENT",
		},
		{"default, delete", describeItems('d', 1, 0, 0), build('D', uint32(42), byte('K'), row("1", "NULL", "NULL")), OldKey, "1|ABSENT|ABSENT", "none"},
		// Here a null is a NULL, and the old row has the TOASTed value that the new one lacks.
		{
			"full, update", describeItems('f', 1, 1, 1),
			build('U', uint32(42), byte('O'), row("1", "NULL", "long"), byte('N'), row("1", "b", "UNCHANGED")), OldFull, "1|NULL|long", "1|b|ABSENT",
		},
		{"full, delete", describeItems('f', 1, 1, 1), build('D', uint32(42), byte('O'), row("1", "NULL", "")), OldFull, "1|NULL|", "none"},
		// bug sql-cdc 64: the identity is an index over name, and the primary key's change is invisible.
		{"index, its column unchanged", describeItems('i', 0, 1, 0), build('U', uint32(42), byte('N'), row("2", "a", "c")), NoOld, "none", "2|a|c"},
		{"index, delete without the primary key", describeItems('i', 0, 1, 0), build('D', uint32(42), byte('K'), row("NULL", "a", "NULL")), OldKey, "ABSENT|a|ABSENT", "none"},
		// bug sql-cdc 59: estuary/connectors history: RDS sent key rows whose columns were not the flagged ones.
		{"flags of another index", describeItems('i', 1, 0, 0), build('D', uint32(42), byte('K'), row("NULL", "a", "NULL")), OldKey, "ABSENT|a|ABSENT", "none"},
		{"an empty text in a key is a value", describeItems('i', 0, 1, 0), build('D', uint32(42), byte('K'), row("NULL", "", "NULL")), OldKey, "ABSENT||ABSENT", "none"},
		// bug sql-cdc 68: a placeholder text for an untouched value was written as the value; the marker is no text that a column can hold.
		{"a value that looks like the marker", describeItems('d', 1, 0, 0), build('I', uint32(42), byte('N'), row("1", "\x00", "n")), NoOld, "none", "1|\x00|n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var d Decoder
			var m Message
			if _, err := d.Decode(tc.relation, &m, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode(tc.change, &m, nil); err != nil {
				t.Fatal(err)
			}
			if m.OldKind != tc.kind || show(m.Old) != tc.before || show(m.New) != tc.after {
				t.Errorf("got %q, %s, %s; want %q, %s, %s", m.OldKind, show(m.Old), show(m.New), tc.kind, tc.before, tc.after)
			}
		})
	}
}

func TestDecode_RefusesWhatItDoesNotKnow(t *testing.T) {
	for name, tc := range map[string]struct {
		payload []byte
		says    string
	}{
		"empty":                     {nil, "empty"},
		"unknown kind":              {[]byte("Z123"), "'Z' (byte 0x5a) is not known"},
		"streamed transaction":      {build('S', uint32(5), byte(1)), "'S'"},
		"two-phase":                 {build('P', make([]byte, 30)), "'P'"},
		"kind that is no character": {[]byte{0x00}, "0x00"},
		// bug sql-cdc 60: a row with another number of columns than described caused a panic.
		"fewer columns":          {build('I', uint32(42), byte('N'), row("1", "2")), "public.items: the row has 2 columns and the table was described with 3"},
		"more columns":           {build('I', uint32(42), byte('N'), row("1", "2", "3", "4")), "public.items: the row has 4 columns"},
		"fewer in an old row":    {build('D', uint32(42), byte('K'), row("1")), "public.items"},
		"undescribed table":      {build('I', uint32(43), byte('N'), row("1")), "OID 43"},
		"undescribed in TRUNC":   {build('T', uint32(1), byte(0), uint32(43)), "OID 43"},
		"too many in TRUNCATE":   {build('T', uint32(1<<30), byte(0), uint32(42)), "cut off"},
		"binary value":           {build('I', uint32(42), byte('N'), []byte("\x00\x03nb\x00\x00\x00\x01xn")), "column name was sent in binary"},
		"unknown column kind":    {build('I', uint32(42), byte('N'), []byte("\x00\x03nnz")), `column note is of kind 'z'`},
		"length beyond the row":  {build('I', uint32(42), byte('N'), []byte("\x00\x03nnt\xff\xff\xff\xffx")), "cut off"},
		"insert of an old row":   {build('I', uint32(42), byte('O'), row("1", "2", "3")), `'O'`},
		"update of nothing":      {build('U', uint32(42), byte('X'), row("1", "2", "3")), `'X'`},
		"update with two olds":   {build('U', uint32(42), byte('K'), row("1", "2", "3"), byte('K'), row("1", "2", "3")), `'K'`},
		"delete of a new row":    {build('D', uint32(42), byte('N'), row("1", "2", "3")), `'N'`},
		"message beyond payload": {build('M', byte(0), uint64(1), "p", uint32(0xFFFFFFFF), []byte("x")), "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			var m Message
			if _, err := d.Decode(describeItems('d', 1, 0, 0), &m, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode(tc.payload, &m, nil); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want an error with %q", err, tc.says)
			}
		})
	}
}

func TestDecode_DescriptionsAreFreshAndPerOID(t *testing.T) {
	var d Decoder
	var m Message
	decode := func(payload []byte) Message {
		t.Helper()
		if _, err := d.Decode(payload, &m, nil); err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := describeItems('d', 1, 0, 0)
	old := decode(first).Relation
	clear(first) // the description does not lie in the payload
	if old.String() != "public.items" || old.Columns[2].Name != "note" {
		t.Fatalf("got %+v", old)
	}
	other := decode(build('R', uint32(43), "public", "other", byte('f'), uint16(1), byte(1), "id", uint32(20), int32(-1))).Relation
	renamed := decode(build('R', uint32(42), "public", "items", byte('d'), uint16(1), byte(1), "id", uint32(20), int32(-1))).Relation
	if len(old.Columns) != 3 || renamed == old {
		t.Error("a new description changed the old one")
	}
	// Alternating tables: each row belongs to the newest description of its own.
	for range 3 {
		if r := decode(build('I', uint32(42), byte('N'), row("1"))).Relation; r != renamed {
			t.Errorf("got %v", r)
		}
		if r := decode(build('I', uint32(43), byte('N'), row("1"))).Relation; r != other {
			t.Errorf("got %v", r)
		}
	}
}

// Rows of a batch share memory; when it is used up, those decoded before keep what they have.
func TestDecode_ArenaGrowsWithoutDisturbingEarlierRows(t *testing.T) {
	var d Decoder
	var m Message
	if _, err := d.Decode(describeItems('f', 1, 1, 1), &m, nil); err != nil {
		t.Fatal(err)
	}
	arena := make([]sqlcapture.Value, 0, 7)
	var rows [][]sqlcapture.Value
	var want []string
	for i := range 500 {
		n := string(rune('a' + i%26))
		payload := build('U', uint32(42), byte('O'), row(n, "NULL", n+n), byte('N'), row(n, "UNCHANGED", "NULL"))
		var err error
		if arena, err = d.Decode(payload, &m, arena); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, m.Old, m.New)
		want = append(want, n+"|NULL|"+n+n, n+"|ABSENT|NULL")
	}
	for i := range rows {
		if show(rows[i]) != want[i] {
			t.Fatalf("row %d: got %s, want %s", i, show(rows[i]), want[i])
		}
	}
	if grown := append(rows[0], nil); &grown[0] == &rows[0][0] {
		t.Error("appending to a row would write over the next one")
	}
}

func FuzzDecode(f *testing.F) {
	for _, tc := range messages() {
		f.Add(tc.payload)
	}
	f.Add(build('U', uint32(42), byte('K'), row("1", "NULL", "NULL"), byte('N'), row("2", "b", "UNCHANGED")))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var d Decoder
		var m Message
		arena, err := d.Decode(describeItems('d', 1, 0, 0), &m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if arena, err = d.Decode(payload, &m, arena); err != nil {
			return
		}
		if m.Kind == Insert || m.Kind == Update || m.Kind == Delete {
			if (m.Kind == Delete) != (m.New == nil) || (m.OldKind == NoOld) != (m.Old == nil) {
				t.Fatalf("got %+v", m)
			}
			for _, r := range [][]sqlcapture.Value{m.Old, m.New} {
				if r != nil && len(r) != len(m.Relation.Columns) {
					t.Fatalf("a row of %d values for %d columns", len(r), len(m.Relation.Columns))
				}
			}
		}
		if _, err := d.Decode(payload, &m, arena); err != nil {
			t.Fatalf("the second time: %v", err)
		}
	})
}

func TestDecode_AllocatesNothingForAChange(t *testing.T) {
	d, payload := benchmarkChange(t)
	arena := make([]sqlcapture.Value, 0, 64)
	var m Message
	if n := testing.AllocsPerRun(100, func() {
		if _, err := d.Decode(payload, &m, arena[:0]); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// benchmarkChange is an insert of the row that the project's speed figures are about: 13 columns.
func benchmarkChange(tb testing.TB) (*Decoder, []byte) {
	tb.Helper()
	values := []string{
		"123456", "42", "customer 123456", "some text of a middling length, as people write it", "1234.45", "2026-01-02 03:04:05.678901+00",
		"2026-02-03 04:05:06+00", `{red,green,"light blue"}`, `{"a": 1, "tags": ["x", "y"], "ok": true}`, "t", "1234.25", "0f9c8b7a-1234-4cde-8f01-0123456789ab", "NULL",
	}
	parts := []any{uint32(42), "public", "bench", byte('d'), uint16(len(values))}
	for range values {
		parts = append(parts, byte(0), "column", uint32(25), int32(-1))
	}
	d := new(Decoder)
	if _, err := d.Decode(build('R', parts...), &Message{}, nil); err != nil {
		tb.Fatal(err)
	}
	return d, build('I', uint32(42), byte('N'), row(values...))
}

func BenchmarkDecode(b *testing.B) {
	d, payload := benchmarkChange(b)
	arena := make([]sqlcapture.Value, 0, 13)
	var m Message
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if _, err := d.Decode(payload, &m, arena[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
