package filesourcetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/servetest"
)

// Service drives the built connector over a fake of its store, through whatever a store does to a reader.
func Service(t *testing.T, s Store) {
	t.Run("DiscoversAndReads", s.discoversAndReads)
	t.Run("TailsNewObjects", s.tails)
	t.Run("KilledAtEveryState", s.killedAtEveryState)
	t.Run("RangesPartitionTheObjects", s.ranges)
	t.Run("RequesterPays", s.requesterPays)
	t.Run("Anonymous", s.anonymous)
	t.Run("WrongCredentials", s.wrongCredentials)
	t.Run("Archived", s.archived)
	t.Run("OneObjectIsForbidden", s.forbidden)
	t.Run("DeletedAfterTheListing", s.deleted)
	t.Run("ReplacedAfterTheListing", s.replaced)
	t.Run("CutBodies", s.cutBodies)
}

func (s Store) discoversAndReads(t *testing.T) {
	v := s.serve(t, Access{}, nil)
	v.put("a b+ü.json", "1", "2")
	v.memory.Put(memblob.Entry{Key: "c/d.csv", Data: []byte("Bike ID\n7\n")})
	v.put("e.json", "3")
	v.put("f.json") // of no bytes
	if o := v.run("check", v.config(""), nil, nil); !strings.HasPrefix(o.status, "SUCCEEDED") || o.code != 0 {
		t.Errorf("check: %s", o.status)
	}
	if o := v.run("discover", v.config(""), nil, nil); !strings.Contains(o.schema, `"n":{"type":["string","null"]},"Bike ID":{"type":["string","null"]}`) || o.code != 0 {
		t.Errorf("discover: %s", o.schema)
	}
	o := v.read(v.config(""), nil)
	v.want(o.records, "a b+ü.json 0 1", "a b+ü.json 1 2", "c/d.csv 0 ", "e.json 0 3")
	if len(o.states) != 1 || o.states[0].records != len(o.records) {
		t.Errorf("a small read has %d states, want one, at its end", len(o.states))
	}
	opened := v.server.Requests(servetest.Get)
	if again := v.read(v.config(""), o.last()); len(again.records) > 0 || len(again.states) != 1 || v.server.Requests(servetest.Get) != opened {
		t.Errorf("the second run reads %q, writes %d states, and has opened %d objects", again.records, len(again.states), v.server.Requests(servetest.Get)-opened)
	}
}

// want compares records.
func (v *service) want(records []string, want ...string) {
	v.Helper()
	if got := ids(records); !slices.Equal(got, want) {
		v.Errorf("read %q, want %q", got, want)
	}
}

func (s Store) tails(t *testing.T) {
	v := s.serve(t, Access{}, nil)
	v.put("a.json", "1")
	p := v.start("read", v.config(""), catalog(`"estuary.dev/tail":true`), nil)
	covered := func(n int) func(*output) bool {
		return func(o *output) bool { return len(o.states) > 0 && o.states[len(o.states)-1].records == n }
	}
	if !p.until(covered(1)) {
		t.Fatalf("it ended: %q", p.output.errors)
	}
	v.put("0.json", "2") // before the place of the sweep that is over
	v.put("b.json", "3")
	if !p.until(covered(3)) {
		t.Fatalf("it ended: %q", p.output.errors)
	}
	v.put("a.json", "4")
	if !p.until(covered(4)) {
		t.Fatalf("it ended: %q", p.output.errors)
	}
	o := p.stop()
	v.want(o.records, "a.json 0 1", "0.json 0 2", "b.json 0 3", "a.json 0 4")
	if o.code != 0 || p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("stopped, it ends with %s", p.cmd.ProcessState)
	}
}

// Whatever state a process was killed at, the next one goes on behind it, with the same records in the same order, also inside files of every way of resuming.
func (s Store) killedAtEveryState(t *testing.T) {
	v := s.serve(t, Access{}, nil)
	text := strings.Repeat("x", 1000)
	var rows []string
	for i := range 9_000 {
		rows = append(rows, fmt.Sprintf("%d %s", i, text))
	}
	v.put("a.json", rows...)
	v.memory.Put(memblob.Entry{Key: "b.csv.gz", Data: zipped(t, []byte("n\n"+strings.Join(rows[:5_000], "\n")))})
	v.memory.Put(memblob.Entry{Key: "c.json", Data: append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(ndjson(rows[:5_000]...)), []byte("\n"), []byte(","))...), ']')})
	for i := range 5 {
		v.put(fmt.Sprintf("d/%d.json", i), "1", "2")
	}
	whole := v.read(v.config(""), nil)
	if len(whole.records) != 19_010 {
		t.Fatalf("%d records, want 19010", len(whole.records))
	}
	inside := 0
	for i := range whole.states {
		p := v.start("read", v.config(""), catalog(""), nil)
		if !p.until(func(o *output) bool { return len(o.states) > i }) {
			// States may come after some seconds, too, so that a slow run has some more.
			t.Logf("a run has %d states, the first one had %d", len(p.output.states), len(whole.states))
			p.wait()
			continue
		}
		p.kill()
		at := p.output.states[i]
		if bytes.Contains(at.state, []byte(`"at"`)) {
			inside++
		}
		rest := v.read(v.config(""), at.file())
		if got := slices.Concat(p.output.records[:at.records], rest.records); !slices.Equal(got, whole.records) {
			t.Errorf("killed at state %d, after %d records: %d records in all, want %d", i, at.records, len(got), len(whole.records))
		}
	}
	t.Logf("killed at %d states, %d of them inside files", len(whole.states), inside)
	if len(whole.states) < 5 || inside < 4 {
		t.Errorf("killed at %d states, %d of them inside files: too few to tell anything", len(whole.states), inside)
	}
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// Each object belongs to one process of a split capture, and the others do not open it.
func (s Store) ranges(t *testing.T) {
	var mu sync.Mutex
	opened := map[string]int{}
	v := s.serve(t, Access{}, func(_ *memblob.Bucket, r servetest.Request) servetest.Answer {
		if r.Op == servetest.Get {
			mu.Lock()
			defer mu.Unlock()
			opened[r.Key]++
		}
		return servetest.Answer{}
	})
	var want []string
	for i := range 40 {
		key := fmt.Sprintf("%02d.json", i)
		v.put(key, "1")
		want = append(want, key+" 0 1")
	}
	var got []string
	for _, r := range []string{`"begin":"00000000","end":"3fffffff"`, `"begin":"40000000","end":"bfffffff"`, `"begin":"c0000000","end":"ffffffff"`} {
		o := v.run("read", v.config(""), catalog(`"estuary.dev/range":{`+r+`}`), nil)
		if o.code != 0 || len(o.records) == 0 || len(o.records) > 35 {
			t.Errorf("%s: exit %d, %d records", r, o.code, len(o.records))
		}
		got = append(got, ids(o.records)...)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("together they read %q", got)
	}
	for key, n := range opened {
		if n != 1 {
			t.Errorf("%s was opened %d times", key, n)
		}
	}
}

func (s Store) requesterPays(t *testing.T) {
	v := s.serve(t, Access{Pays: true}, nil)
	v.put("a.json", "1")
	if o := v.run("check", v.config(""), nil, nil); !strings.HasPrefix(o.status, "FAILED") || !strings.Contains(o.status, "advanced.requesterPays") || o.code != 0 {
		t.Errorf("check: %s", o.status)
	}
	if o := v.run("read", v.config(""), catalog(""), nil); o.code != 1 || !says(o.errors, "config_error", "advanced.requesterPays") {
		t.Errorf("read: exit %d, %q", o.code, o.errors)
	}
	v.want(v.read(v.config(`"requesterPays":true`), nil).records, "a.json 0 1")
}

func (s Store) anonymous(t *testing.T) {
	v := s.serve(t, Access{Public: true}, nil)
	v.put("a.json", "1")
	config := v.configAs("", "")
	if o := v.run("check", config, nil, nil); !strings.HasPrefix(o.status, "SUCCEEDED") {
		t.Errorf("check: %s", o.status)
	}
	v.want(v.read(config, nil).records, "a.json 0 1")
	private := s.serve(t, Access{}, nil)
	if o := private.run("check", private.configAs("", ""), nil, nil); !strings.HasPrefix(o.status, "FAILED") {
		t.Errorf("check of a bucket that is not public: %s", o.status)
	}
}

func (s Store) wrongCredentials(t *testing.T) {
	for _, wrong := range s.Wrong {
		v := s.serve(t, wrong.Access, nil)
		v.put("a.json", "1")
		login := strings.ReplaceAll(wrong.Login, "ENDPOINT", v.server.Endpoint())
		if login == "" {
			login = v.Login(v.server.Endpoint())
		}
		config := v.configAs(login, "")
		o := v.run("check", config, nil, nil)
		if sentence, failed := strings.CutPrefix(o.status, "FAILED: "); !failed || !strings.Contains(sentence, wrong.Cure) || strings.ContainsAny(sentence, "\n{") || o.code != 0 {
			t.Errorf("%s: check: exit %d, %s", wrong.Name, o.code, o.status)
		}
		o = v.run("read", config, catalog(""), nil)
		if o.code != 1 || len(o.errors) != 1 || !says(o.errors, "config_error", wrong.Cure) || len(o.records) > 0 {
			t.Errorf("%s: read: exit %d, %q", wrong.Name, o.code, o.errors)
		}
	}
}

func (s Store) archived(t *testing.T) {
	v := s.serve(t, Access{}, nil)
	v.put("a.json", "1")
	v.memory.Put(memblob.Entry{Key: "b.json", Data: ndjson("2"), Class: s.NoClass})
	v.put("d.json", "4")
	if !s.Archives {
		v.want(v.read(v.config(""), nil).records, "a.json 0 1", "b.json 0 2", "d.json 0 4")
		return
	}
	v.memory.Put(memblob.Entry{Key: "c.json", Data: ndjson("3"), Class: "GLACIER", Archived: true})
	o := v.read(v.config(""), nil)
	v.want(o.records, "a.json 0 1", "b.json 0 2", "d.json 0 4")
	if !says(o.logs, "WARN", "trips/c.json", "archived") {
		t.Errorf("nothing tells of the archived object: %q", o.logs)
	}
	v.memory.Restore("c.json")
	v.want(v.read(v.config(""), o.last()).records, "c.json 0 3")
}

func (s Store) forbidden(t *testing.T) {
	var allowed atomic.Bool
	v := s.serve(t, Access{}, func(_ *memblob.Bucket, r servetest.Request) servetest.Answer {
		if r.Key == "b.json" && r.Op != servetest.List && !allowed.Load() {
			return servetest.Answer{Status: 403, Code: "AccessDenied"}
		}
		return servetest.Answer{}
	})
	v.put("a.json", "1")
	v.put("b.json", "2")
	v.put("c.json", "3")
	o := v.read(v.config(""), nil)
	v.want(o.records, "a.json 0 1", "c.json 0 3")
	if !says(o.logs, "WARN", "trips/b.json", "grant ") {
		t.Errorf("nothing tells of the object that may not be read: %q", o.logs)
	}
	allowed.Store(true)
	v.want(v.read(v.config(""), o.last()).records, "b.json 0 2")
}

// once calls f before the first opening of an object is answered.
func once(key string, f func(*memblob.Bucket)) func(*memblob.Bucket, servetest.Request) servetest.Answer {
	var first sync.Once
	return func(memory *memblob.Bucket, r servetest.Request) servetest.Answer {
		if r.Key == key && r.Op == servetest.Get {
			first.Do(func() { f(memory) })
		}
		return servetest.Answer{}
	}
}

func (s Store) deleted(t *testing.T) {
	v := s.serve(t, Access{}, once("b.json", func(memory *memblob.Bucket) { memory.Delete("b.json") }))
	v.put("a.json", "1")
	v.put("b.json", "2")
	v.put("c.json", "3")
	o := v.read(v.config(""), nil)
	v.want(o.records, "a.json 0 1", "c.json 0 3")
	if !says(o.logs, "WARN", "trips/b.json", "gone") {
		t.Errorf("nothing tells of the object that is gone: %q", o.logs)
	}
	v.put("b.json", "4")
	v.want(v.read(v.config(""), o.last()).records, "b.json 0 4")
}

func (s Store) replaced(t *testing.T) {
	v := s.serve(t, Access{}, once("b.json", func(memory *memblob.Bucket) { memory.Put(memblob.Entry{Key: "b.json", Data: ndjson("5", "6")}) }))
	v.put("a.json", "1")
	v.put("b.json", "2")
	v.put("c.json", "3")
	o := v.read(v.config(""), nil)
	v.want(o.records, "a.json 0 1", "b.json 0 5", "b.json 1 6", "c.json 0 3")
	if !says(o.logs, "WARN", "trips/b.json", "replaced") {
		t.Errorf("nothing tells of the object that was replaced: %q", o.logs)
	}
	v.want(v.read(v.config(""), o.last()).records)
}

// Bodies that break go on at the byte where they broke, those of small objects, which are fetched whole, and those of large ones.
func (s Store) cutBodies(t *testing.T) {
	var asked, cuts atomic.Int32
	v := s.serve(t, Access{}, func(_ *memblob.Bucket, r servetest.Request) servetest.Answer {
		if r.Op != servetest.Get || asked.Add(1)%3 == 0 {
			return servetest.Answer{}
		}
		cuts.Add(1)
		return servetest.Answer{Cut: 150_000}
	})
	const small, large = 20_000, 80_000
	var rows, want []string
	for i := range large {
		rows = append(rows, fmt.Sprintf("row %d", i))
	}
	for key, n := range map[string]int{"a.json": small, "b.json": large} {
		v.put(key, rows[:n]...)
		for i, row := range rows[:n] {
			want = append(want, fmt.Sprintf("%s %d %s", key, i, row))
		}
	}
	got := ids(v.read(v.config(""), nil).records)
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	if cuts.Load() < 4 {
		t.Errorf("%d bodies of %d were cut: too few to tell anything", cuts.Load(), asked.Load())
	}
}
