package parity

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/replay"
)

// keyType is a type of a primary key, with values in no particular order.
type keyType struct {
	name   string // of the table
	typ    string // SQL
	values []string
}

var keyTypes = []keyType{
	{"of_smallint", "smallint", []string{`5`, `-32768`, `32767`, `0`, `-1`}},
	{"of_integer", "integer", []string{`5`, `-2147483648`, `2147483647`, `0`, `-1`}},
	{"of_bigint", "bigint", []string{`5`, `-9223372036854775808`, `9223372036854775807`, `0`, `9007199254740993`}},
	{"of_oid", "oid", []string{`5`, `4294967295`, `0`, `2147483648`}},
	{"of_xid8", "xid8", []string{`'5'`, `'18446744073709551615'`, `'0'`, `'9223372036854775808'`}},
	{"of_text_c", `text COLLATE "C"`, []string{`'a'`, `'B'`, `''`, `'é'`, `'it''s "q" \ '`, `E'a\nb'`, `'😀'`}},
	{"of_text_icu", `text COLLATE "en-x-icu"`, []string{`'a'`, `'B'`, `'ä'`, `'Z'`, `'_'`, `'ab'`, `'a b'`}},
	{"of_varchar", "varchar(8)", []string{`'a'`, `'B'`, `'a '`, `''`}},
	{"of_char", "char(4)", []string{`'a'`, `'B'`, `'ab'`, `''`}},
	{"of_name", "name", []string{`'a'`, `'B'`, `'ab'`}},
	{"of_citext", "citext", []string{`'b'`, `'A'`, `'c'`, `'Ab'`, `'_'`}},
	{"of_enum", "size", []string{`'small'`, `'large'`, `'medium'`, `'a size'`}},
	{"of_uuid", "uuid", []string{`'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`, `'00000000-0000-0000-0000-000000000000'`, `'ffffffff-ffff-ffff-ffff-ffffffffffff'`}},
	{"of_bool", "boolean", []string{`true`, `false`}},
	{"of_numeric", "numeric", []string{`1.50`, `-1.5`, `'NaN'`, `'Infinity'`, `'-Infinity'`, `0`, `1e30`, `0.000001`, `100`}},
	{"of_real", "real", []string{`0.1`, `-1`, `'NaN'`, `'Infinity'`, `'-Infinity'`, `16777216`, `0`}},
	{"of_double", "double precision", []string{`0.1`, `0.30000000000000004`, `'NaN'`, `'Infinity'`, `-1e100`, `0`}},
	{"of_date", "date", []string{`'2024-02-29'`, `'infinity'`, `'-infinity'`, `'1999-01-08'`, `'9999-12-30'`}},
	{"of_timestamp", "timestamp", []string{`'2024-01-15 12:00:00'`, `'2024-01-15 12:00:00.5'`, `'infinity'`, `'-infinity'`, `'1970-01-01 00:00:00.000001'`}},
	{"of_timestamptz", "timestamptz", []string{`'2024-01-15 12:00:00Z'`, `'2024-01-15 12:00:00.5Z'`, `'infinity'`, `'2024-01-15 12:00:00+09'`}},
	{"of_time", "time", []string{`'12:00'`, `'12:00:00.5'`, `'00:00'`, `'23:59:59'`}},
	{"of_timetz", "timetz", []string{`'12:00Z'`, `'12:00+09'`, `'12:00-08'`, `'00:00:00.5+05:30'`}},
	{"of_interval", "interval", []string{`'1 day'`, `'-1 day'`, `'1 mon'`, `'25:00:00'`, `'0'`}},
	{"of_bytea", "bytea", []string{`''`, `decode('00', 'hex')`, `decode('ff00', 'hex')`, `decode('61', 'hex')`}},
	{"of_bit", "bit(3)", []string{`B'101'`, `B'000'`, `B'111'`}},
	{"of_varbit", "varbit", []string{`B'1'`, `B''`, `B'10'`, `B'01'`}},
	{"of_macaddr", "macaddr", []string{`'08:00:2b:01:02:03'`, `'00:00:00:00:00:00'`, `'ff:00:00:00:00:01'`}},
	{"of_macaddr8", "macaddr8", []string{`'08:00:2b:01:02:03:04:05'`, `'00:00:00:00:00:00:00:00'`, `'ff:00:00:00:00:00:00:01'`}},
	{"of_inet", "inet", []string{`'10.0.0.1'`, `'10.0.0.0/8'`, `'::1'`, `'9.255.0.1'`}},
	{"of_cidr", "cidr", []string{`'10.0.0.0/8'`, `'10.0.0.0/16'`, `'2001:db8::/32'`}},
	{"of_pg_lsn", "pg_lsn", []string{`'16/B374D848'`, `'0/1'`, `'2/0'`}},
	{"of_money", "money", []string{`1234.5`, `-999.99`, `0`}},
	{"of_jsonb", "jsonb", []string{`'{"a": 1}'`, `'1'`, `'"x"'`, `'[1, 2]'`}},
	{"of_array", "integer[]", []string{`'{1,2}'`, `'{}'`, `'{1}'`, `'{{3},{4}}'`}},
	{"of_range", "int4range", []string{`'[1,5)'`, `'empty'`, `'(,)'`}},
	{"of_domain", "posint", []string{`1`, `3`, `2`}},
	{"of_ltree", "ltree", []string{`'Top.Science'`, `'Top'`, `'A.B'`}},
	{"of_isbn", "isbn13", []string{`'978-0-393-04002-9'`, `'978-0-306-40615-7'`}},
}

var given = flag.Uint64("seed", 0, "use this seed")

// Each type of key, one row a chunk, and a restart after each row: each stream goes on from its first STATE that covers another row, while rows change.
//
// bug sql-cdc 15: vitess 9546, an enum key compared as text never came to an end, or skipped rows.
func TestKeys_RestartAfterEachRow(t *testing.T) {
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("STRESS_SEEDS")); err == nil && n > 0 {
		seeds = n
	}
	for _, version := range versions {
		for n := range seeds {
			seed := uint64(time.Now().UnixNano()) + uint64(n) //nolint:gosec // any number will do
			if *given != 0 {
				seed = *given
			}
			t.Run(fmt.Sprintf("PostgreSQL %d, seed %d", version, seed), func(t *testing.T) { restarts(t, version, seed) })
		}
	}
}

// keyRun is the life of the tables and of a destination that holds what the stored STATEs cover.
type keyRun struct {
	*place
	rng    *rand.Rand
	fold   *replay.Fold
	stored map[string]json.RawMessage
	runs   int
	rows   map[string][]keyRow // by table, as the server has them
}

type keyRow struct {
	value string
	ver   int
	alive bool
}

func restarts(t *testing.T, version int, seed uint64) {
	t.Logf("replay with: go test ./parity -run TestKeys -seed %d", seed)
	k := &keyRun{rng: rand.New(rand.NewPCG(seed, 1)), stored: map[string]json.RawMessage{}, rows: map[string][]keyRow{}} //nolint:gosec // repeatable on purpose
	statements := []string{"CREATE EXTENSION citext; CREATE EXTENSION ltree; CREATE EXTENSION isn; CREATE TYPE size AS ENUM ('small', 'medium', 'large', 'a size'); CREATE DOMAIN posint AS int CHECK (value > 0)", "CREATE SCHEMA elsewhere"}
	var tables []replay.Table
	most := 0
	for _, kt := range keyTypes {
		sql := fmt.Sprintf("CREATE TABLE %s (k %s PRIMARY KEY, ver int NOT NULL, label int NOT NULL);", kt.name, kt.typ)
		for i, v := range kt.values {
			sql += fmt.Sprintf("INSERT INTO %s VALUES (%s, 1, %d);", kt.name, v, i)
			k.rows[kt.name] = append(k.rows[kt.name], keyRow{v, 1, true})
		}
		statements = append(statements, sql)
		tables = append(tables, replay.Table{Stream: "public." + kt.name, Key: []string{"k"}, Version: "ver"})
		most = max(most, len(kt.values))
	}
	k.fold = replay.New(false, tables...)
	k.place = newPlace(t, version, map[string]any{"backfill_chunk_size": 1}, statements...)
	for name, s := range k.airbyte() {
		if !slices.Equal(s.key, []string{"k"}) {
			t.Errorf("%s is discovered with key %v", name, s.key)
		}
	}
	rounds := 0
	for ; !k.complete(); rounds++ {
		if rounds > most+4 {
			t.Fatalf("after %d restarts, one a row, the backfills are not complete: %s", rounds, asJSON(t, k.stored))
		}
		k.round()
	}
	if rounds < most-4 { // a few rows may be deleted before they are read
		t.Errorf("only %d restarts, with up to %d rows in a table: the test does not bite", rounds, most)
	}
	k.exec("REVOKE SELECT ON ALL TABLES IN SCHEMA public FROM " + k.role)
	k.change(60)
	for table := range rewritten {
		for range 20 {
			k.changeIn(table)
		}
	}
	r := k.read(k.states())
	if exit := r.Finished(); exit.Code != 0 {
		t.Fatalf("the last run ended with code %d: %v", exit.Code, r.logs)
	}
	for _, kt := range keyTypes {
		k.keep(r, kt.name, replay.Whole)
	}
	if err := k.fold.Err(); err != nil {
		t.Error(err)
	}
	for _, kt := range keyTypes {
		k.compare(kt.name)
	}
	t.Logf("%d restarts; %+v", rounds, k.fold.Stats)
}

// states are what a plain runner hands back.
func (k *keyRun) states() []byte {
	list := []json.RawMessage{}
	for _, raw := range k.stored {
		list = append(list, raw)
	}
	return asJSON(k.t, list)
}

func (k *keyRun) complete() bool {
	for _, kt := range keyTypes {
		if !k.active(kt.name) {
			return false
		}
	}
	return true
}

func (k *keyRun) active(table string) bool {
	return strings.Contains(string(k.stored[table]), `"mode":"active"`)
}

// round starts a run, lets every stream that is not complete come to a STATE with another row, kills it, and stores those STATEs.
func (k *keyRun) round() {
	k.t.Helper()
	k.change(15)
	r := k.read(k.states(), "--tail")
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		k.change(60)
	}()
	r.await("a STATE with another row of every stream", func() bool {
		for _, kt := range keyTypes {
			if !k.active(kt.name) && r.stateWithRow(kt.name) == none && !r.active(kt.name) {
				return false
			}
		}
		return true
	})
	<-changed
	if err := r.process.Kill(); err != nil {
		k.t.Fatal(err)
	}
	r.Finished()
	for _, kt := range keyTypes {
		at := r.stateWithRow(kt.name)
		if at == none {
			at = r.lastState(kt.name)
		}
		k.keep(r, kt.name, at)
	}
	k.runs++
}

// none is no STATE.
const none = -2

// keep folds what a run printed of a table up to a STATE, and stores that; none: nothing counts.
func (k *keyRun) keep(r *reading, table string, upTo int) {
	k.t.Helper()
	run := &replay.Run{}
	for _, line := range r.lines {
		if strings.Contains(string(line), `"`+table+`"`) {
			if _, err := run.Line(line); err != nil {
				k.t.Fatal(err)
			}
		}
	}
	if upTo == none {
		return
	}
	if err := k.fold.Add(k.runs, run, upTo); err != nil {
		k.t.Fatal(err)
	}
	if upTo >= 0 {
		k.stored[table] = run.State(upTo).Raw
	}
}

// stateWithRow is the number of a stream's first STATE that covers a row of the backfill, among the stream's; none: there is none yet.
func (r *reading) stateWithRow(stream string) int {
	rows, states := 0, 0
	for _, m := range r.order {
		switch {
		case m.stream != stream:
		case m.state && rows > 0:
			return states
		case m.state:
			states++
		case m.snapshot:
			rows++
		}
	}
	return none
}

// lastState is the number of a stream's last STATE, among the stream's.
func (r *reading) lastState(stream string) int {
	states := 0
	for _, m := range r.order {
		if m.stream == stream && m.state {
			states++
		}
	}
	if states == 0 {
		return none
	}
	return states - 1
}

// rewritten are other forms of the same keys: equal to the database, and other keys to whoever compares what is printed.
var rewritten = map[string]map[string]string{
	"of_citext":  {`'b'`: `'B'`, `'A'`: `'a'`, `'Ab'`: `'aB'`},
	"of_numeric": {`1.50`: `1.5`, `100`: `100.000`},
	"of_double":  {`0`: `'-0'`},
}

// change changes rows of random tables: updates mostly, new forms of keys, deletions, insertions of what was deleted.
func (k *keyRun) change(times int) {
	for range times {
		k.changeIn(keyTypes[k.rng.IntN(len(keyTypes))].name)
	}
}

func (k *keyRun) changeIn(table string) {
	i := k.rng.IntN(len(k.rows[table]))
	row := &k.rows[table][i]
	row.ver++
	sql := fmt.Sprintf("UPDATE %s SET ver = %d WHERE label = %d", table, row.ver, i)
	switch {
	case !row.alive:
		sql = fmt.Sprintf("INSERT INTO %s VALUES (%s, %d, %d)", table, row.value, row.ver, i)
		row.alive = true
	case rewritten[table][row.value] != "":
		row.value = rewritten[table][row.value]
		sql = fmt.Sprintf("UPDATE %s SET k = %s, ver = %d WHERE label = %d", table, row.value, row.ver, i)
	case k.rng.IntN(5) == 0:
		sql = fmt.Sprintf("DELETE FROM %s WHERE label = %d", table, i)
		row.alive = false
	}
	if err := k.cluster.Exec(k.database, sql); err != nil {
		k.t.Error(err)
	}
}

// compare holds the destination against what the writer knows.
func (k *keyRun) compare(table string) {
	k.t.Helper()
	have := map[string]string{}
	for key, row := range k.fold.Rows("public." + table) {
		label := string(row["label"])
		if other, twice := have[label]; twice {
			k.t.Errorf("%s: row %s is there twice, key %q, versions %s and %s", table, label, key, other, row["ver"])
		}
		have[label] = string(row["ver"])
	}
	for i, row := range k.rows[table] {
		want := ""
		if row.alive {
			want = strconv.Itoa(row.ver)
		}
		if got := have[strconv.Itoa(i)]; got != want {
			k.t.Errorf("%s, key %s: the destination has version %q, the server %q", table, row.value, got, want)
		}
	}
}
