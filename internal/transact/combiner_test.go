package transact_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/transact"
	"github.com/estuary/connectors/protocol"
)

func newCombiner(t testing.TB, o transact.Options, bs ...transact.Binding) *transact.Combiner {
	t.Helper()
	c, err := transact.New(bs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// orders is a keyed binding whose documents replace each other.
var orders = transact.Binding{Stream: "orders", Key: []string{"/id"}, KeyFields: []string{"id"}, ValuePointers: []string{"/v"}, Document: true}

func add(t testing.TB, c *transact.Combiner, docs ...string) {
	t.Helper()
	for _, d := range docs {
		if err := c.Add(0, []byte(d), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// stored renders what comes out: key, value, then E and D where the document exists and is deleted.
func stored(t testing.TB, c *transact.Combiner) string {
	t.Helper()
	var b strings.Builder
	for docs := c.Docs(); ; {
		d, err := docs.Next()
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			return strings.TrimSpace(b.String())
		}
		fmt.Fprintf(&b, " %s=%s", bytes.Join(d.Key, []byte(",")), bytes.Join(d.Values, []byte(",")))
		if d.Exists {
			b.WriteString("E")
		}
		if d.Delete {
			b.WriteString("D")
		}
	}
}

func TestCombiner_Deletions(t *testing.T) {
	const alive, ended = `{"id":1,"v":"old","_meta":{"op":"c"}}`, `{"id":1,"v":"old","_meta":{"op":"d"}}`
	for _, c := range []struct {
		name, loaded string
		docs         []string
		want         string
	}{
		{"of what never existed", "", []string{`{"id":1,"_meta":{"op":"d"}}`}, "1=D"},
		{"of what exists", alive, []string{`{"id":1,"_meta":{"op":"d"}}`}, `1="old"ED`},
		{"of what this transaction made", "", []string{`{"id":1,"v":1,"_meta":{"op":"c"}}`, `{"id":1,"_meta":{"op":"d"}}`}, "1=1D"},
		{"and a new document with the key", alive, []string{`{"id":1,"_meta":{"op":"d"}}`, `{"id":1,"w":2,"_meta":{"op":"c"}}`}, "1=E"},
		{"and a new document without an operation", alive, []string{`{"id":1,"_meta":{"op":"d"}}`, `{"id":1}`}, "1=E"},
		{"a new document over a softly deleted row", ended, []string{`{"id":1,"w":2}`}, "1=E"},
		{"repeated over a softly deleted row", ended, []string{`{"id":1,"_meta":{"op":"d"}}`}, `1="old"ED`},
		{"with all that came before it, repeated", ended, []string{`{"id":1,"_meta":{"op":"u"}}`, `{"id":1,"_meta":{"op":"d"}}`}, `1="old"ED`},
		{"by a rule of the schema", alive, []string{`{"id":1,"gone":1,"_meta":{"op":"u"}}`, `{"id":1,"w":2,"_meta":{"op":"c"}}`}, "1=E"},
		{"by a rule of the schema, last", alive, []string{`{"id":1,"gone":1,"_meta":{"op":"u"}}`}, `1="old"ED`},
		{"undone by a repeated update", ended, []string{`{"id":1,"v":"new","_meta":{"op":"u"}}`}, `1="new"E`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := orders
			b.Reducer = merging{}
			com := newCombiner(t, transact.Options{}, b)
			add(t, com, c.docs...)
			if c.loaded != "" {
				if err := com.Loaded(0, []byte(strings.Replace(c.loaded, `{"id"`, `{"first":true,"id"`, 1))); err != nil {
					t.Fatal(err)
				}
			}
			if got := stored(t, com); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCombiner_KeysAreOnePieceHoweverTheyAreSpelled(t *testing.T) {
	c := newCombiner(t, transact.Options{}, orders)
	add(t, c, `{"id":10,"v":1}`, `{"id":-1,"v":2}`, `{"id":1e1,"v":3}`, `{"id":10.0,"v":null}`, `{"id":9,"id":2,"v":4}`)
	if got := stored(t, c); got != "-1=2 2=4 10.0=" {
		t.Errorf("got %s", got)
	}
}

func TestCombiner_RefusesRecordsAndKeepsTheOthers(t *testing.T) {
	c := newCombiner(t, transact.Options{}, orders)
	add(t, c, `{"id":1,"v":1}`)
	for doc, want := range map[string]string{
		`{"v":1}`:              "a record of stream orders has no usable key: field id is absent",
		`{"id":null,"v":1}`:    "field id is null",
		`{"id":1.5}`:           "field id is no key: 1.5",
		`[1]`:                  "a record of stream orders is no usable document",
		`{"id":1} x`:           "a record of stream orders is no usable document",
		`{"id":1,"v":tru}`:     "a record of stream orders is no usable document",
		``:                     "a record of stream orders is no usable document",
		`{"id":1,"v":"` + "\n": "a record of stream orders is no usable document",
	} {
		err := c.Add(0, []byte(doc), nil)
		if err == nil || !strings.Contains(err.Error(), want) || protocol.KindOf(err) != protocol.Config {
			t.Errorf("%s: got %v, want a problem with %q", doc, err, want)
		}
	}
	if got := stored(t, c); got != "1=1" || c.Len() != 1 {
		t.Errorf("got %s, %d records", got, c.Len())
	}
}

func TestCombiner_NullableKey(t *testing.T) {
	b := orders
	b.NullableKey = true
	c := newCombiner(t, transact.Options{}, b)
	add(t, c, `{"id":1,"v":1}`, `{"v":2}`, `{"id":null,"v":3}`)
	if got := stored(t, c); got != "=3 1=1" {
		t.Errorf("got %s", got)
	}
}

func TestCombiner_LoadsOnlyWhatMayBeThere(t *testing.T) {
	c := newCombiner(t, transact.Options{}, orders)
	asked := func() string {
		var b strings.Builder
		for keys := c.Keys(); ; {
			k, err := keys.Next()
			if err != nil {
				t.Fatal(err)
			}
			if k == nil {
				return strings.TrimSpace(b.String())
			}
			fmt.Fprintf(&b, " %s", k.Values[0])
		}
	}
	add(t, c, `{"id":3}`, `{"id":1}`, `{"id":3}`)
	if got := asked(); got != "1 3" || c.MaxKey(0) != nil {
		t.Errorf("nothing is known: got %s, greatest key %x", got, c.MaxKey(0))
	}
	c.SetMaxKey(0, nil, true)
	if got := asked(); got != "" || !bytes.Equal(c.MaxKey(0), pack(t, 3)) {
		t.Errorf("the table is empty: got %s, greatest key %x", got, c.MaxKey(0))
	}
	c.Reset()
	add(t, c, `{"id":5}`, `{"id":2}`, `{"id":3}`)
	if got := asked(); got != "2 3" || !bytes.Equal(c.MaxKey(0), pack(t, 5)) {
		t.Errorf("3 is the greatest: got %s, greatest key %x", got, c.MaxKey(0))
	}
}

func TestCombiner_RefusesWhatWasNotAskedFor(t *testing.T) {
	for name, loaded := range map[string][]string{
		"whose key was not asked for":     {`{"id":2}`},
		"two documents of stream orders":  {`{"id":1}`, `{"id":1}`},
		"returned: a record of stream or": {`{"id":null}`},
	} {
		c := newCombiner(t, transact.Options{}, orders)
		add(t, c, `{"id":1}`)
		err := error(nil)
		for _, doc := range loaded {
			if err == nil {
				err = c.Loaded(0, []byte(doc))
			}
		}
		for docs := c.Docs(); err == nil; {
			var d *transact.Doc
			if d, err = docs.Next(); d == nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error with %q", err, name)
		}
	}
	delta := orders
	delta.Delta = true
	if err := newCombiner(t, transact.Options{}, delta).Loaded(0, []byte(`{"id":1}`)); err == nil {
		t.Error("a delta binding takes a loaded document")
	}
}

// TestCombiner_StaysWithinItsMemory adds 200 times what it may hold, and leaves no file behind even while it is open.
func TestCombiner_StaysWithinItsMemory(t *testing.T) {
	const memory = 1 << 20
	dir := t.TempDir()
	c := newCombiner(t, transact.Options{MemoryBytes: memory, Dir: dir}, orders)
	before := heap()
	pad := strings.Repeat("x", 1000)
	const records = 60_000
	for i := range records {
		if err := c.Add(0, fmt.Appendf(nil, `{"id":%d,"v":%q}`, (i*7919)%records, pad), nil); err != nil {
			t.Fatal(err)
		}
		if i%20_000 == 0 {
			if grown := heap() - before; grown > 3*memory {
				t.Fatalf("after %d records the heap has grown by %d bytes", i, grown)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%d files are there while it runs, %v", len(files), err)
	}
	next := 0
	for docs := c.Docs(); ; next++ {
		d, err := docs.Next()
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			break
		}
		if string(d.Key[0]) != strconv.Itoa(next) {
			t.Fatalf("key %s comes where %d is due", d.Key[0], next)
		}
		if next%50_000 == 0 {
			if grown := heap() - before; grown > 8*memory { // with a buffer for each run
				t.Fatalf("while reading the heap has grown by %d bytes", grown)
			}
		}
	}
	if next != records {
		t.Errorf("%d documents came, want %d", next, records)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestCombiner_ManyVersionsOfFewKeysNeedLittleSpace(t *testing.T) {
	b := orders
	b.Reducer = merging{}
	c := newCombiner(t, transact.Options{MemoryBytes: 16 << 10, SpillBytes: 300 << 10, Dir: t.TempDir()}, b)
	for i := range 60_000 { // about 4 MB
		add(t, c, fmt.Sprintf(`{"id":%d,"n":1,"v":%d}`, i%3, i))
	}
	if got := stored(t, c); got != "0=59997 1=59998 2=59999" {
		t.Errorf("got %s", got)
	}
}

func TestCombiner_EndsWhenTheTemporarySpaceDoes(t *testing.T) {
	c := newCombiner(t, transact.Options{MemoryBytes: 64 << 10, SpillBytes: 1 << 20, Dir: t.TempDir()}, orders)
	pad, total := strings.Repeat("x", 1000), 0
	err := error(nil)
	for i := 0; err == nil && i < 5000; i++ {
		err = c.Add(0, fmt.Appendf(nil, `{"id":%d,"v":%q}`, i, pad), nil)
		total += 1000
	}
	var p *protocol.Problem
	if !errors.As(err, &p) || !strings.Contains(p.Error(), "more records than fit into 1 MiB of temporary space in "+os.TempDir()) || p.Fix == "" {
		t.Fatalf("got %v, want one sentence about the space", err)
	}
	if total < 800<<10 || total > 1300<<10 {
		t.Errorf("it came after %d bytes", total)
	}
}

func TestCombiner_TellsThatItsDirectoryIsGone(t *testing.T) {
	c := newCombiner(t, transact.Options{MemoryBytes: 8 << 10, Dir: t.TempDir() + "/gone"}, orders)
	err := c.Add(0, []byte(`{"id":1,"v":"`+strings.Repeat("x", 20_000)+`"}`), nil)
	if err == nil || !strings.Contains(err.Error(), "temporary file for a large transaction cannot be made") {
		t.Errorf("got %v", err)
	}
}

// TestCombiner_GivesSpaceBack spills again and again into a space that one transaction nearly fills, while a stream that is never sealed holds on to its part.
func TestCombiner_GivesSpaceBack(t *testing.T) {
	slow := orders
	slow.Stream = "slow"
	c := newCombiner(t, transact.Options{MemoryBytes: 64 << 10, SpillBytes: 1 << 20, Dir: t.TempDir()}, orders, slow)
	pad := strings.Repeat("x", 1000)
	var out *transact.Combiner
	for txn := range 20 {
		if err := c.Add(1, fmt.Appendf(nil, `{"id":%d,"v":%q}`, txn, pad), nil); err != nil {
			t.Fatal(err)
		}
		for i := range 700 {
			add(t, c, fmt.Sprintf(`{"id":%d,"v":%q}`, i, pad))
		}
		c.Seal(0)
		out = c.Split(out)
		if got := strings.Count(stored(t, out), "="); got != 700 {
			t.Fatalf("transaction %d has %d documents", txn, got)
		}
		out.Reset()
	}
	c.Seal(1)
	if got := strings.Count(stored(t, c.Split(out)), "="); got != 20 {
		t.Errorf("the slow stream has %d documents", got)
	}
}
