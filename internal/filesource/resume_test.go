package filesource

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/fileblob"
	"github.com/estuary/connectors/protocol"
)

// mixed is files of several formats and layers, most of them longer than a batch.
func mixed(t *testing.T) map[string][]byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, data := range map[string][]byte{"x.csv": csv(25), "y.csv": csv(25)} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	array := "[" + strings.ReplaceAll(strings.TrimSpace(string(ndjson(20))), "\n", ",\n") + "]"
	files := map[string][]byte{
		"a.csv": csv(20), "b/a.json": ndjson(20), "b/z.csv.gz": gzipped(t, csv(30)), "b.ndjson": ndjson(1), "c.zip": archive.Bytes(), "d.json": []byte(array),
		"e.log":    []byte("#Version: 1.0\n#Fields: date cs-uri\n" + strings.Repeat("2022-04-01 /y\n", 30)),
		"f.tsv.gz": gzipped(t, []byte("a\tb\n"+strings.Repeat("1\t2\n", 40))), "empty.csv": nil, "f.csv": csv(2), "g.csv": csv(2), "h.csv": csv(2), "i.csv": csv(40),
	}
	return files
}

// local writes the files into a directory.
func local(t *testing.T, files map[string][]byte) blob.Bucket {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := fileblob.Open(dir, log.NewEntry(log.New()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bug streams-files-parser 6: estuary/connectors history: a state covered documents that came after it
func TestResume_AtEveryState(t *testing.T) {
	memory, _ := store()
	put(memory, mixed(t))
	for name, bucket := range map[string]blob.Bucket{"memory": memory, "directory": local(t, mixed(t))} {
		t.Run(name, func(t *testing.T) {
			c := newCapture(t, bucket)
			whole, err := c.run()
			if err != nil {
				t.Fatal(err)
			}
			want := ids(whole.documents)
			if len(want) != 20+20+30+1+50+20+30+40+2+2+2+40 || len(whole.states) < 20 {
				t.Fatalf("%d documents and %d states, want 257 and many", len(want), len(whole.states))
			}
			inFile := 0
			for i := range few(len(whole.states)) {
				i *= len(whole.states) / few(len(whole.states))
				s := whole.states[i]
				if strings.Contains(string(s.state), `"at":"`) {
					inFile++
				}
				c.state = s.state
				again, err := c.run()
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("killed after state %d, %s", i, s.state)
				if !exactlyOnce(t, what, append(want[:s.documents:s.documents], ids(again.documents)...), want) {
					return
				}
			}
			if inFile < few(8) {
				t.Errorf("%d states lie inside a file, want several", inFile)
			}
			t.Logf("%d states, %d of them inside a file", len(whole.states), inFile)
		})
	}
}

// A chain of processes, each killed at a state of its own.
func TestResume_KilledAgainAndAgain(t *testing.T) {
	bucket := local(t, mixed(t))
	whole, err := newCapture(t, bucket).run()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(few(8)) {
		random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // replayed by its seed
		c := newCapture(t, bucket)
		var got []document
		for {
			o, err := c.run()
			if err != nil {
				t.Fatal(err)
			}
			s := o.states[min(random.IntN(6), len(o.states)-1)]
			got = append(got, o.documents[:s.documents]...)
			c.state = s.state
			if len(o.documents) == 0 && !strings.Contains(string(s.state), `"started"`) {
				break
			}
		}
		exactlyOnce(t, fmt.Sprintf("seed %d", seed), ids(got), ids(whole.documents))
	}
}

// Without the cursor, the documents before it would come twice: what the tests above hold is not true by itself.
func TestResume_TheCursorIsNeeded(t *testing.T) {
	memory, _ := store()
	put(memory, mixed(t))
	c := newCapture(t, memory)
	whole := c.read()
	for _, s := range whole.states {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(s.state, &members); err != nil {
			t.Fatal(err)
		}
		if members["at"] == nil {
			continue
		}
		delete(members, "at")
		c.state, _ = json.Marshal(members)
		again, err := c.run()
		if err != nil {
			t.Fatal(err)
		}
		if double, _ := twice(append(ids(whole.documents[:s.documents]), ids(again.documents)...), nil); len(double) == 0 {
			t.Errorf("without its cursor the state %s resumes as well", s.state)
		}
		return
	}
	t.Fatal("no state lies inside a file")
}

// thirds of the key space.
var thirds = []protocol.Range{{Begin: 0, End: 0x55555554}, {Begin: 0x55555555, End: 0xaaaaaaa9}, {Begin: 0xaaaaaaaa, End: 0xffffffff}}

// bug streams-files-parser 1: predecessor: a range inside another's was read by nobody
func TestRange_ThreeProcessesPartitionAStateInMidSweep(t *testing.T) {
	bucket := local(t, mixed(t))
	c := newCapture(t, bucket)
	whole, err := c.run()
	if err != nil {
		t.Fatal(err)
	}
	for i := range few(len(whole.states)) {
		i *= len(whole.states) / few(len(whole.states))
		s := whole.states[i]
		got := ids(whole.documents[:s.documents])
		for _, third := range thirds {
			c.state, c.rng = s.state, third
			part, err := c.run()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ids(part.documents)...)
		}
		if !exactlyOnce(t, fmt.Sprintf("split at state %d", i), got, ids(whole.documents)) {
			return
		}
	}
}

// B.14 and B.15 of the reference: dead in b after 2 of 5 records; then each half of the key space goes on from that state.
func TestResume_InAFileOfHalfAndWhole(t *testing.T) {
	memory, now := store()
	put(memory, map[string][]byte{"a": ndjson(3), "b": ndjson(5), "c": ndjson(2), "d": ndjson(2)})
	c := newCapture(t, memory)
	c.change = func(s *Source) {
		quick(s)
		s.limits.batchBytes, s.limits.unitFiles = 250, 1 // two rows
	}
	o := c.read()
	var state json.RawMessage
	for _, s := range o.states {
		if strings.Contains(string(s.state), `"path":"b"`) && strings.Contains(string(s.state), `\"n\":2`) {
			state = s.state
		}
	}
	if !strings.Contains(string(state), `"started":"2026-01-02T03:04:05Z"`) {
		t.Fatalf("no state in b after 2 records: %v", o.states)
	}
	*now = now.Add(1000)
	c.state = state
	again := c.read()
	if got, want := ids(again.documents)[:4], []string{"bkt/b 2 2", "bkt/b 2 3", "bkt/b 2 4", "bkt/c 3 0"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it goes on with %q, want %q", got, want)
	}
	if first := string(again.states[0].state); !strings.Contains(first, `"started":"2026-01-02T03:04:05Z"`) {
		t.Errorf("the sweep that was resumed has another start: %s", first)
	}
	merged := map[string]int{}
	for _, half := range []protocol.Range{{Begin: 0, End: 0x7fffffff}, {Begin: 0x80000000, End: 0xffffffff}} {
		c.state, c.rng = state, half
		part := c.read()
		for file, n := range part.files() {
			if merged[file] > 0 {
				t.Errorf("both halves read %s", file)
			}
			merged[file] = n
		}
	}
	if want := map[string]int{"bkt/b": 3, "bkt/c": 2, "bkt/d": 2}; !maps.Equal(merged, want) {
		t.Errorf("the halves read %v, want %v: neither reads a again, one goes on in b", merged, want)
	}
	c.rng, c.state = protocol.FullRange, state // another version is there when it comes back
	put(memory, map[string][]byte{"b": ndjson(4)})
	if got := c.read().files(); got["bkt/b"] != 4 {
		t.Errorf("of the new version %d documents come, want all 4", got["bkt/b"])
	}
	c.state = state
	memory.Delete("b")
	c.read().want(t, "deleted meanwhile", map[string]int{"bkt/c": 2, "bkt/d": 2})
}

// A runner that writes the members of a schema in another order has not changed the configuration: the file goes on where it stopped.
func TestResume_SchemaInAnotherOrder(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a.csv": csv(40)})
	first, second := `{"type":"object","properties":{"n":{"type":"integer","maximum":1e3},"text":{}}}`, ` {"properties":{"text":{},"n":{"maximum":1e3,"type":"integer"}},"type":"object"}`
	of := func(schema string) *capture {
		c := newCapture(t, memory)
		c.bindings = []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "k", Schema: json.RawMessage(schema)}}
		return c
	}
	whole := of(first).read()
	inside := 0
	for _, at := range whole.states {
		if at.documents == 0 || at.documents == len(whole.documents) {
			continue
		}
		inside++
		again := of(second)
		again.state = at.state
		if rest := again.read().documents; len(rest) != len(whole.documents)-at.documents {
			t.Errorf("from %s: %d documents, want %d", at.state, len(rest), len(whole.documents)-at.documents)
		}
	}
	if inside == 0 {
		t.Error("no state is inside the file")
	}
	if string(sorted(json.RawMessage(`{"a":`))) != `{"a":` || sorted(nil) != nil {
		t.Error("what is no JSON must stay for the parser to see")
	}
}
