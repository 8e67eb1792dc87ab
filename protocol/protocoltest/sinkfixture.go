package protocoltest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"
)

// SinkFixture is a materialization with a destination of its own, in which none of the simulators' tables is: orders, events and visits.
type SinkFixture struct {
	Binary  string            // path of the built connector
	Config  json.RawMessage   // one that works, and removes rows whose documents are deleted
	Refused []json.RawMessage // configs that are well-formed and do not work: validate says why
	Secrets []string          // no output may hold one of these

	// Rows returns the rows of a table, one JSON object each, by field: its keys, its values, and flow_document where the table has the root document. A field
	// may be missing that is null.
	Rows func(ctx context.Context, table string) ([]json.RawMessage, error)
	// KeepsCheckpoint: the destination stores the runner's checkpoint with the rows, behind a fence. Otherwise the connector describes in its state what a
	// transaction staged, and applies it when that is acknowledged.
	KeepsCheckpoint bool

	Patience time.Duration // what a session may last; 0: one minute
}

// SinkSuite is one thing that runners do with a materialization.
type SinkSuite struct {
	Name string
	run  func(*sinkSession) error
}

// Run returns what a runner would trip over.
func (s SinkSuite) Run(ctx context.Context, f *SinkFixture) []string {
	x := newSinkSession(ctx, f)
	if err := s.run(x); err != nil {
		x.findings = append(x.findings, err.Error())
	}
	return x.findings
}

// SinkSuites are the suites that every materialization runs.
func SinkSuites() []SinkSuite {
	return []SinkSuite{
		{"SinkSpec", sinkSpec},
		{"SinkUnary", sinkUnary},
		{"SinkExamplePacked", func(s *sinkSession) error { return sinkExample(s, true) }},
		{"SinkExampleJSON", func(s *sinkSession) error { return sinkExample(s, false) }},
		{"SinkOrders", sinkOrders},
		{"SinkEmpty", sinkEmpty},
		{"SinkReopen", sinkReopen},
		{"SinkEnds", func(s *sinkSession) error { return sinkEnds(s, closeInput) }},
		{"SinkKilled", func(s *sinkSession) error { return sinkEnds(s, killNow) }},
		{"SinkStops", sinkStops},
		{"SinkSlowReader", sinkSlowReader},
		{"SinkRefuses", sinkRefuses},
		{"SinkFence", sinkFence},
		{"SinkBackfill", sinkBackfill},
		{"SinkAdded", sinkAdded},
	}
}

// Sink runs every suite, each on a fixture that fresh makes for it.
func Sink(t *testing.T, fresh func(testing.TB) *SinkFixture) {
	places := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	findings := make([][]string, len(SinkSuites()))
	took := make([]time.Duration, len(findings))
	fixtures := make([]*SinkFixture, len(findings))
	for i := range fixtures { // all of them first: one that writes a program and runs it must not meet the fork of another
		fixtures[i] = fresh(t)
	}
	for i, suite := range SinkSuites() {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			findings[i] = suite.Run(t.Context(), fixtures[i])
			took[i] = time.Since(began)
		})
	}
	running.Wait()
	for i, suite := range SinkSuites() {
		t.Run(suite.Name, func(t *testing.T) {
			t.Logf("took %s", took[i].Round(time.Millisecond))
			for _, finding := range findings[i] {
				t.Error(finding)
			}
		})
	}
}
