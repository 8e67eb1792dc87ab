package protocoltest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"
)

// Fixture is a source connector with data of its own: nobody else may change what it captures, and nothing that another fixture left in the system may
// reach it.
type Fixture struct {
	Binary  string            // path of the built connector
	Config  json.RawMessage   // one that works
	Refused []json.RawMessage // configs that are well-formed and do not work: check says FAILED
	Secrets []string          // no output may hold one of these
	Streams []Stream          // all that discovery offers, each with rows in it; at least two, unless it has Parts

	// Change changes rows of every stream and leaves some as they are. Each call does something new: it adds rows, and where the system can, it also
	// updates and deletes.
	Change func(context.Context) error
	// Rows returns what each stream holds now, by Stream.Name: one JSON object per row, with every property of the captured documents but _meta.
	Rows func(context.Context) (map[string][]json.RawMessage, error)
	// Grow adds rows to the first stream that print as 8 MiB or more, so that a run can be stopped half-way.
	Grow func(context.Context) error
	// Void makes void what was captured of the first stream, and adds a row: TRUNCATE, then INSERT. nil: this system cannot.
	Void func(context.Context) error

	Patience time.Duration // what a run may last; 0: one minute
}

// Stream is one of a fixture's streams.
type Stream struct {
	Name, Namespace string
	Key             []string // names of properties, below others as "_meta/file"; none: rows have no identity, and equal ones count
	// Parts names the property of the key by which processes of a split capture divide the stream among them; empty: a stream belongs to one of them.
	Parts string
	// Open: documents may have properties of which nobody knows before they are read, so that no sourcedSchema describes them.
	Open bool
}

func (s Stream) descriptor() descriptor { return descriptor{s.Name, s.Namespace} }

func (f *Fixture) patience() time.Duration {
	if f.Patience == 0 {
		return time.Minute
	}
	return f.Patience
}

// Suite is one runner, or one part of the protocols.
type Suite struct {
	Name string
	run  func(*session) error
}

// Run returns what a runner would trip over.
func (s Suite) Run(ctx context.Context, f *Fixture) []string {
	x := &session{ctx: ctx, f: f, told: map[string]int{}}
	if err := s.run(x); err != nil {
		x.findings = append(x.findings, err.Error())
	}
	return x.findings
}

// SourceSuites are the suites that every source runs.
func SourceSuites() []Suite {
	return []Suite{
		{"PyAirbyte", pyAirbyte},
		{"Platform", platform},
		{"AcceptanceSpec", acceptanceSpec},
		{"AcceptanceCheck", acceptanceCheck},
		{"AcceptanceDiscovery", acceptanceDiscovery},
		{"AcceptanceRead", acceptanceRead},
		{"AcceptanceIncremental", acceptanceIncremental},
		{"Meltano", meltano},
		{"FIFO", fifo},
		{"MixedAges", mixedAges},
		{"Extended", extended},
		{"Range", splitRange},
		{"FlowUnary", flowUnary},
		{"FlowCapture", flowCapture},
		{"FlowResume", flowResume},
		{"FlowEnds", flowEnds},
		{"FlowReset", flowReset},
		{"StopLive", stopLive},
		{"StopIdle", stopIdle},
		{"StopBlocked", stopBlocked},
	}
}

// atOnce is how many suites run at a time: they mostly wait.
const atOnce = 4

// Source runs every suite, each on a fixture that fresh makes for it.
func Source(t *testing.T, fresh func(testing.TB) *Fixture) {
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	findings := make([][]string, len(SourceSuites()))
	took := make([]time.Duration, len(findings))
	for i, suite := range SourceSuites() {
		f := fresh(t)
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			findings[i] = suite.Run(t.Context(), f)
			took[i] = time.Since(began)
		})
	}
	running.Wait()
	for i, suite := range SourceSuites() {
		t.Run(suite.Name, func(t *testing.T) {
			t.Logf("took %s", took[i].Round(time.Millisecond))
			for _, finding := range findings[i] {
				t.Error(finding)
			}
		})
	}
}
