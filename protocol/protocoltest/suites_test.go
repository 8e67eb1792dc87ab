package protocoltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var faulty = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "protocoltest-faulty-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "faulty")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/faulty").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := faulty(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// log is what the faulty source captures, and what it amounts to.
type log struct {
	path  string
	round int
	items map[int]string
	pairs map[string]int
	notes []string
}

func (l *log) write(text string) error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (l *log) change(rows int) error {
	var b strings.Builder
	add := func(stream, format string, args ...any) {
		fmt.Fprintf(&b, `{"stream":%q,"doc":%s}`+"\n", stream, fmt.Sprintf(format, args...))
	}
	l.round++
	for i := range rows {
		id := l.round*100 + i
		l.items[id] = fmt.Sprint("new in ", l.round)
		add("items", `{"id":%d,"text":%q,"_meta":{"op":"c"}}`, id, l.items[id])
		key := fmt.Sprint("é", id)
		l.pairs[key] = id
		add("pairs", `{"a":"x","b":%q,"n":%d,"_meta":{"op":"c"}}`, key, id)
		note := fmt.Sprint("line ", i%2)
		l.notes = append(l.notes, note)
		add("notes", `{"line":%q,"_meta":{"op":"c"}}`, note)
	}
	if l.round > 1 {
		l.items[100] = fmt.Sprint("changed in ", l.round)
		add("items", `{"id":100,"text":%q,"_meta":{"op":"u"}}`, l.items[100])
		key := fmt.Sprint("é", 99+l.round)
		delete(l.pairs, key)
		add("pairs", `{"a":"x","b":%q,"n":0,"_meta":{"op":"d"}}`, key)
		before := l.notes[0]
		l.notes[0] = fmt.Sprint("changed in ", l.round)
		add("notes", `{"line":%q,"_meta":{"op":"u","before":{"line":%q}}}`, l.notes[0], before)
		gone := l.notes[len(l.notes)-1]
		l.notes = l.notes[:len(l.notes)-1]
		add("notes", `{"line":%q,"_meta":{"op":"d"}}`, gone)
	}
	return l.write(b.String())
}

func (l *log) rows() map[string][]json.RawMessage {
	all := map[string][]json.RawMessage{}
	for id, text := range l.items {
		all["items"] = append(all["items"], fmt.Appendf(nil, `{"id":%d,"text":%q}`, id, text))
	}
	for key, n := range l.pairs {
		all["pairs"] = append(all["pairs"], fmt.Appendf(nil, `{"a":"x","b":%q,"n":%d}`, key, n))
	}
	for _, line := range l.notes {
		all["notes"] = append(all["notes"], fmt.Appendf(nil, `{"line":%q}`, line))
	}
	return all
}

// toy makes a fixture of the faulty source.
func toy(tb testing.TB, fault string) *Fixture {
	tb.Helper()
	binary, err := faulty()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	l := &log{path: filepath.Join(dir, "log"), items: map[int]string{}, pairs: map[string]int{}}
	if err := l.change(10); err != nil {
		tb.Fatal(err)
	}
	// The fault reaches the process through a script, so that fixtures can run at the same time.
	script := filepath.Join(dir, "source-toy")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nFAULT='%s' exec %s \"$@\"\n", fault, binary), 0o700); err != nil { //nolint:gosec // it is run
		tb.Fatal(err)
	}
	config := func(path, password string) json.RawMessage {
		return fmt.Appendf(nil, `{"log":%q,"password":%q}`, path, password)
	}
	return &Fixture{
		Binary: script, Config: config(l.path, "open-sesame"), Secrets: []string{"open-sesame", "open-barley"}, Patience: 20 * time.Second,
		Refused: []json.RawMessage{config(l.path, "open-barley"), config(l.path+"?", "open-sesame")},
		Streams: []Stream{
			{Name: "items", Namespace: "fake", Key: []string{"id"}}, {Name: "pairs", Namespace: "fake", Key: []string{"a", "b"}}, {Name: "notes", Namespace: "fake"},
		},
		Change: func(context.Context) error { return l.change(3) },
		Rows:   func(context.Context) (map[string][]json.RawMessage, error) { return l.rows(), nil },
		Grow: func(context.Context) error {
			var b strings.Builder
			for i := range 1000 {
				id := 1000000 + i
				l.items[id] = strings.Repeat("x", 8000)
				fmt.Fprintf(&b, `{"stream":"items","doc":{"id":%d,"text":%q,"_meta":{"op":"c"}}}`+"\n", id, l.items[id])
			}
			return l.write(b.String())
		},
		Void: func(context.Context) error {
			l.round++
			l.items = map[int]string{100: fmt.Sprint("again in ", l.round)}
			return l.write(fmt.Sprintf(`{"stream":"items","void":true}`+"\n"+`{"stream":"items","doc":{"id":100,"text":%q,"_meta":{"op":"c"}}}`+"\n", l.items[100]))
		},
	}
}

func TestSource_FindsNothingInASoundOne(t *testing.T) {
	Source(t, func(tb testing.TB) *Fixture { return toy(tb, "") })
}

// Each suite finds what it is there for. A fault is the name of what the faulty source does wrong.
func TestSuites_Bite(t *testing.T) {
	cases := []struct{ suite, fault, want string }{
		{"PyAirbyte", "deaf to SIGTERM after an answer", "still runs after 10s"},
		{"PyAirbyte", "exit code 3 after a read", "exit code 3"},
		{"PyAirbyte", "LEGACY states", `type "LEGACY"`},
		{"PyAirbyte", "trips over null in a state", "exit code 1"},
		{"PyAirbyte", "forgets its state", "nothing had changed"},
		{"PyAirbyte", "loses a line after a resume", "lacks"},
		{"PyAirbyte", "brings a line twice after a resume", "times, want"},
		{"Platform", "secret in a log", "a secret of the config is printed"},
		{"PyAirbyte", "no namespace in RECORDs", "not a stream of the source"},
		{"PyAirbyte", "no STATE of notes", "got no STATE"},
		{"Platform", "banner", "no JSON object"},
		{"Platform", "long preamble", "first 10 lines"},
		{"Platform", "unknown member in CATALOG", "is_resumeable"},
		{"Platform", "counts one too many", "since the one before"},
		{"Platform", "no count", "has no recordCount"},
		{"Platform", "LEGACY states", "want STREAM"},
		{"Platform", "a RECORD of another stream", "not in the catalog"},
		{"Platform", "no STARTED", `from status ""`},
		{"Platform", "no RUNNING", `while its status is "STARTED"`},
		{"Platform", "no last status", "want COMPLETE"},
		{"Platform", "a RECORD after the last STATE", "1 RECORDs after its last STATE"},
		{"Platform", "no STATE of notes", "or no STATE"},
		{"Platform", "a value of another type", "does not fit its schema"},
		{"Platform", "an undeclared field", "does not declare"},
		{"Platform", "a null key", "no plain value for its key"},
		{"Platform", "half a line at the end", "in the middle of a line"},
		{"Platform", "a patch for a plain runner", "merge patch"},
		{"AcceptanceSpec", "two specs", "2 SPECs"},
		{"AcceptanceSpec", "secret not marked", "airbyte_secret"},
		{"AcceptanceSpec", "two equal orders", "same order"},
		{"AcceptanceSpec", "closed spec", "additionalProperties"},
		{"AcceptanceSpec", "refuses unknown flags", "exit code 64"},
		{"AcceptanceCheck", "takes any password", "want FAILED"},
		{"AcceptanceCheck", "failed without a reason", "does not say why"},
		{"AcceptanceCheck", "exit code 1 after FAILED", "exit code 1"},
		{"AcceptanceDiscovery", "hides a stream", "does not offer fake.notes"},
		{"AcceptanceDiscovery", "reference in a schema", "keyword $ref"},
		{"AcceptanceDiscovery", "key that is not there", "is not in json_schema"},
		{"AcceptanceRead", "one time for all", "emitted_at"},
		{"AcceptanceRead", "takes any mode", "no TRACE ERROR"},
		{"AcceptanceRead", "passes over unknown streams", "no TRACE ERROR"},
		{"AcceptanceRead", "one unknown stream stops all", "want it read"},
		{"AcceptanceRead", "exit code 0 after an error", "want exit code 1"},
		{"AcceptanceRead", "a log line after the error", "the last line is no TRACE ERROR"},
		{"AcceptanceIncremental", "forgets its state", "nothing had changed"},
		{"AcceptanceIncremental", "loses a line after a resume", "lacks"},
		{"AcceptanceIncremental", "brings a line twice after a resume", "times, want"},
		{"Meltano", "line without type", "without a type"},
		{"Meltano", "much on stderr", "still runs"},
		{"Meltano", "data beside a STREAM state", "also has data"},
		{"FIFO", "opens its inputs twice", "still runs"},
		{"FIFO", "asks for the size of its inputs", "check with the config in a FIFO"},
		{"MixedAges", "starts at the newest position", "lacks"},
		{"MixedAges", "a patch for a plain runner", "merge patch"},
		{"Extended", "no patch in a STATE", "no merge patch"},
		{"Extended", "half a patch", "disagree about what streams share"},
		{"Extended", "deaf to projections", "a projection moves it"},
		{"Extended", "forgets its state", "nothing had changed"},
		{"Range", "deaf to ranges", "both halves"},
		{"Range", "exclusive range", "neither half"},
		{"FlowUnary", "silent on an empty stdin", "want exit code 2"},
		{"FlowUnary", "unknown member in spec", "version"},
		{"FlowUnary", "validated without namespaces", "as discovered"},
		{"FlowUnary", "state in applied", "state"},
		{"FlowUnary", "takes any password", "want no response"},
		{"FlowCapture", "no opened", `the response to opened is "sourcedSchema"`},
		{"FlowCapture", "no sourcedSchema", "before a sourcedSchema"},
		{"FlowCapture", "open sourcedSchema", "not as the protocol has it"},
		{"FlowCapture", "unknown member in captured", "uuid"},
		{"FlowCapture", "a document with an undeclared field", "does not fit its sourcedSchema"},
		{"FlowCapture", "a document after the last checkpoint", "1 documents after the last checkpoint"},
		{"FlowCapture", "deaf to the end of stdin", "want exit code 0"},
		{"FlowResume", "checkpoint before its documents", "lacks"},
		{"FlowResume", "doubles after a resume", "times, want"},
		{"FlowResume", "replaces its state by half of it", "times, want"},
		{"FlowResume", "takes no number for zero", "although all were acknowledged"},
		{"FlowEnds", "deaf to the end of stdin", "the end of stdin in the middle of a capture"},
		{"FlowEnds", "a document after the last checkpoint", "documents after the last checkpoint"},
		{"FlowReset", "no reset", "waiting until the rows after a reset have come"},
		{"FlowReset", "reset for everybody", "did not ask for it"},
		{"FlowReset", "reset in the middle of a checkpoint", "in the middle of a checkpoint"},
		{"StopLive", "a RECORD after SIGTERM", "1 RECORDs of fake.items after its last STATE"},
		{"StopLive", "half a line at the end", "in the middle of a line"},
		{"StopIdle", "no last status", "want COMPLETE or INCOMPLETE"},
		{"StopBlocked", "waits for its reader after SIGTERM", "still runs after 5s"},
	}
	suites := SourceSuites()
	for _, suite := range suites {
		if !slices.ContainsFunc(cases, func(c struct{ suite, fault, want string }) bool { return c.suite == suite.Name }) {
			t.Errorf("no fault is tried on suite %s", suite.Name)
		}
	}
	const atOnce = 8 // they mostly wait
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	findings := make([][]string, len(cases))
	for i, c := range cases {
		f := toy(t, c.fault)
		f.Patience = 8 * time.Second
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			findings[i] = suites[slices.IndexFunc(suites, func(s Suite) bool { return s.Name == c.suite })].Run(t.Context(), f)
		})
	}
	running.Wait()
	for i, c := range cases {
		if !strings.Contains(strings.Join(findings[i], "\n"), c.want) {
			t.Errorf("suite %s, fault %q: found %q, want something with %q", c.suite, c.fault, findings[i], c.want)
		}
	}
}
