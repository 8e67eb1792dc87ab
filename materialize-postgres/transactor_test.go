package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

func TestSession_StoresAndLoads(t *testing.T) {
	for _, version := range []int{15, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) { storesAndLoads(t, newSite(t, version)) })
	}
}

func storesAndLoads(t *testing.T, s *site) {
	t.Helper()
	b := bind("orders", 1, "id integer!", "name string", "n integer", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	equal(t, "checkpoint", r.opened.Checkpoint.Owner, materialize.Zero)
	equal(t, "new tables", r.opened.NewTables, []int{0})
	r.commit(`{"txn":1}`, `{"id":1,"name":"a","n":1}`, `{"id":2,"name":"b\tc\n\\d","n":-5}`, `{"id":10}`)
	equal(t, "rows", s.query(`SELECT id, name, n, flow_document FROM lake.orders ORDER BY id`), "1 a 1 {\"id\":1,\"name\":\"a\",\"n\":1}\n2 b\tc\n\\d -5 {\"id\":2,\"name\":\"b\\tc\\n\\\\d\",\"n\":-5}\n10 \\N \\N {\"id\":10}")
	equal(t, "loaded", r.load(put{0, `{"id":2}`}, put{0, `{"id":3}`}, put{0, `{"id":10}`}), []string{`0 {"id":10}`, `0 {"id":2,"name":"b\tc\n\\d","n":-5}`})
	r.commit(`{"txn":2}`, `+{"id":2,"name":"new"}`, `{"id":3,"name":"third"}`)
	equal(t, "rows", s.query(`SELECT id, name FROM lake.orders ORDER BY id`), "1 a\n2 new\n3 third\n10 \\N")

	again := s.open(b)
	equal(t, "checkpoint", string(again.opened.Checkpoint.JSON), `{"txn":2}`)
	equal(t, "owner", again.opened.Checkpoint.Owner, materialize.Stored)
	equal(t, "new tables", again.opened.NewTables, []int(nil))
	if err := r.store(put{0, `{"id":99}`}); err != nil {
		t.Fatal(err)
	}
	_, err := r.tr.Commit(t.Context(), []byte(`{"txn":3}`))
	fenced, ok := errors.AsType[*materialize.FencedError](err)
	if !ok || fenced.Host != host() {
		t.Errorf("the older session's commit: %v", err)
	}
	again.commit(`{"txn":3}`, `{"id":4}`)
	equal(t, "rows", s.query(`SELECT id FROM lake.orders ORDER BY id`), "1\n2\n3\n4\n10")
}

// bug materializations 64: estuary/connectors history: "must merge" stayed set after the first update
func TestStore_InsertUpdateInsert(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{}`, `{"id":1,"v":"a"}`, `{"id":2,"v":"a"}`)
	r.commit(`{}`, `+{"id":1,"v":"b"}`)
	r.commit(`{}`, `{"id":3,"v":"c"}`)
	r.commit(`{}`, `{"id":0,"v":"d"}`, `+{"id":1,"v":"d"}`, `{"id":4,"v":"d"}`)
	r.commit(`{}`, `+{"id":1,"v":"d"}`) // bug materializations 81: estuary/connectors history: an update that changes nothing was no update
	r.commit(`{}`)                      // bug materializations 16: estuary/connectors history: a transaction without any document panicked
	equal(t, "rows", s.query(`SELECT id, v FROM lake.t ORDER BY id`), "0 d\n1 d\n2 a\n3 c\n4 d")
}

// A transaction may be stored in parts, and loads may come between them: nothing is committed early, and no part meets the rows of another.
func TestStore_InParts(t *testing.T) {
	s := newSite(t, 15)
	s.config.HardDelete = true
	b := bind("t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{"n":1}`, `{"id":1,"v":"a"}`, `{"id":2,"v":"a"}`, `{"id":3,"v":"a"}`)
	for _, part := range [][]put{{{0, `+{"id":1,"v":"b"}`}, {0, `+-{"id":3}`}}, {{0, `+{"id":1,"v":"c"}`}, {0, `+{"id":2,"v":"c"}`}, {0, `{"id":3,"v":"c"}`}}} {
		if err := r.store(part...); err != nil {
			t.Fatal(err)
		}
		r.load(put{0, `{"id":1}`}, put{0, `{"id":2}`})
		equal(t, "rows that others see", s.query(`SELECT string_agg(v, '' ORDER BY id) FROM lake.t`), "aaa")
	}
	equal(t, "loaded", r.load(put{0, `{"id":1}`}, put{0, `{"id":9}`}), []string{`0 {"id":1,"v":"c"}`})
	if _, err := r.tr.Commit(t.Context(), []byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", s.query(`SELECT string_agg(v, '' ORDER BY id) FROM lake.t`), "ccc")
	equal(t, "checkpoint", stored(s.open(b)), `{"n":2}`)
}

// A key that somebody else has inserted is updated, wherever among the rows it comes, and the rows around it are there once.
func TestStore_KeysBehindOurBack(t *testing.T) {
	s := newSite(t, 15)
	b, other := bind("t", 1, "id integer!", "v string", "flow_document"), bind("u", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b, other)
	r := s.open(b, other)
	r.commitAll(`{}`, put{0, `{"id":1,"v":"old"}`}, put{1, `{"id":1,"v":"old"}`})
	s.exec(`INSERT INTO lake.t VALUES (500, 'foreign', '{}'), (50000, 'foreign', '{}'), (-7, 'foreign', '{}')`)
	var docs []put
	pad := strings.Repeat("x", 200)
	for i := range 60_000 { // several chunks
		if i == 1 {
			docs = append(docs, put{0, `+{"id":1,"v":"new"}`})
			continue
		}
		docs = append(docs, put{0, fmt.Sprintf(`{"id":%d,"v":"%s"}`, i, pad)})
	}
	docs = append(docs, put{1, `{"id":2,"v":"new"}`}, put{1, `+{"id":1,"v":"new"}`})
	r.commitAll(`{"n":2}`, docs...)
	equal(t, "rows", s.query(`SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE v = 'foreign'), count(*) FILTER (WHERE v = 'new') FROM lake.t`), "60001 60001 1 1")
	equal(t, "rows", s.query(`SELECT id, v FROM lake.u ORDER BY id`), "1 new\n2 new")
	// The next transaction goes straight into the table again.
	r.commit(`{"n":3}`, `{"id":70000,"v":"x"}`)
	if r.tr.bindings[0].mustStage {
		t.Error("rows are staged for ever")
	}
}

// bug materializations 61: estuary/connectors history: null-safe joins were slow, plain ones doubled rows with null keys
// bug materializations 67: estuary/connectors history: a deletion of what was never stored inserted a tombstone
// bug materializations 66: estuary/connectors history: a query over nothing staged failed
// bug materializations 70: kafka-connect-jdbc #1562: updates and deletions were batched apart, and their order was lost
// bug materializations 71: kafka-connect-jdbc #742: two predicates told deletions
func TestStore_Deletions(t *testing.T) {
	for _, hard := range []bool{false, true} {
		s := newSite(t, 15)
		s.config.HardDelete = hard
		b := bind("t", 1, "id integer!", "v string!", "_meta object", "/_meta/op string", "flow_document")
		b.Collection.Projections[3].Field, b.Collection.Projections[3].Pointer = "_meta/op", "/_meta/op"
		b.Fields.Values[2] = "_meta/op"
		s.apply(nil, b)
		r := s.open(b)
		r.commit(`{}`, `-{"id":9,"v":"x","_meta":{"op":"d"}}`) // only deletions of unknown keys
		equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "0")
		r.commit(`{}`, `{"id":1,"v":"a","_meta":{"op":"c"}}`, `{"id":2,"v":"a","_meta":{"op":"c"}}`, `{"id":3,"v":"a","_meta":{"op":"c"}}`)
		r.commit(`{}`, `+-{"id":1,"v":"last","_meta":{"op":"d"}}`, `-{"id":8,"_meta":{"op":"d"}}`, `+{"id":3,"v":"b","_meta":{"op":"u"}}`, `{"id":4,"v":"a","_meta":{"op":"c"}}`)
		want := "1 last d\n2 a c\n3 b u\n4 a c"
		if hard {
			want = "2 a c\n3 b u\n4 a c"
		}
		equal(t, "rows", s.query(`SELECT id, v, "_meta/op" FROM lake.t ORDER BY id`), want)
		// A hint that is wrong inserts nothing, and a deletion may hold its key alone.
		r.commit(`{}`, `+-{"id":7,"_meta":{"op":"d"}}`, `+-{"id":2,"_meta":{"op":"d"}}`)
		want = "1 last d\n2 a d\n3 b u\n4 a c"
		if hard {
			want = "3 b u\n4 a c"
		}
		equal(t, "rows", s.query(`SELECT id, v, "_meta/op" FROM lake.t ORDER BY id`), want)
		// Created again.
		r.commit(`{}`, map[bool]string{false: "+", true: ""}[hard]+`{"id":1,"v":"again","_meta":{"op":"c"}}`)
		equal(t, "rows", s.query(`SELECT v, "_meta/op" FROM lake.t WHERE id = 1`), "again c")
	}
}

// bug materializations 73: kafka-connect-jdbc #645: a table of keys alone had nothing to update
func TestStore_KeysOnly(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.NoFlowDocument = true
	b := bind("t", 2, "a integer!", "b string!")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{}`, `{"a":1,"b":"x"}`, `{"a":2,"b":"y"}`)
	r.commit(`{}`, `+{"a":1,"b":"x"}`, `{"a":3,"b":"z"}`, `+-{"a":2,"b":"y"}`)
	equal(t, "loaded", r.load(put{0, `{"a":1,"b":"x"}`}, put{0, `{"a":9,"b":"x"}`}, put{0, `{"a":3,"b":"z"}`}), []string{`0 {"a":1,"b":"x"}`, `0 {"a":3,"b":"z"}`})
	equal(t, "rows", s.query(`SELECT a, b FROM lake.t ORDER BY a`), "1 x\n2 y\n3 z")
	s.config.HardDelete = true
	r = s.open(b)
	r.commit(`{}`, `+-{"a":2,"b":"y"}`)
	equal(t, "rows", s.query(`SELECT a, b FROM lake.t ORDER BY a`), "1 x\n3 z")
}

// bug materializations 72: kafka-connect-jdbc #1479: a key twice in one statement failed
func TestStore_DeltaUpdates(t *testing.T) {
	s := newSite(t, 15)
	s.config.HardDelete = true // has no meaning there
	b := delta(bind("t", 1, "id integer!", "v string!", "flow_document"))
	s.apply(nil, b)
	s.exec(`ALTER TABLE lake.t ADD COLUMN place serial`)
	r := s.open(b)
	equal(t, "new tables", len(r.opened.NewTables), 0)
	r.commit(`{}`, `{"id":2,"v":"a"}`, `{"id":1,"v":"b"}`, `{"id":2,"v":"c"}`, `-{"id":2}`, `+{"id":2,"v":"d"}`, `{"v":"no key"}`)
	r.commit(`{}`, `{"id":2,"v":"e"}`)
	equal(t, "rows", s.query(`SELECT id, v FROM lake.t ORDER BY place`), "2 a\n1 b\n2 c\n2 \\N\n2 d\n\\N no key\n2 e")
}

// bug materializations 80: estuary/connectors history: keys of several bindings, mixed, were sent on each change
// bug materializations 62: estuary/connectors history: a limit applied to the whole union, and loads found nothing
func TestLoad_OfManyBindings(t *testing.T) {
	s := newSite(t, 15)
	var bs []materialize.Binding
	for i := range 20 {
		if i%3 == 0 {
			bs = append(bs, bind(fmt.Sprint("t", i), 1, "id string!", "n integer")) // without documents
		} else {
			bs = append(bs, bind(fmt.Sprint("t", i), 1, "id string!", "flow_document"))
		}
	}
	s.config.Advanced.NoFlowDocument = true
	s.apply(nil, bs...)
	r := s.open(bs...)
	if got := r.load(); len(got) != 0 {
		t.Errorf("no keys loaded %q", got)
	}
	r.commitAll(`{}`, put{3, `{"id":"a","n":3}`}, put{7, `{"id":"a","n":7}`}, put{19, `{"id":"'; DROP TABLE x","n":19}`}, put{4, `{"id":"a"}`})
	equal(t, "loaded", r.load(put{19, `{"id":"'; DROP TABLE x"}`}, put{3, `{"id":"a"}`}, put{19, `{"id":"b"}`}, put{7, `{"id":"a"}`}, put{3, `{"id":"b"}`}),
		[]string{`19 {"id":"'; DROP TABLE x","n":19}`, `3 {"id":"a","n":3}`, `7 {"id":"a","n":7}`})
	// Again: what was asked before does not come back.
	// bug materializations 86: estuary/connectors history: temporary tables made and dropped in each transaction bloated catalogs
	equal(t, "loaded", r.load(put{4, `{"id":"a"}`}), []string{`4 {"id":"a"}`})
	equal(t, "temporary tables", s.query(`SELECT count(*) FROM pg_class WHERE relname LIKE 'flow\_keys\_%'`), "4")
}

// bug materializations 69: estuary/connectors history: a temporary table cut long keys
// bug materializations 89: estuary/connectors history: other types in the temporary table kept the index from being used
func TestLoad_UsesTheIndex(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.AdoptTables, s.config.Advanced.NoFlowDocument = true, true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `SET ROLE $role; CREATE TABLE lake.t (id int, code varchar(20), v text, PRIMARY KEY (id, code)); INSERT INTO lake.t SELECT i, 'c' || i, 'v' FROM generate_series(1, 200000) i`)
	s.exec(`ANALYZE lake.t`)
	b := bind("t", 2, "id integer!", "code string!", "v string")
	s.apply(nil, b)
	r := s.open(b)
	if !r.opened.NoLoadOptimization {
		t.Error("rows of others, and the load of keys may be left out")
	}
	equal(t, "loaded", r.load(put{0, `{"id":5,"code":"c5"}`}), []string{`0 {"id":5,"code":"c5","v":"v"}`})
	types, _, err := r.tr.session.Execute(t.Context(), `SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'pg_temp.flow_keys_0'::regclass AND attnum > 0`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "types", *types[0][0], "integer, character varying(20)")
	plan, _, err := r.tr.session.Execute(t.Context(), "EXPLAIN "+r.tr.bindings[0].load(3))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range plan {
		lines = append(lines, *row[0])
	}
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "t_pkey") {
		t.Errorf("the index is not used:\n%s", text)
	}
}

// bug materializations 68: estuary/connectors history: a user's column was called like a marker of the connector's own
func TestStore_FieldsWithNamesOfOurs(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.NoFlowDocument, s.config.HardDelete = true, true
	b := bind("flow_keys_0", 2, "t integer!", "r string!", "excluded integer", "flow_rows_0 integer", "fence integer", "delete boolean")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{}`, `{"t":1,"r":"x","excluded":1,"flow_rows_0":2,"fence":3,"delete":true}`, `{"t":2,"r":"x"}`)
	r.commit(`{}`, `+{"t":1,"r":"x","excluded":4,"fence":5,"delete":false}`, `+-{"t":2,"r":"x"}`)
	equal(t, "loaded", r.load(put{0, `{"t":1,"r":"x"}`}, put{0, `{"t":2,"r":"x"}`}), []string{`0 {"t":1,"r":"x","excluded":4,"fence":5,"delete":false}`})
}

// A table without any unique index works, slowly.
func TestStore_WithoutAnIndex(t *testing.T) {
	s := newSite(t, 15)
	s.config.Advanced.AdoptTables, s.config.Advanced.NoFlowDocument = true, true
	s.exec(`CREATE SCHEMA lake AUTHORIZATION $role`, `SET ROLE $role; CREATE TABLE lake.t (id int, v text); INSERT INTO lake.t VALUES (1, 'old')`)
	b := bind("t", 1, "id integer!", "v string")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{}`, `{"id":1,"v":"new"}`, `{"id":2,"v":"new"}`, `+{"id":3,"v":"new"}`)
	equal(t, "rows", s.query(`SELECT id, v FROM lake.t ORDER BY id`), "1 new\n2 new\n3 new")
}

// Rows, checkpoint and fence are one transaction: what is not committed is not there.
func TestCommit_IsAllOrNothing(t *testing.T) {
	s := newSite(t, 15)
	a, b := bind("a", 1, "id integer!", "flow_document"), bind("b", 1, "id integer!", "flow_document")
	s.apply(nil, a, b)
	r := s.open(a, b)
	r.commitAll(`{"n":1}`, put{0, `{"id":1}`}, put{1, `{"id":1}`})
	if err := r.store(put{0, `{"id":2}`}, put{1, `+{"id":1}`}); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows before the commit", s.query(`SELECT count(*) FROM lake.a`), "1")
	s.exec(fmt.Sprintf(`SELECT pg_terminate_backend(%d, 5000)`, r.tr.session.conn.PID()))
	_, err := r.tr.Commit(t.Context(), []byte(`{"n":2}`))
	if protocol.KindOf(err) != protocol.Transient {
		t.Errorf("a session that was ended: %v", err)
	}
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.a`), "1")
	equal(t, "checkpoint", stored(s.open(a, b)), `{"n":1}`)
}

// bug materializations 87: estuary/connectors history: a server that does not answer, or its timeouts, held or killed sessions
func TestSession_EndsWithItsContext(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	locker, err := s.config.connect(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer locker.close()
	if err := locker.run(t.Context(), "BEGIN; LOCK TABLE lake.t"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d := r.doc(put{0, `{"id":1}`})
	if err := r.tr.Store(ctx, materialize.NewDocIter(func() (*materialize.Doc, error) { x := d; d = nil; return x, nil })); err == nil {
		t.Error("a store that waits for a lock outlived its context")
	}
}

// bug materializations 87: estuary/connectors history: a server that does not answer, or its timeouts, held or killed sessions
// bug materializations 79: estuary/connectors history: names without their schema were found elsewhere
func TestSession_Settings(t *testing.T) {
	s := newSite(t, 17)
	s.exec(`ALTER ROLE $role SET statement_timeout = 1; ALTER ROLE $role SET idle_in_transaction_session_timeout = 1; ALTER ROLE $role SET idle_session_timeout = 300;
		ALTER ROLE $role SET transaction_timeout = 300; ALTER ROLE $role SET lock_timeout = 1; ALTER ROLE $role SET datestyle = 'SQL, DMY'; ALTER ROLE $role SET timezone = 'Asia/Tokyo';
		ALTER ROLE $role SET bytea_output = 'escape'; ALTER ROLE $role SET intervalstyle = 'postgres'; ALTER ROLE $role SET extra_float_digits = 0; ALTER ROLE $role SET client_encoding = 'LATIN1';
		ALTER ROLE $role SET default_transaction_isolation = 'serializable'; ALTER ROLE $role SET search_path = 'elsewhere'; CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.t (id int)`)
	s.config.Advanced.NoFlowDocument = true
	b := bind("t", 1, "id integer!", "d string:date", "at string:date-time", "x string:base64", "i string:duration", "f number", "s string")
	s.apply(nil, b)
	r := s.open(b)
	doc := `{"id":1,"d":"2024-02-03","at":"2024-02-03T04:05:06.7Z","x":"3q2+7w==","i":"P1M2DT3S","f":0.30000000000000004,"s":"ü€"}`
	r.commit(`{}`, doc)
	time.Sleep(400 * time.Millisecond) // longer than any of them
	equal(t, "loaded", r.load(put{0, doc}), []string{"0 " + doc})
	rows, _, err := r.tr.session.Execute(t.Context(), `SELECT current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout') || current_setting('idle_session_timeout') ||
		current_setting('transaction_timeout') || current_setting('lock_timeout') || current_setting('jit') || ' ' || current_setting('transaction_isolation') || ' ' || current_setting('application_name')`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "settings", *rows[0][0], "00000off read committed materialize-postgres")
}

// bug materializations 22: estuary/connectors history: a deferred clean-up's nil error hid that of a load, which then looked complete
func TestSession_ErrorsOfTheRunner(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{}`, `{"id":1}`, `{"id":2}`)
	broken := errors.New("the runner is gone")
	n := 0
	err := r.tr.Store(t.Context(), materialize.NewDocIter(func() (*materialize.Doc, error) {
		if n++; n > 3 {
			return nil, broken
		}
		return r.doc(put{0, fmt.Sprintf(`{"id":%d}`, n+10)}), nil
	}))
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	r = s.open(b)
	err = r.tr.Load(t.Context(), materialize.NewKeyIter(func() (*materialize.Key, error) { return nil, broken }), nil)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	keys := 2
	err = r.tr.Load(t.Context(), materialize.NewKeyIter(func() (*materialize.Key, error) {
		if keys == 0 {
			return nil, nil
		}
		d := r.doc(put{0, fmt.Sprintf(`{"id":%d}`, keys)})
		keys--
		return &materialize.Key{Values: d.Key}, nil
	}), func(int, []byte) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := r.tr.Close(); err != nil {
		t.Error(err)
	}
	equal(t, "rows", s.query(`SELECT count(*) FROM lake.t`), "2")
}

// bug materializations 84: airbytehq/airbyte #33230: an empty table took the place of a full one after an error of the source
//
// Overwriting: readers see the old rows until all new ones are there.
func TestReplace(t *testing.T) {
	s := newSite(t, 15)
	s.task = ""
	b := bind("t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{"t.v1":{"generation":1}}`, `{"id":1,"v":"old"}`, `{"id":2,"v":"old"}`)
	s.exec(`DROP ROLE IF EXISTS "rea der"`, `CREATE ROLE "rea der"`, `GRANT SELECT ON lake.t TO "rea der" WITH GRANT OPTION`, `GRANT SELECT ON lake.t TO PUBLIC`)
	t.Cleanup(func() { _ = s.cluster.Exec("postgres", `DROP ROLE IF EXISTS "rea der"`) })

	fresh := bind("t", 1, "id integer!", "n integer", "flow_document")
	fresh.Replace = true
	s.exec(`CREATE TABLE lake.strangers (id int PRIMARY KEY)`)
	strangers := bind("strangers", 1, "id integer!")
	strangers.Replace = true
	if _, err := s.sink().Apply(t.Context(), nil, bindings(strangers), nil); err == nil || !strings.Contains(err.Error(), "no materialization has made it") {
		t.Errorf("a table of a stranger's would be replaced: %v", err)
	}
	begin := func() *run {
		plan, err := s.sink().Apply(t.Context(), nil, []materialize.Binding{fresh}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		opened := s.open(fresh)
		equal(t, "new tables", opened.opened.NewTables, []int{0})
		equal(t, "checkpoint", opened.opened.Checkpoint.Owner, materialize.Zero)
		opened.commit(`{}`, `{"id":1,"n":1}`)
		equal(t, "rows that readers see", s.query(`SELECT id, v FROM lake.t ORDER BY id`), "1 old\n2 old")
		return opened
	}
	begin() // ends without its source having been complete
	r = begin()
	r.commit(`{}`, `+{"id":1,"n":2}`, `{"id":5,"n":5}`)
	if err := r.tr.Replace(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	r.commit(`{"t.v1":{"generation":2}}`, `{"id":6,"n":6}`)
	equal(t, "rows", s.query(`SELECT id, n FROM lake.t ORDER BY id`), "1 2\n5 5\n6 6")
	equal(t, "tables", s.query(`SELECT relname FROM pg_class WHERE relnamespace = 'lake'::regnamespace AND relname LIKE 't%' ORDER BY 1`), "t\nt_pkey")
	equal(t, "grants", s.query(`SELECT has_table_privilege('rea der', 'lake.t', 'SELECT WITH GRANT OPTION')`), "t")
	fresh.Replace = false
	equal(t, "checkpoint", stored(s.open(fresh)), `{"t.v1":{"generation":2}}`)
	s.exec(`DROP OWNED BY "rea der"`)
}

// bug materializations 65: estuary/connectors history: a deletion that came twice put the row back, and a row without the mark was not inserted
func TestStore_DeletionsThatComeTwice(t *testing.T) {
	s := newSite(t, 15)
	for _, hard := range []bool{false, true} {
		s.config.HardDelete = hard
		b := bind(fmt.Sprintf("hard_%t", hard), 1, "id integer!", "v string", "flow_document")
		s.apply(nil, b)
		r := s.open(b)
		r.commit(`{"n":1}`, `{"id":1}`, `{"id":2,"v":"x"}`) // v is NULL
		s.exec(`DELETE FROM lake.` + b.ResourcePath[1] + ` WHERE id = 1`)
		r.commit(`{"n":2}`, `+-{"id":1}`, `-{"id":3}`, `{"id":4}`)
		equal(t, b.ResourcePath[1], s.query(`SELECT id FROM lake.`+b.ResourcePath[1]+` ORDER BY id`), "2\n4")
	}
}
