package filesource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/protocol"
)

func TestSweep_SecondRunOpensNothing(t *testing.T) {
	memory, now := store()
	put(memory, map[string][]byte{"a": ndjson(2), "b": ndjson(2)})
	c := newCapture(t, memory)
	c.read()
	*now = now.Add(time.Hour)
	opened := memory.Calls(memblob.Open)
	c.read().want(t, "nothing has changed", map[string]int{})
	if n := memory.Calls(memblob.Open) - opened; n > 0 {
		t.Errorf("nothing has changed, and %d objects were opened", n)
	}

	// A year-old time by cp -p cannot happen here; a file that is put late with a time an hour back, one replaced by a shorter one, one more.
	memory.Put(memblob.Entry{Key: "aa", Data: ndjson(3), Modified: now.Add(-time.Hour)})
	put(memory, map[string][]byte{"b": ndjson(1), "c": ndjson(4)})
	c.read().want(t, "three changes", map[string]int{"bkt/aa": 3, "bkt/b": 1, "bkt/c": 4})
}

// B.13 of the reference.
func TestSweep_LateObject(t *testing.T) {
	for lookback, want := range map[time.Duration]int{20 * time.Second: 1, 0: 0} {
		memory, now := store()
		at := func(key string, second int) {
			memory.Put(memblob.Entry{Key: key, Data: ndjson(1), Modified: now.Add(time.Duration(second-100) * time.Second)})
		}
		at("a", 10)
		at("b", 20)
		at("c", 30)
		c := newCapture(t, memory)
		c.reading.Advanced.Lookback = lookback
		c.read().want(t, "first", map[string]int{"bkt/a": 1, "bkt/b": 1, "bkt/c": 1})
		at("aa", 15)
		if got := len(c.read().documents); got != want {
			t.Errorf("look-back %s: %d late objects are read, want %d", lookback, got, want)
		}
	}
}

func TestRetry_DeniedAndArchived(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(1), "b": ndjson(2)})
	memory.Put(memblob.Entry{Key: "c", Data: ndjson(3), Archived: true, Class: "GLACIER"})
	memory.Put(memblob.Entry{Key: "d", Data: ndjson(4)})
	denied := true
	memory.Fault = func(call memblob.Call) memblob.Fault {
		switch {
		case call.Op == memblob.Open && call.Key == "b" && denied:
			return memblob.Fault{Err: &protocol.Problem{Kind: protocol.Config, Summary: "no", Err: blob.ErrDenied}}
		case call.Op == memblob.Open && call.Key == "d" && denied: // an archive tier that the listing does not tell
			return memblob.Fault{Err: fmt.Errorf("reading d: %w", blob.ErrArchived)}
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.read().want(t, "what is readable", map[string]int{"bkt/a": 1})
	opened := memory.Calls(memblob.Open)
	c.read().want(t, "nothing has changed", map[string]int{})
	if n := memory.Calls(memblob.Open) - opened; n > 2 {
		t.Errorf("%d objects were opened again, want at most the denied one and the one that only opening tells of", n)
	}
	denied = false
	memory.Restore("c")
	c.read().want(t, "granted and restored", map[string]int{"bkt/b": 2, "bkt/c": 3, "bkt/d": 4})
	c.read().want(t, "and then", map[string]int{})
	if strings.Contains(string(c.state), `"bkt`) || strings.Contains(string(c.state), "archived") {
		t.Errorf("what was read still waits: %s", c.state)
	}
}

func TestOnFileError(t *testing.T) {
	bad := append(csv(30), "\"never closed\n1,2\n"...)
	for _, policy := range []string{"fail", "skip"} {
		memory, _ := store()
		put(memory, map[string][]byte{"a.csv": csv(2), "b.csv": bad, "c.csv": csv(3)})
		c := newCapture(t, memory)
		c.reading.Advanced.OnFileError = policy
		o := c.read()
		want := map[string]int{"bkt/a.csv": 2, "bkt/b.csv": 30}
		if policy == "skip" {
			want["bkt/c.csv"] = 3
		}
		o.want(t, policy, want)
		if last := o.states[len(o.states)-1]; last.documents != len(o.documents) {
			t.Errorf("%s: %d documents come after the last state", policy, len(o.documents)-last.documents)
		}
		o = c.read()
		o.want(t, policy+", again", map[string]int{})
		put(memory, map[string][]byte{"b.csv": csv(31)})
		want = map[string]int{"bkt/b.csv": 31}
		if policy == "fail" {
			want["bkt/c.csv"] = 3
		}
		c.read().want(t, policy+", mended", want)
	}
}

// A file that is broken by itself is one for people, not for another try.
func TestOnFileError_BrokenFiles(t *testing.T) {
	whole := gzipped(t, csv(5000))
	broken := slices.Clone(whole)
	broken[len(broken)/2] ^= 0x55
	for name, data := range map[string][]byte{
		"cut.csv.gz": whole[:len(whole)-9], "broken.csv.gz": broken, "cut.zip": []byte("PK\x03\x04 and nothing"), "a.xlsx": []byte("PK\x03\x04"), "cut.json": []byte(`{"a":`), "x.csv": []byte("a,a\n1,2\n"),
	} {
		memory, _ := store()
		put(memory, map[string][]byte{name: data, "z.json": ndjson(1)})
		c := newCapture(t, memory)
		o := c.read()
		if o.files()["bkt/z.json"] != 0 {
			t.Errorf("%s does not fail the stream", name)
		}
		c.state, c.reading.Advanced.OnFileError = nil, "skip"
		if o = c.read(); o.files()["bkt/z.json"] != 1 || !strings.Contains(string(c.state), `"why":"faulty `) {
			t.Errorf("%s is not skipped: %v, %s", name, o.files(), c.state)
		}
	}
}

func TestRead_BrokenNetworkIsTransientAndCheckpointed(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(20), "b": ndjson(20)})
	broken := true
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if broken && call.Op == memblob.Open && call.Key == "b" {
			return memblob.Fault{Err: errors.New("connection reset by peer"), After: 500}
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	o, err := c.run()
	if protocol.KindOf(err) != protocol.Transient {
		t.Errorf("the error is %v, want a transient one", err)
	}
	if o.states[len(o.states)-1].documents != len(o.documents) || len(o.documents) < 20 {
		t.Errorf("%d documents, of which a state covers %d", len(o.documents), o.states[len(o.states)-1].documents)
	}
	broken = false
	c.state = o.states[len(o.states)-1].state
	again := c.read()
	if n := len(o.documents) + len(again.documents); n != 40 {
		t.Errorf("%d documents in both runs, want 40", n)
	}
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.List {
			return memblob.Fault{Err: &protocol.Problem{Kind: protocol.Transient, Summary: "listing failed"}}
		}
		return memblob.Fault{}
	}
	if _, err := c.run(); protocol.KindOf(err) != protocol.Transient {
		t.Errorf("a listing that fails: %v", err)
	}
}

// bug streams-files-parser 50: estuary/connectors history: placeholders of folders were parsed
// bug streams-files-parser 71: Airbyte: only the first page of a listing was read
func TestFilters(t *testing.T) {
	memory, now := store()
	memory.PageSize = 2
	put(memory, map[string][]byte{
		"p/": nil, "p/d.csv/": nil, "p/empty.csv": nil, "p/a.csv": csv(1), "p/b.txt": csv(1), "p/c.csv": csv(1), "p/_temporary/d.csv": csv(1), "p/e.csv/": csv(1), "pq/f.csv": csv(1), "q/g.csv": csv(1),
	})
	memory.Put(memblob.Entry{Key: "p/old.csv", Data: csv(1), Modified: now.Add(-1000 * time.Hour)})
	c := newCapture(t, memory)
	c.place = Place{Bucket: "s3://bkt/", Prefix: "s3://bkt/p/", MatchKeys: `^bkt/p/.*\.csv/?$`}
	c.reading.Advanced.Exclude = []string{"/_temporary/"}
	c.reading.Advanced.MinimumModified = now.Add(-time.Hour).Format(time.RFC3339)
	c.read().want(t, "filtered", map[string]int{"bkt/p/a.csv": 1, "bkt/p/c.csv": 1, "bkt/p/e.csv/": 1})
	if n := memory.Calls(memblob.Open); n != 3 || strings.Count(string(c.state), " 2026-") != 3 {
		t.Errorf("%d objects were opened, and the state is %s; want those three", n, c.state)
	}
	if name := c.source().settings.StreamName(); name != "bkt/p" {
		t.Errorf("the stream is called %q, want bkt/p", name)
	}
}

// bug streams-files-parser 57: estuary/connectors history: the name ended with a slash
func TestSettings(t *testing.T) {
	for _, c := range []struct{ bucket, prefix, stream, problem string }{
		{"b", "", "b", ""},
		{"b", "a/", "b/a", ""},
		{"b", "/a/b", "b/a/b", ""},
		{"gs://b", "gs://b/a/", "b/a", ""},
		{"s3://b/", "s3://b", "b", ""},
		{"b", "s3://bb/a/", "", `prefix "s3://bb/a/" is in another bucket than b`},
		{"b/c", "", "", `bucket "b/c" is no name of a bucket`},
		{"", "", "", "no name"},
	} {
		s, err := NewSettings(Place{Bucket: c.bucket, Prefix: c.prefix}, Reading{})
		switch {
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%+v: %v", c, err)
		case c.problem == "" && (err != nil || s.StreamName() != c.stream):
			t.Errorf("%+v: %v", c, err)
		}
	}
	for problem, r := range map[string]Reading{
		"advanced.minimumModified": {Advanced: Advanced{MinimumModified: "yesterday"}},
		"advanced.exclude":         {Advanced: Advanced{Exclude: []string{"("}}},
		"addRecordOffset":          func() (r Reading) { r.Parser.AddRecordOffset = "/n"; return r }(),
	} {
		if _, err := NewSettings(Place{Bucket: "b"}, r); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", problem, err)
		}
	}
	for endpoint, ok := range map[string]bool{
		"": true, "http://localhost:9000": true, "https://a.b/c/": true, "file:///data": true, "file:///": true, "file:///with blank/%": true,
		"localhost:9000": false, "a.b": false, "file://data": false, "file:/data": false, "/data": false, "s3://b": false, "http://": false,
	} {
		_, err := NewSettings(Place{Bucket: "b"}, Reading{Advanced: Advanced{Endpoint: endpoint}})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "file:///data") {
			t.Errorf("endpoint %q: %v", endpoint, err)
		}
	}
	for endpoint, problem := range map[string]string{
		"http://localhost:9000": "", "https://minio.example/": "", "file:///data": "", "": "",
		"file://data": "absolute", "file://localhost/data": "absolute", "file:/data": "no URL", "FILE:///data": "no URL", "/data": "no URL", "localhost:9000": "no URL",
		"ftp://h/": "no URL", "http://": "no URL", "http://u:secret@[/": "no URL",
	} {
		_, err := NewSettings(Place{Bucket: "b"}, Reading{Advanced: Advanced{Endpoint: endpoint}})
		if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("endpoint %q: %v, want %s", endpoint, err, problem)
		}
	}
	if _, err := NewSettings(Place{Bucket: "b", MatchKeys: "("}, Reading{}); err == nil {
		t.Error("matchKeys that is no expression is taken")
	}
}

func TestRead_AnotherStream(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(1)})
	c := newCapture(t, memory)
	c.bindings = []protocol.Binding{{Stream: protocol.Stream{Name: "bkt"}, StateKey: "a"}, {Stream: protocol.Stream{Name: "bkt/x"}, StateKey: "b"}}
	c.read().want(t, "beside a stream that there is not", map[string]int{"bkt/a": 1})
	if err := c.source().Check(t.Context(), "", c.bindings[1:]); err == nil || !strings.Contains(err.Error(), "read the stream bkt") {
		t.Errorf("check does not name the right stream: %v", err)
	}
}

// Small objects are fetched many at a time, and their documents stay in the order of the listing.
func TestFetch_ManySmallOnesInOrder(t *testing.T) {
	memory, _ := store()
	files := map[string][]byte{}
	for i := range 300 {
		files[fmt.Sprintf("%03d", i)] = ndjson(1 + i%3)
	}
	put(memory, files)
	var mu sync.Mutex
	now, most := 0, 0
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.Open {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Duration(call.Number%7) * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.change = nil
	o := c.read()
	if !slices.IsSortedFunc(o.documents, func(a, b document) int { return strings.Compare(a.Meta.File, b.Meta.File) }) || len(o.documents) != 600 {
		t.Errorf("%d documents, want 600 in the order of the listing", len(o.documents))
	}
	if most < 32 || most > 64 {
		t.Errorf("%d requests were in flight at most, want up to 64", most)
	}
}

// A large object comes in pinned ranges; what it is made of is the same.
func TestFetch_LargeOneInRanges(t *testing.T) {
	memory, _ := store()
	data := ndjson(20_000)
	put(memory, map[string][]byte{"a": data, "b": ndjson(3)})
	var mu sync.Mutex
	asked := map[[2]int64]string{}
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.Open && call.Key == "a" {
			mu.Lock()
			asked[[2]int64{call.Off, call.N}] = call.Version
			mu.Unlock()
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.change = func(s *Source) {
		s.limits.large, s.limits.rangeSize, s.limits.small = 500_000, 100_000, 10
	}
	o := c.read()
	o.want(t, "in ranges", map[string]int{"bkt/a": 20_000, "bkt/b": 3})
	for i, d := range o.documents[:20_000] {
		if d.Meta.Offset != int64(i) || !strings.Contains(d.raw, fmt.Sprintf(`"row %d of`, i)) {
			t.Fatalf("document %d is %s", i, d.raw)
		}
	}
	covered := int64(0)
	for at, version := range maps.All(asked) {
		if covered += at[1]; version != "1" || at[1] < 0 {
			t.Errorf("asked for %v of version %q, want ranges of the version that was listed", at, version)
		}
	}
	if covered != int64(len(data)) {
		t.Errorf("the ranges cover %d bytes, want %d", covered, len(data))
	}
}

// A hundred thousand objects inside the window: the state stays below 3 MB, and the next sweep opens none.
// bug streams-files-parser 72: Airbyte: a history of files that was full read files again
func TestSweep_HundredThousandObjects(t *testing.T) {
	memory, now := store()
	n := few(few(100_000))
	for i := range n {
		memory.Put(memblob.Entry{Key: fmt.Sprintf("%06d", i), Data: []byte("{}\n"), Modified: now.Add(-time.Duration(i*7919%n) * time.Second)})
	}
	c := newCapture(t, memory)
	c.change = nil
	o := c.read()
	if len(o.documents) != n || len(c.state) > 3_000_000 {
		t.Errorf("%d documents, a state of %d bytes; want %d, and 3 MB at most", len(o.documents), len(c.state), n)
	}
	states := 0
	for _, s := range o.states {
		states += len(s.state)
	}
	opened := memory.Calls(memblob.Open)
	c.read().want(t, "the next sweep", map[string]int{})
	if got := memory.Calls(memblob.Open) - opened; got > 0 {
		t.Errorf("the next sweep opens %d objects", got)
	}
	t.Logf("%d states of %d bytes in all, the last one of %d", len(o.states), states, len(c.state))
}
