package stress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/wire"
)

// flowTask is a capture as Flow's control plane and runtime drive it. Its collections hold what committed checkpoints cover, and nothing else.
type flowTask struct {
	t       *testing.T
	cluster *pgtest.Cluster
	path    string
	config  map[string]any
	slot    string

	bindings []flowBinding
	fold     *replay.Fold
	state    json.RawMessage // what the next session is opened with
	runs     int
	lengths  bool // the next session asks for them
}

type flowBinding struct {
	stream string // of the fold
	spec   map[string]any
}

// session is one process: the requests before open, and what came after.
type session struct {
	*watched
	task      *flowTask
	before    []*wire.Response // answers to unary requests
	opened    bool
	open      bool // something came after the last checkpoint
	described map[int]bool
	docs      []flowDoc
	// After each checkpoint: how many documents came before it, and the state from then on.
	checkpoints []flowCheckpoint
}

type flowDoc struct {
	binding int
	doc     json.RawMessage
}

type flowCheckpoint struct {
	docs     int
	document json.RawMessage
	position uint64
}

func newFlowTask(t *testing.T, cluster *pgtest.Cluster, database string, advanced map[string]any, tables ...replay.Table) *flowTask {
	t.Helper()
	f := &flowTask{t: t, cluster: cluster, path: binary.Build(t, "source-postgres"), slot: "flow_" + database, fold: replay.New(false, tables...), state: json.RawMessage(`{}`)}
	advanced["slotName"] = f.slot
	f.config = connection(cluster, database, advanced)
	for _, table := range tables {
		name := strings.TrimPrefix(table.Stream, "public.")
		var key []string
		for _, column := range table.Key {
			key = append(key, "/"+column)
		}
		if table.Keyless {
			key = []string{"/_meta/source/loc/2", "/_meta/source/row"}
		}
		f.bindings = append(f.bindings, flowBinding{table.Stream, map[string]any{
			"resourceConfig": map[string]any{"namespace": "public", "stream": name}, "resourcePath": []string{"public", name},
			"collection": map[string]any{"name": "acme/" + name, "writeSchema": map[string]any{"type": "object"}, "key": key, "uuidPtr": "/_meta/uuid"},
			"stateKey":   "public%2F" + name,
		}})
	}
	return f
}

// connect starts a process and waits for its spec, as the runtime does.
func (f *flowTask) connect(stopAt int64) *session {
	f.t.Helper()
	s := &session{task: f, described: map[int]bool{}}
	s.watched = watching(f.t, binary.Command{Path: f.path, Stdin: true, Env: []string{"LOG_LEVEL=debug", "LOG_FORMAT=json"}}, stopAt, s.take)
	if r := s.ask("spec", map[string]any{"connectorType": "IMAGE", "config": map[string]any{}}); r.Kind != "spec" {
		f.t.Fatalf("the answer to spec is %s", r.Kind)
	}
	return s
}

// take takes a response, and holds it to the order in which they have to come.
func (s *session) take(line []byte) error {
	r, err := wire.FlowDecoder{Lengths: s.task.lengths}.Decode(line)
	if err != nil {
		return err
	}
	switch r.Kind {
	case "opened":
		if s.opened {
			return fmt.Errorf("a second opened")
		}
		if !r.ExplicitAcknowledgements {
			return fmt.Errorf("the session does not ask for acknowledgements: %s", line)
		}
		s.opened = true
		return nil
	case "captured", "sourcedSchema", "checkpoint":
		if !s.opened {
			return fmt.Errorf("%s came before opened", r.Kind)
		}
	default:
		if s.opened {
			return fmt.Errorf("%s came after opened", r.Kind)
		}
		s.before = append(s.before, r)
		return nil
	}
	s.open = r.Kind != "checkpoint"
	switch {
	case r.Kind != "checkpoint" && r.Binding >= len(s.task.bindings):
		return fmt.Errorf("%s of binding %d, of %d", r.Kind, r.Binding, len(s.task.bindings))
	case r.Kind == "sourcedSchema":
		s.described[r.Binding] = true
	case r.Kind == "captured" && !s.described[r.Binding]:
		return fmt.Errorf("a document of binding %d came before its schema: %.300s", r.Binding, line)
	case r.Kind == "captured":
		s.docs = append(s.docs, flowDoc{r.Binding, r.Doc})
	case r.Kind == "checkpoint":
		document := r.State
		if r.MergePatch {
			from := s.task.state
			if n := len(s.checkpoints); n > 0 {
				from = s.checkpoints[n-1].document
			}
			if document, err = patched(from, r.State); err != nil {
				return err
			}
		}
		s.checkpoints = append(s.checkpoints, flowCheckpoint{len(s.docs), document, position(s.task.t, document)})
	}
	return nil
}

// ask sends a unary request and waits for its answer.
func (s *session) ask(kind string, body map[string]any) *wire.Response {
	s.t.Helper()
	s.send(kind, body)
	s.Await("the answer to "+kind, func() bool { return len(s.before) > 0 })
	var r *wire.Response
	s.Locked(func() { r, s.before = s.before[0], s.before[1:] })
	return r
}

func (s *session) send(kind string, body map[string]any) {
	s.t.Helper()
	if err := s.process.Send(asJSON(s.t, map[string]any{kind: body})); err != nil {
		s.t.Fatal(err)
	}
}

// openCapture opens the capture at the task's state; tail nil: as the runtime does, which says nothing of it.
func (s *session) openCapture(tail *bool) *session {
	s.t.Helper()
	s.send("open", s.task.openBody(tail))
	s.Await("opened", func() bool { return s.opened })
	return s
}

func (f *flowTask) captureSpec() map[string]any {
	bindings := []map[string]any{}
	for _, b := range f.bindings {
		bindings = append(bindings, b.spec)
	}
	return map[string]any{"name": "acme/capture", "connectorType": "IMAGE", "config": f.config, "bindings": bindings, "intervalSeconds": 300}
}

func (f *flowTask) openBody(tail *bool) map[string]any {
	body := map[string]any{
		"capture": f.captureSpec(), "version": "v1", "range": map[string]any{"keyEnd": uint32(0xffffffff), "rClockEnd": uint32(0xffffffff)}, "state": f.state,
	}
	if f.lengths {
		body["lengths"] = true
	}
	if tail != nil {
		body["tail"] = *tail
	}
	return body
}

func (s *session) acknowledge(checkpoints int) {
	s.t.Helper()
	s.send("acknowledge", map[string]any{"checkpoints": checkpoints})
}

// commit folds the documents of the first n checkpoints, and makes the state after them the one that the next session starts from.
func (s *session) commit(n int) {
	s.t.Helper()
	s.task.runs++
	if n == 0 {
		return
	}
	last := s.checkpoints[n-1]
	for _, d := range s.docs[:last.docs] {
		s.task.fold.Document(s.task.runs, s.task.bindings[d.binding].stream, d.doc)
	}
	s.task.state = last.document
}

func (s *session) checkpointCount() (n int) {
	s.Locked(func() { n = len(s.checkpoints) })
	return n
}
