package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/estuary/connectors/internal/blob"
)

func at(second int64) time.Time { return time.Unix(second, 0).UTC() }

func object(key string, modified int64, version string) *blob.Object {
	return &blob.Object{Key: key, Modified: at(modified), Version: version, Listed: at(100)}
}

func normal() Rules {
	return Rules{Bucket: "bkt", Lookback: 20 * time.Second, Config: "c", Owns: func(string) bool { return true }}
}

// runner keeps the state.
type runner struct {
	t     *testing.T
	state []byte
}

// start begins a process.
func (r *runner) start(rules Rules) *Machine {
	r.t.Helper()
	m, err := New(r.state, rules)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *runner) save(m *Machine) {
	r.t.Helper()
	if r.state == nil {
		r.state = []byte("{}")
	}
	patch := m.AppendPatch(nil)
	after, err := jsonpatch.MergePatch(r.state, patch)
	if err != nil {
		r.t.Fatalf("patch %s: %v", patch, err)
	}
	r.state = after
}

// holds compares the state.
func (r *runner) holds(want string) {
	r.t.Helper()
	if !jsonpatch.Equal(r.state, []byte(want)) {
		r.t.Errorf("the state is %s, want %s", r.state, want)
	}
}

// sweep lists the objects, reads what is to be read, and returns the keys.
func (r *runner) sweep(m *Machine, objects ...*blob.Object) (keys string) {
	r.t.Helper()
	for {
		for _, o := range objects {
			if o.Key <= m.After() {
				continue
			}
			switch m.Consider(o) {
			case Read:
				m.Begin(o, "")
				m.Done(o)
				keys += o.Key
			case Defer:
				if _, err := m.Deferred(o, Archived); err != nil {
					r.t.Fatal(err)
				}
			case Stop:
				m.End()
				r.save(m)
				return keys
			case Skip:
			}
		}
		end := m.End()
		r.save(m)
		if !end.Again {
			return keys
		}
	}
}

// Keys a, b and c; an object that appears later with the time of one before. B.13 of the reference.
func TestSweep_LateObject(t *testing.T) {
	for lookback, want := range map[time.Duration]string{20 * time.Second: "aa", 0: ""} {
		rules := normal()
		rules.Lookback = lookback
		r := &runner{t: t}
		first := []*blob.Object{object("a", 10, "1"), object("b", 20, "2"), object("c", 30, "3")}
		if got := r.sweep(r.start(rules), first...); got != "abc" {
			t.Errorf("look-back %s: the first sweep reads %q, want abc", lookback, got)
		}
		if got := r.sweep(r.start(rules), first[0], object("aa", 15, "4"), first[1], first[2]); got != want {
			t.Errorf("look-back %s: the second sweep reads %q, want %q", lookback, got, want)
		}
	}
}

func TestState_AfterASweep(t *testing.T) {
	r := &runner{t: t}
	r.sweep(r.start(normal()), object("a", 10, "1"), object("b", 20, "2"), object("c", 31, "3"))
	const want = `{"since":"1970-01-01T00:00:11Z","newest":"1970-01-01T00:00:31Z","sweep":1,"config":"c","seen":{` +
		`"199d849168cc23d5":"99dd5b84ac95ddd0 1970-01-01T00:00:31Z 0","1ba15623af47e810":"2b5bc0267f52a11a 1970-01-01T00:00:20Z 0"}}`
	r.holds(want)
}

// Nothing that is put is younger than the state then, until the clock has caught up.
func TestEnd_TellsThatTheClockWasPutBack(t *testing.T) {
	for state, want := range map[string]time.Duration{`{"since":"1970-01-01T01:01:40Z","sweep":1}`: time.Hour, `{"since":"1970-01-01T00:01:40Z","sweep":1}`: 0, `{}`: 0} {
		r := runner{t: t, state: []byte(state)}
		m := r.start(normal())
		m.Consider(object("a", 99, "1"))
		if end := m.End(); end.Ahead != want {
			t.Errorf("%s: %v ahead, want %v", state, end.Ahead, want)
		}
	}
}

// bug streams-files-parser 3: predecessor: a merge patch left what was to be cleared
func TestPatch_ClearsWhatIsOver(t *testing.T) {
	r := &runner{t: t}
	m := r.start(normal())
	a := object("a", 90, "1")
	m.Consider(a)
	m.Begin(a, "")
	m.At("cursor")
	r.save(m)
	const inFile = `{"newest":"1970-01-01T00:01:30Z","started":"1970-01-01T00:01:40Z","path":"a","version":"1","config":"c","at":"cursor"}`
	r.holds(inFile)
	m.Done(a)
	m.End()
	patch := string(m.AppendPatch(nil))
	for _, name := range []string{"started", "path", "version", "at"} {
		if !strings.Contains(patch, `"`+name+`":null`) {
			t.Errorf("the patch at the end of a sweep does not clear %s: %s", name, patch)
		}
	}
}

// The version before is put back while a new one is half read, and was deleted when the process came back.
func TestBegin_ForgetsTheVersionBefore(t *testing.T) {
	r := &runner{t: t}
	r.sweep(r.start(normal()), object("a", 90, "1"))
	m := r.start(normal())
	b := object("a", 95, "2")
	m.Consider(b)
	m.Begin(b, "")
	m.At("1")
	r.save(m)
	m = r.start(normal())
	if key, version, cursor, ok := m.Resume(); key != "a" || version != "2" || cursor != "1" || !ok {
		t.Fatalf("resuming at %q %q %q %v, want a, 2, 1", key, version, cursor, ok)
	}
	m.Gone("a")
	r.sweep(m)
	if got := r.sweep(r.start(normal()), object("a", 96, "1")); got != "a" {
		t.Errorf("the version that was put back is not read: %q", got)
	}
}

func TestResume_AnotherConfigurationStartsOver(t *testing.T) {
	r := &runner{t: t}
	m := r.start(normal())
	a := object("a", 90, "1")
	m.Consider(a)
	m.Begin(a, "")
	m.At("1")
	r.save(m)
	rules := normal()
	rules.Config = "d"
	m = r.start(rules)
	if key, version, cursor, ok := m.Resume(); key != "a" || version != "" || cursor != "" || !ok || !m.Restarted() {
		t.Errorf("under another configuration resuming at %q %q %q %v, want a from its start", key, version, cursor, ok)
	}
}

// bug streams-files-parser 59: estuary/connectors history: a state of the other mode of ascendingKeys
// bug streams-files-parser 66: predecessor: a partly read last file was marked complete
func TestAscending_ToAndFro(t *testing.T) {
	ascending := normal()
	ascending.Ascending = true
	r := &runner{t: t}
	a, b, c := object("a", 10, "1"), object("b", 20, "2"), object("c", 30, "3")
	if got := r.sweep(r.start(ascending), a, b); got != "ab" {
		t.Fatalf("the first sweep reads %q, want ab", got)
	}
	r.holds(`{"newest":"1970-01-01T00:00:20Z","path":"b","config":"c"}`)
	if got := r.sweep(r.start(ascending), a, object("aa", 90, "9"), b, c); got != "c" {
		t.Errorf("the second sweep reads %q, want c alone", got)
	}
	m := r.start(ascending) // dies inside d
	d := object("d", 40, "4")
	m.Consider(d)
	m.Begin(d, "")
	m.At("1")
	r.save(m)
	m = r.start(ascending)
	if _, version, cursor, ok := m.Resume(); version != "4" || cursor != "1" || !ok {
		t.Errorf("a partly read file is resumed at %q %q %v", version, cursor, ok)
	}

	// To the other mode: the file is read to its end, what comes after it is read, of the rest what is younger than the youngest before.
	m = r.start(normal())
	if _, _, cursor, ok := m.Resume(); cursor != "1" || !ok {
		t.Fatalf("a partly read file is not resumed in the other mode")
	}
	m.Begin(d, "1")
	m.Done(d)
	all := []*blob.Object{a, object("aa", 90, "9"), b, c, d, object("e", 35, "5")}
	if got := r.sweep(m, all...); got != "eaa" {
		t.Errorf("after ascending keys the sweeps read %q, want e, then aa", got)
	}
	if got := r.sweep(r.start(normal()), all...); got != "" {
		t.Errorf("and then %q, want nothing", got)
	}

	// And back: nothing is read again, the next sweep begins behind the greatest key.
	if got := r.sweep(r.start(ascending), all...); got != "" {
		t.Errorf("back with ascending keys %q is read, want nothing", got)
	}
	if got, want := string(r.state), `"path":"e"`; !strings.Contains(got, want) || strings.Contains(got, "since") {
		t.Errorf("back with ascending keys the state is %s, want %s", got, want)
	}
	if got := r.sweep(r.start(ascending), append(all, object("f", 36, "6"))...); got != "f" {
		t.Errorf("the sweep after that reads %q, want f", got)
	}
}

func TestHorizon_YoungObjectsWait(t *testing.T) {
	for _, ascending := range []bool{false, true} {
		rules := normal()
		rules.Horizon, rules.Ascending = 5*time.Second, ascending
		r := &runner{t: t}
		a, b, c := object("a", 90, "1"), object("b", 96, "2"), object("c", 91, "3")
		want := "ac"
		if ascending {
			want = "a" // c has a greater key than one that waits
		}
		if got := r.sweep(r.start(rules), a, b, c); got != want {
			t.Errorf("ascending keys %v: %q is read, want %q", ascending, got, want)
		}
		for _, o := range []*blob.Object{a, b, c} {
			o.Listed = at(110)
		}
		want = strings.Trim("abc", want)
		if got := r.sweep(r.start(rules), a, b, c); got != want {
			t.Errorf("ascending keys %v: then %q is read, want %q", ascending, got, want)
		}
	}
}

func TestRetry_WhenItIsReadable(t *testing.T) {
	r := &runner{t: t}
	frozen, denied, faulty := object("a", 10, "1"), object("b", 10, "2"), object("c", 90, "3")
	frozen.Archived = true
	m := r.start(normal())
	if v := m.Consider(frozen); v != Defer {
		t.Errorf("an archived object: verdict %v, want Defer", v)
	}
	for o, why := range map[*blob.Object]Why{frozen: Archived, denied: Denied, faulty: Faulty} {
		m.Consider(o)
		if _, err := m.Deferred(o, why); err != nil {
			t.Fatal(err)
		}
	}
	m.End()
	r.save(m)
	m = r.start(normal())
	if got := r.sweep(m, frozen, denied, faulty); got != "b" {
		t.Errorf("the next run reads %q, want the one that was denied, once more", got)
	}
	for _, c := range []struct {
		what   string
		change func(rules *Rules)
		want   string
	}{
		{"nothing changed", func(*Rules) {}, ""},
		{"it was restored", func(*Rules) { frozen.Archived = false }, "a"},
		{"another configuration", func(rules *Rules) { rules.Config = "d" }, "c"},
		{"nothing is left", func(rules *Rules) { rules.Config = "e" }, ""},
	} {
		rules := normal()
		c.change(&rules)
		if got := r.sweep(r.start(rules), frozen, denied, faulty); got != c.want {
			t.Errorf("%s: %q is read, want %q", c.what, got, c.want)
		}
	}
}

func TestRetry_Full(t *testing.T) {
	r := &runner{t: t}
	m := r.start(normal())
	fill := func(n int, why Why) (warnings int, err error) {
		for i := range n {
			o := object(fmt.Sprintf("%s%06d", why, i), 10, "1")
			m.Consider(o)
			full, err := m.Deferred(o, why)
			if err != nil {
				return warnings, err
			}
			if full {
				warnings++
			}
		}
		return warnings, nil
	}
	if n, err := fill(maxRetry+100, Archived); n != 1 || err != nil || len(m.s.retry) != maxRetry {
		t.Errorf("too many archived objects: %d warnings, %v, %d wait; want 1 warning and %d", n, err, len(m.s.retry), maxRetry)
	}
	if _, err := fill(maxRetry, Denied); err != nil || len(m.s.retry) != maxRetry {
		t.Errorf("objects that are denied take the places of archived ones: %v, %d wait", err, len(m.s.retry))
	}
	if _, err := fill(1, Faulty); err == nil {
		t.Error("one more that is not archived must fail")
	}
	m.End()
	r.save(m)
	if got, size := len(r.state), m.Size(); got > size || got < size*7/10 {
		t.Errorf("the state takes %d bytes, estimated are %d", got, size)
	}
}

// One hundred thousand objects inside the window: the state stays small, since moves, and nothing is read again.
func TestBound_HundredThousandObjects(t *testing.T) {
	const n = 100_000
	rules := normal()
	rules.Lookback = 72 * time.Hour
	r := &runner{t: t}
	objects := make([]*blob.Object, n)
	for i := range objects {
		o := object(fmt.Sprintf("%07d", i), int64(i)*7919%n, fmt.Sprint("v", i)) // times are not in the order of keys
		o.Modified, o.Listed = o.Modified.Add(300*time.Hour+time.Nanosecond), at(n).Add(300*time.Hour)
		objects[i] = o
	}
	m := r.start(rules)
	for _, o := range objects {
		if m.Consider(o) != Read {
			t.Fatalf("%s is not read", o.Key)
		}
		m.Begin(o, "")
		m.Done(o)
	}
	end := m.End()
	r.save(m)
	if !end.Short || end.Left <= 0 || end.Left > n*time.Second {
		t.Errorf("the look-back is cut (%v) to %s, want it told", end.Short, end.Left)
	}
	if len(r.state) > 3_000_000 || len(r.state) > m.Size() {
		t.Errorf("the state takes %d bytes (estimated: %d), want 3 MB at most", len(r.state), m.Size())
	}
	if got := r.sweep(r.start(rules), objects...); got != "" {
		t.Errorf("the next sweep reads %.100s", got)
	}
	t.Logf("state: %d bytes, look-back left: %s", len(r.state), end.Left)
}

func TestNew_RefusesStrangeStates(t *testing.T) {
	for _, state := range []string{`[]`, `{"since":"yesterday"}`, `{"seen":{"x":"0 1970-01-01T00:00:20Z 0"}}`, `{"seen":{"0a":"zz"}}`, `{"seen":{"0a":"0 now 1"}}`, `{"seen":{"0a":"0 1970-01-01T00:00:20Z x"}}`} {
		if _, err := New([]byte(state), normal()); err == nil {
			t.Errorf("the state %s is taken", state)
		}
	}
	// bug streams-files-parser 2: estuary/connectors history: an absent state crashed
	for _, state := range []string{``, ` `, `{}`, `{"since":null,"seen":null,"at":null}`} {
		if _, err := New([]byte(state), normal()); err != nil {
			t.Errorf("the state %q: %v", state, err)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"since":"1970-01-01T00:00:11Z","newest":"1970-01-01T00:00:31Z","started":"1970-01-01T00:00:40Z","sweep":1,"path":"a","version":"1","at":"x","config":"c","seen":{"1ee2cb8e3b1e56d6":"bb1ef0a0a4d7b1ea 1970-01-01T00:00:20Z 0"},"retry":{"k":{"version":"v","why":"archived"}}}`))
	f.Add([]byte(`{"next":"0001-01-01T00:00:00Z","seen":{"0":"0 9999-12-31T23:59:59.5Z -1"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := New(raw, normal())
		if err != nil {
			return
		}
		m.Consider(object("k", 50, "v"))
		m.Begin(object("k", 50, "v"), "")
		m.Done(object("k", 50, "v"))
		m.End()
		if _, err := jsonpatch.MergePatch([]byte("{}"), m.AppendPatch(nil)); err != nil {
			t.Errorf("the patch is no JSON: %v", err)
		}
	})
}
