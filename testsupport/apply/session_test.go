package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/wire"
)

const (
	task   = "acme/evolution"
	schema = "lake" // of the configuration

	// patience bounds every wait; it only has to be longer than a slow machine takes.
	patience = 60 * time.Second
)

// session is Flow's runtime on the other end of one process. It is for one goroutine.
type session struct {
	t       *testing.T
	process *binary.Process
	config  map[string]any
}

func start(t *testing.T, program string, config map[string]any) *session {
	t.Helper()
	p, err := binary.Start(binary.Command{Path: program, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = p.Kill() }) // whoever reads then sees the end
	t.Cleanup(func() {
		timer.Stop()
		_ = p.Kill() // a test that failed has left it
		_, _ = p.Wait(patience)
		_ = p.Close()
	})
	return &session{t, p, config}
}

// ask sends a request and returns the response of that name; an error is the end of the process.
func (s *session) ask(request string, body any, response string) (map[string]json.RawMessage, error) {
	s.t.Helper()
	s.send(request, body)
	return s.expect(response)
}

// send does not look at errors: who expects an answer sees the end.
func (s *session) send(request string, body any) {
	s.t.Helper()
	line, err := json.Marshal(map[string]any{request: body})
	if err != nil {
		s.t.Fatal(err)
	}
	_ = s.process.Send(line)
}

func (s *session) expect(response string) (map[string]json.RawMessage, error) {
	s.t.Helper()
	line, err := s.process.Next()
	if err != nil {
		return nil, err
	}
	members, err := wire.Object(line)
	if err != nil || len(members) != 1 || members[response] == nil {
		s.t.Fatalf("the next response is not %s, or not that alone: %v: %.300s", response, err, line)
	}
	inner, err := wire.Object(members[response])
	if err != nil {
		s.t.Fatal(err)
	}
	return inner, nil
}

// must is ask where the process has no reason to end.
func (s *session) must(request string, body any, response string) map[string]json.RawMessage {
	s.t.Helper()
	r, err := s.ask(request, body, response)
	if err != nil {
		exit, _ := s.process.Wait(patience)
		s.t.Fatalf("no answer to %s: %v; the connector ended with code %d, signal %d: %s", request, err, exit.Code, exit.Signal, exit.Stderr)
	}
	return r
}

// validate asks about tables of which last were applied; whatever is selected has to be possible.
func (s *session) validate(last, tables []table) {
	s.t.Helper()
	request := proposed(s.config, tables)
	if last != nil {
		request["lastMaterialization"], request["lastVersion"] = materialization(s.config, last), "1"
	}
	r := s.must("validate", request, "validated")
	var bindings []struct {
		ResourcePath []string
		Constraints  map[string]struct{ Type, Reason string }
	}
	if err := json.Unmarshal(r["bindings"], &bindings); err != nil || len(bindings) != len(tables) {
		s.t.Fatalf("%d bindings are validated, want %d: %v", len(bindings), len(tables), err)
	}
	for i, b := range bindings {
		if !slices.Equal(b.ResourcePath, tables[i].path()) {
			s.t.Errorf("table %s has the resource path %q", tables[i].name, b.ResourcePath)
		}
		for _, f := range tables[i].fields {
			if c := b.Constraints[f.name]; slices.Contains([]string{"", "FIELD_FORBIDDEN", "INCOMPATIBLE", "UNSATISFIABLE"}, c.Type) {
				s.t.Errorf("field %s of table %s is %q: %s", f.name, tables[i].name, c.Type, c.Reason)
			}
		}
	}
}

// apply returns what was done; an error is the end of the process.
func (s *session) apply(last, tables []table) (description string, err error) {
	s.t.Helper()
	request := map[string]any{"materialization": materialization(s.config, tables), "version": "2"}
	if last != nil {
		request["lastMaterialization"], request["lastVersion"] = materialization(s.config, last), "1"
	}
	r, err := s.ask("apply", request, "applied")
	if err == nil && r["actionDescription"] != nil {
		err = json.Unmarshal(r["actionDescription"], &description)
	}
	return description, err
}

func (s *session) mustApply(last, tables []table) string {
	s.t.Helper()
	description, err := s.apply(last, tables)
	if err != nil {
		exit, _ := s.process.Wait(patience)
		s.t.Fatalf("apply is not answered: %v; the connector ended with code %d, signal %d: %s", err, exit.Code, exit.Signal, exit.Stderr)
	}
	return description
}

// store opens and puts one document into each table, in one transaction. exists tells of which tables the document is there.
func (s *session) store(tables []table, exists func(t *table) bool) {
	s.t.Helper()
	s.must("open", map[string]any{"materialization": materialization(s.config, tables), "version": "2", "range": map[string]any{"keyEnd": uint32(0xffffffff)}}, "opened")
	s.must("acknowledge", map[string]any{}, "acknowledged")
	want := map[int]bool{}
	for i := range tables {
		if key, _, _ := tables[i].document(); !tables[i].delta {
			s.send("load", map[string]any{"binding": i, "key": key})
			want[i] = exists(&tables[i])
		}
	}
	s.send("flush", map[string]any{})
	for loaded := 0; ; loaded++ {
		line, err := s.process.Next()
		if err != nil {
			exit, _ := s.process.Wait(patience)
			s.t.Fatalf("no answer to flush: %v: %s", err, exit.Stderr)
		}
		if strings.HasPrefix(string(line), `{"flushed"`) {
			break
		}
		var r struct {
			Loaded struct {
				Binding int
				Doc     json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &r); err != nil || r.Loaded.Doc == nil || !want[r.Loaded.Binding] {
			s.t.Fatalf("%v: the response to flush is %.300s", err, line)
		}
		delete(want, r.Loaded.Binding)
	}
	for i, there := range want {
		if there {
			s.t.Errorf("the document of table %s is not loaded", tables[i].name)
		}
	}
	for i := range tables {
		key, values, doc := tables[i].document()
		s.send("store", map[string]any{"binding": i, "key": key, "values": values, "doc": doc, "exists": !tables[i].delta && exists(&tables[i])})
	}
	s.must("startCommit", map[string]any{"runtimeCheckpoint": map[string]any{"n": 1}}, "startedCommit")
	s.must("acknowledge", map[string]any{}, "acknowledged")
}

// end ends the input, and the process has to end well.
func (s *session) end() {
	s.t.Helper()
	_ = s.process.CloseInput()
	if line, err := s.process.Next(); !errors.Is(err, io.EOF) {
		s.t.Errorf("at the end comes %.200s, %v", line, err)
	}
	exit, err := s.process.Wait(patience)
	if err != nil || exit.Code != 0 {
		s.t.Errorf("the connector ended with code %d, %v: %s", exit.Code, err, exit.Stderr)
	}
}

// cutShort waits for the end of a process whose connection was cut, or that was killed: one of its own ends with one sentence of what happened.
func (s *session) cutShort(how cut) error {
	s.t.Helper()
	exit, err := s.process.Wait(patience)
	switch {
	case err != nil:
		return err
	case how == killed && exit.Signal == 0, how != killed && exit.Code != 1:
		return fmt.Errorf("the connector that was cut short ended with code %d, signal %d: %s", exit.Code, exit.Signal, exit.Stderr)
	case strings.Contains(exit.Stderr, "met a bug"), strings.Contains(exit.Stderr, "goroutine "):
		return fmt.Errorf("the connector that lost its server says %s", exit.Stderr)
	}
	return nil
}
