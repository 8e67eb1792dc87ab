package postgres

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/wire"
)

// session is an open Flow capture of a single table whose runner acts on resets.
type session struct {
	t           *testing.T
	process     *binary.Process
	decoder     wire.FlowDecoder
	table       replay.Table
	fold        *replay.Fold
	documents   int
	checkpoints []string // their updates
	resets      []string // their reasons
}

// openSession opens a capture that tails.
func (c *capture) openSession(table replay.Table) *session {
	c.t.Helper()
	p, err := binary.Start(binary.Command{Path: binary.Build(c.t, "source-postgres"), Stdin: true})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = p.Kill() // a test that failed may have left it
		_, _ = p.Wait(patience)
	})
	schema, name, _ := strings.Cut(table.Stream, ".")
	key := make([]string, len(table.Key))
	for i, column := range table.Key {
		key[i] = "/" + column
	}
	open, err := json.Marshal(map[string]any{"open": map[string]any{"reset": true, "capture": map[string]any{
		"name": "tests/capture", "config": c.config, "bindings": []any{map[string]any{
			"resourceConfig": map[string]any{"namespace": schema, "stream": name}, "resourcePath": []string{schema, name},
			"collection": map[string]any{"name": "tests/" + name, "key": key},
		}},
	}}})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := p.Send(open); err != nil {
		c.t.Fatal(err)
	}
	return &session{t: c.t, process: p, decoder: wire.FlowDecoder{AllowReset: true}, table: table, fold: replay.New(false, table)}
}

// next takes one response; false: the output has ended.
func (s *session) next() bool {
	s.t.Helper()
	line, err := s.process.Next()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := s.decoder.Decode(line)
	if err != nil {
		s.t.Fatal(err)
	}
	switch m.Kind {
	case "captured":
		s.documents++
		s.fold.Document(0, s.table.Stream, m.Doc)
	case "checkpoint":
		s.checkpoints = append(s.checkpoints, string(m.State))
	case "reset":
		s.resets = append(s.resets, m.Reason)
		s.fold.Reset(s.table.Stream)
	}
	return true
}

// await takes responses until the condition is true.
func (s *session) await(what string, ok func() bool) {
	s.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = s.process.Kill() })
	defer timer.Stop()
	for !ok() {
		if !s.next() {
			s.t.Fatalf("the session has not come to %s: %s", what, s.process.Stderr())
		}
	}
}

// checkpointSays tells whether a checkpoint after the first so many says this.
func (s *session) checkpointSays(after int, text string) bool {
	for _, c := range s.checkpoints[min(after, len(s.checkpoints)):] {
		if strings.Contains(c, text) {
			return true
		}
	}
	return false
}

// finish closes the session's input and takes the rest.
func (s *session) finish() {
	s.t.Helper()
	if err := s.process.CloseInput(); err != nil {
		s.t.Fatal(err)
	}
	for s.next() {
	}
	if exit, err := s.process.Wait(patience); err != nil || exit.Code != 0 {
		s.t.Fatalf("the session ended with code %d: %v %s", exit.Code, err, exit.Stderr)
	}
}
