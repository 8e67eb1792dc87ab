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

var faultySink = sync.OnceValues(func() (string, error) {
	binary, err := faulty() // its folder is removed in the end
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(binary), "faultysink")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/faultysink").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// toySink makes a fixture of the faulty sink.
func toySink(tb testing.TB, fault string, staged bool) *SinkFixture {
	tb.Helper()
	binary, err := faultySink()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	path, script := filepath.Join(dir, "tables"), filepath.Join(dir, "materialize-toy")
	// The fault reaches the process through a script, so that fixtures can run at the same time.
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nFAULT='%s' exec %s \"$@\"\n", fault, binary), 0o700); err != nil { //nolint:gosec // it is run
		tb.Fatal(err)
	}
	config := func(password string) json.RawMessage {
		return fmt.Appendf(nil, `{"path":%q,"staged":%v,"password":%q}`, path, staged, password)
	}
	return &SinkFixture{
		Binary: script, Config: config("open-sesame"), Secrets: []string{"open-sesame", "open-barley"}, Refused: []json.RawMessage{config("open-barley")},
		KeepsCheckpoint: !staged, Patience: 20 * time.Second,
		Rows: func(_ context.Context, table string) ([]json.RawMessage, error) {
			var w struct {
				Tables map[string]map[string]json.RawMessage
			}
			text, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				return nil, nil
			}
			if err == nil {
				err = json.Unmarshal(text, &w)
			}
			var list []json.RawMessage
			for _, row := range w.Tables[table] {
				list = append(list, row)
			}
			return list, err
		},
	}
}

func TestSink_FindsNothingInASoundOne(t *testing.T) {
	for _, staged := range []bool{false, true} {
		t.Run(fmt.Sprint("staged ", staged), func(t *testing.T) {
			Sink(t, func(tb testing.TB) *SinkFixture { return toySink(tb, "", staged) })
		})
	}
}

// Each suite finds what it is there for. A fault is the name of what the faulty sink does wrong; staged faults are those of sinks that leave the checkpoint to the
// runner.
func TestSinkSuites_Bite(t *testing.T) {
	cases := []struct {
		suite, fault, want string
		staged             bool
	}{
		{suite: "SinkSpec", fault: "no title in a schema", want: "no title"},
		{suite: "SinkSpec", fault: "secret not marked", want: "must be marked as one"},
		{suite: "SinkSpec", fault: "unknown keyword in a schema", want: "Flow refuses the keyword airbyte_hidden"},
		{suite: "SinkSpec", fault: "boolean as a string", want: "advanced is no boolean"},
		{suite: "SinkSpec", fault: "collection name not required", want: "is not required"},
		{suite: "SinkSpec", fault: "collection name not marked", want: "x-collection-name marks no property"},
		{suite: "SinkSpec", fault: "unknown member in spec", want: "version"},
		{suite: "SinkSpec", fault: "no destination modes", want: "destination sync modes"},
		{suite: "SinkSpec", fault: "silent on an empty stdin", want: "want exit code 2"},
		{suite: "SinkSpec", fault: "takes any password", want: "want FAILED"},
		{suite: "SinkUnary", fault: "no constraint for a field", want: "the field text of events has no constraint"},
		{suite: "SinkUnary", fault: "constraint of an unknown type", want: "FIELD_WANTED"},
		{suite: "SinkUnary", fault: "constraints as a list", want: "projectionConstraints"},
		{suite: "SinkUnary", fault: "no deltaUpdates", want: "deltaUpdates false for visits"},
		{suite: "SinkUnary", fault: "apply does the same again", want: "a second apply of the same does something"},
		{suite: "SinkUnary", fault: "takes any password", want: "want no response"},
		{suite: "SinkUnary", fault: "exit code 0 after an error", want: "want exit code 1"},
		{suite: "SinkExamplePacked", fault: "JSON keys only", want: "a key of the wrong length"},
		{suite: "SinkExampleJSON", fault: "packed keys only", want: "a key of the wrong length"},
		{suite: "SinkExampleJSON", fault: "unknown member in loaded", want: "a response loaded is not as the protocol has it"},
		{suite: "SinkExampleJSON", fault: "loads twice", want: "that came before"},
		{suite: "SinkExampleJSON", fault: "loads what is not there", want: "that is not there"},
		{suite: "SinkExampleJSON", fault: "loads all but one", want: "was not loaded"},
		{suite: "SinkExampleJSON", fault: "loaded after flushed", want: "was not loaded"},
		{suite: "SinkExampleJSON", fault: "speaks among stores", want: `unknown member "stored"`},
		{suite: "SinkExampleJSON", fault: "no acknowledged", want: "no response acknowledged"},
		{suite: "SinkExampleJSON", fault: "numbers as floats", want: "events holds"},
		{suite: "SinkExampleJSON", fault: "keeps what is deleted", want: "after two transactions, orders holds"},
		{suite: "SinkExampleJSON", fault: "drops a column", want: "after two transactions, orders holds"},
		{suite: "SinkExampleJSON", fault: "inserts only what does not exist", want: "after two transactions, orders holds"},
		{suite: "SinkExampleJSON", fault: "banner", want: "a response is no JSON object"},
		{suite: "SinkExampleJSON", fault: "secret in a log", want: "a secret of the config is written to stderr"},
		{suite: "SinkExampleJSON", fault: "state without mergePatch", want: "mergePatch"},
		{suite: "SinkExampleJSON", fault: "deaf to the end of stdin", want: "ended by signal 9 (killed), want exit code 0"},
		{suite: "SinkExampleJSON", fault: "exit code 1 at a boundary", want: "want exit code 0"},
		{suite: "SinkOrders", fault: "forgets loads before acknowledge", want: "was not loaded"},
		{suite: "SinkEmpty", fault: "trips over a transaction without loads", want: "an empty query"},
		{suite: "SinkEmpty", fault: "trips over a transaction without stores", want: "no last binding"},
		{suite: "SinkEmpty", fault: "one row of a key in a delta table", want: "visits holds"},
		{suite: "SinkReopen", fault: "an older checkpoint", want: "opened has the checkpoint"},
		{suite: "SinkReopen", fault: "checkpoint written anew", want: "opened has the checkpoint"},
		{suite: "SinkReopen", fault: "no checkpoint for an empty one", want: `opened has the checkpoint "", want "{}"`},
		{suite: "SinkReopen", fault: "empty checkpoint for none", want: `opened has the checkpoint "{}", want ""`, staged: true},
		{suite: "SinkReopen", fault: "forgets what is staged", want: "after a session, orders holds", staged: true},
		{suite: "SinkReopen", fault: "adds what is staged again", want: "after a session that ended after acknowledged, which was lost, visits holds", staged: true},
		{suite: "SinkEnds", fault: "commits at the end of stdin", want: "after a session that ended after half of the stores"},
		{suite: "SinkEnds", fault: "writes while it stores", want: "after a session that ended after half of the stores"},
		{suite: "SinkKilled", fault: "answers before it commits", want: "opened has the checkpoint"},
		{suite: "SinkKilled", fault: "forgets what is staged", want: "holds", staged: true},
		{suite: "SinkStops", fault: "deaf to SIGTERM", want: "still runs after 5s"},
		{suite: "SinkStops", fault: "exit code 143 after SIGTERM", want: "want exit code 0"},
		{suite: "SinkSlowReader", fault: "lines of 64 KiB at most", want: "a line is too long"},
		{suite: "SinkRefuses", fault: "takes any order", want: "the process still runs after 5s"},
		{suite: "SinkRefuses", fault: "exit code 0 after an error", want: "want exit code 1"},
		{suite: "SinkFence", fault: "no fence", want: "startedCommit"},
		{suite: "SinkAdded", fault: "counts its bindings", want: "index out of range"},
		{suite: "SinkBackfill", fault: "keeps rows after a backfill", want: "after a backfill counter was raised, orders holds"},
	}
	suites := SinkSuites()
	for _, suite := range suites {
		if !slices.ContainsFunc(cases, func(c struct {
			suite, fault, want string
			staged             bool
		},
		) bool {
			return c.suite == suite.Name
		}) {
			t.Errorf("no fault is tried on suite %s", suite.Name)
		}
	}
	const atOnce = 6
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	findings := make([][]string, len(cases))
	fixtures := make([]*SinkFixture, len(cases)) // all of them first: a script that is still open in a process that was forked meanwhile cannot be run
	for i, c := range cases {
		fixtures[i] = toySink(t, c.fault, c.staged)
		fixtures[i].Patience = 6 * time.Second
	}
	for i, c := range cases {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			findings[i] = suites[slices.IndexFunc(suites, func(s SinkSuite) bool { return s.Name == c.suite })].Run(t.Context(), fixtures[i])
		})
	}
	running.Wait()
	for i, c := range cases {
		if !strings.Contains(strings.Join(findings[i], "\n"), c.want) {
			t.Errorf("suite %s, fault %q: found %.600q, want something with %q", c.suite, c.fault, findings[i], c.want)
		}
	}
}
