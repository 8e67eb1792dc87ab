package materialize

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

// TestMain lets a test start this binary as a connector: only a process shows signals, pipes and exit codes.
func TestMain(m *testing.M) {
	if os.Getenv("BE_A_CONNECTOR") == "1" {
		Main(shelfConnector())
	}
	os.Exit(m.Run())
}

// shelfConfig is the config of a sink that keeps its tables in a file.
type shelfConfig struct {
	Path     string `json:"path" title:"Path" doc:"The file; it need not be there."`
	Password string `json:"password,omitempty" title:"Password" doc:"Shown nowhere." secret:"true"`
	Staged   bool   `json:"staged" title:"Staged" doc:"Describe transactions in the state, and apply them when they are acknowledged."`
	Mood     string `json:"mood" title:"Mood" doc:"What goes wrong." default:"good"`
}

type shelfResource struct {
	Table  string `json:"table" title:"Table" doc:"Name of the table." mark:"x-collection-name"`
	Schema string `json:"schema,omitempty" title:"Schema" doc:"Group of the table." mark:"x-schema-name"`
	Delta  bool   `json:"delta" title:"Delta updates" doc:"Only add rows." mark:"x-delta-updates"`
}

func shelfConnector() Connector[shelfConfig, shelfResource] {
	return Connector[shelfConfig, shelfResource]{
		Name: "materialize-shelf", Title: "a shelf", Version: "1.2.3", DocsURL: "https://example.com/shelf", MemoryBytes: 256 << 20,
		New: func(c shelfConfig) (Materializer, error) {
			if c.Mood == "panic in new" {
				panic("no way, says " + c.Password)
			}
			return &shelf{config: c}, nil
		},
	}
}

// shelf is a sink whose file is replaced at each commit, with the runner's checkpoint in it.
type shelf struct{ config shelfConfig }

// content is what the file holds. Rows are by packed key.
type content struct {
	Tables     map[string]map[string]json.RawMessage
	Checkpoint json.RawMessage `json:",omitempty"`
	Fence      int
}

func (s *shelf) read() (content, error) {
	c := content{Tables: map[string]map[string]json.RawMessage{}}
	raw, err := os.ReadFile(s.config.Path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

func (s *shelf) write(c content) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.config.Path+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(s.config.Path+".new", s.config.Path)
}

func (s *shelf) Close() error {
	if s.config.Mood == "close" {
		return errors.New("cannot close")
	}
	return nil
}

func (s *shelf) Check(context.Context) error {
	logrus.Info("checking as " + s.config.Password)
	switch {
	case s.config.Mood == "two problems":
		return errors.Join(
			&protocol.Problem{Kind: protocol.Config, Summary: "user shelf may not write", Fix: "grant it", SQL: "GRANT WRITE TO shelf"},
			&protocol.Problem{Kind: protocol.Transient, Summary: "the server restarts"},
		)
	case s.config.Mood == "unsure":
		return fmt.Errorf("asking %s: it does not answer", s.config.Password)
	case s.config.Password == "open-barley":
		return &protocol.Problem{Kind: protocol.Config, Summary: "password " + s.config.Password + " is wrong", Fix: "ask for another"}
	}
	return nil
}

func (s *shelf) Validate(_ context.Context, bs []Proposed) ([]Constraints, error) {
	var list []Constraints
	for _, b := range bs {
		r, err := config.Decode[shelfResource](b.Resource)
		if err != nil {
			return nil, err
		}
		c := Constraints{ResourcePath: []string{r.Schema, r.Table}, DeltaUpdates: r.Delta, Fields: map[string]Constraint{}}
		if r.Schema == "" {
			c.ResourcePath[0] = "main"
		}
		if b.Last != nil {
			logrus.WithField("path", strings.Join(b.Last.ResourcePath, ".")).Info("known before")
		}
		for _, p := range b.Collection.Projections {
			constraint := Constraint{Kind: FieldOptional, Reason: "fits"}
			switch {
			case p.Key:
				constraint = Constraint{Kind: LocationRequired, Reason: "key"}
			case p.Pointer == "" && !r.Delta:
				constraint = Constraint{Kind: LocationRequired, Reason: "root"}
			case s.config.Mood == "zero constraint":
				constraint.Kind = 0
			case s.config.Mood == "no constraint":
				continue
			}
			c.Fields[p.Field] = constraint
		}
		if s.config.Mood == "constraint of nothing" {
			c.Fields["nothing"] = Constraint{Kind: FieldOptional}
		}
		list = append(list, c)
	}
	return list, nil
}

// CheckNeighbours knows of none but in one mood.
func (s *shelf) CheckNeighbours(_ context.Context, task string, paths [][]string) error {
	if s.config.Mood != "shared" {
		return nil
	}
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("another than %s writes to %v", task, paths)}
}

// shelfPlan makes tables that are not there, and empties those that start over.
type shelfPlan struct {
	steps []string
	run   func() error
}

func (p shelfPlan) Steps() []string           { return p.steps }
func (p shelfPlan) Run(context.Context) error { return p.run() }

func (s *shelf) Apply(_ context.Context, from, to []Binding, _ State) (Plan, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	var steps []string
	for _, b := range to {
		name := strings.Join(b.ResourcePath, ".")
		last := slices.IndexFunc(from, func(f Binding) bool { return slices.Equal(f.ResourcePath, b.ResourcePath) })
		switch _, there := c.Tables[name]; {
		case !there:
			steps = append(steps, "make "+name)
		case last >= 0 && from[last].Backfill != b.Backfill:
			steps = append(steps, "empty "+name)
		default:
			continue
		}
		c.Tables[name] = map[string]json.RawMessage{}
	}
	return shelfPlan{steps, func() error {
		if len(steps) == 0 {
			return nil
		}
		return s.write(c)
	}}, nil
}

func (s *shelf) Open(_ context.Context, req OpenRequest) (Transactor, Opened, error) {
	c, err := s.read()
	if err != nil {
		return nil, Opened{}, err
	}
	logrus.WithFields(logrus.Fields{"task": req.Task, "begin": req.Range.Begin, "end": req.Range.End, "state": string(req.State)}).Info("opening as " + s.config.Password)
	c.Fence++
	if err := s.write(c); err != nil {
		return nil, Opened{}, err
	}
	t := &shelfTransactor{shelf: s, bs: req.Bindings, content: c, staged: map[string]json.RawMessage{}}
	opened := Opened{Checkpoint: Checkpoint{Owner: Zero}}
	switch {
	case s.config.Staged:
		opened.Checkpoint.Owner = HostOwns
		if req.State != nil {
			var state struct{ Staged string }
			if err := json.Unmarshal(req.State, &state); err != nil {
				return nil, Opened{}, err
			}
			if err := json.Unmarshal([]byte(state.Staged), &t.pending); err != nil {
				return nil, Opened{}, err
			}
		}
	case c.Checkpoint != nil:
		opened.Checkpoint = Checkpoint{Owner: Stored, JSON: c.Checkpoint}
	}
	if s.config.Mood == "delta only" {
		return struct{ Transactor }{t}, opened, nil
	}
	return t, opened, nil
}

type shelfTransactor struct {
	*shelf
	bs      []Binding
	content content
	staged  map[string]json.RawMessage // table and key → row; null: none
	pending map[string]json.RawMessage // staged and committed by the runner
}

func (t *shelfTransactor) table(binding int) string {
	return strings.Join(t.bs[binding].ResourcePath, ".")
}

func (t *shelfTransactor) Load(ctx context.Context, keys *KeyIter, emit func(int, []byte) error) error {
	switch t.config.Mood {
	case "loads nothing":
		return nil
	case "panic in load":
		panic("cannot load")
	case "load fails":
		return &protocol.Problem{Kind: protocol.Transient, Summary: "the shelf lost " + t.config.Password, Err: errors.New("cause " + t.config.Password)}
	}
	for keys.Next() {
		k := keys.Key()
		row, ok := t.content.Tables[t.table(k.Binding)][fmt.Sprintf("%x", k.Packed)]
		if !ok {
			continue
		}
		doc, err := document(row)
		if err == nil {
			err = emit(k.Binding, doc)
		}
		if err == nil && t.config.Mood == "loads twice" {
			err = emit(k.Binding, doc)
		}
		if err != nil {
			return err
		}
	}
	if t.config.Mood == "hides its error" {
		return nil
	}
	if t.config.Mood == "slow load" {
		<-ctx.Done()
		return ctx.Err()
	}
	return keys.Err()
}

// document returns the root document of a row, or one that is made of its columns.
func document(row json.RawMessage) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(row, &fields); err != nil {
		return nil, err
	}
	if doc := fields["Doc"]; string(doc) != "null" {
		return doc, nil
	}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return json.Marshal(fields)
}

func (t *shelfTransactor) Store(_ context.Context, docs *DocIter) error {
	if t.config.Mood == "stores nothing" {
		return nil
	}
	for docs.Next() {
		d := docs.Doc()
		key := fmt.Sprintf("%s/%x", t.table(d.Binding), d.Packed)
		if t.bs[d.Binding].DeltaUpdates {
			key = t.table(d.Binding) + "/" + rand.Text() // each document is a row of its own
		}
		if d.Delete {
			t.staged[key] = json.RawMessage("null")
			continue
		}
		fields := map[string]json.RawMessage{"Doc": bytes.Clone(d.JSON)}
		for i, name := range t.bs[d.Binding].Fields.Keys {
			fields[name] = bytes.Clone(d.Key[i])
		}
		for i, name := range t.bs[d.Binding].Fields.Values {
			fields[name] = bytes.Clone(d.Values[i])
		}
		row, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		t.staged[key] = row
	}
	if t.config.Mood == "hides its error" {
		return nil
	}
	return docs.Err()
}

func (t *shelfTransactor) Commit(_ context.Context, checkpoint []byte) ([]byte, error) {
	switch t.config.Mood {
	case "panic in commit":
		panic("cannot commit, says " + t.config.Password)
	case "bad patch":
		return []byte(`[1]`), nil
	case "slow commit":
		time.Sleep(500 * time.Millisecond)
	}
	now, err := t.read()
	if err != nil {
		return nil, err
	}
	if now.Fence != t.content.Fence {
		return nil, &FencedError{Since: time.Unix(1700000000, 0), Host: "another"}
	}
	staged := t.staged
	t.staged = map[string]json.RawMessage{}
	if t.config.Staged {
		t.pending = staged
		text, err := json.Marshal(staged)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]string{"Staged": string(text)}) // as text: a null inside a patch deletes
	}
	t.content.Checkpoint = bytes.Clone(checkpoint)
	return nil, t.put(staged)
}

func (t *shelfTransactor) put(rows map[string]json.RawMessage) error {
	for name, row := range rows {
		table, key, _ := strings.Cut(name, "/")
		if string(row) == "null" {
			delete(t.content.Tables[table], key)
			continue
		}
		t.content.Tables[table][key] = row
	}
	return t.write(t.content)
}

func (t *shelfTransactor) Acknowledge(_ context.Context, peers [][]byte) ([]byte, error) {
	logrus.WithFields(logrus.Fields{"peers": len(peers), "known": peers != nil}).Info("acknowledging")
	if t.config.Mood == "acknowledge fails" {
		return nil, errors.New("cannot acknowledge")
	}
	if t.pending == nil {
		return nil, nil
	}
	if err := t.put(t.pending); err != nil {
		return nil, err
	}
	t.pending = nil
	return []byte(`{"Staged":null}`), nil
}

func (t *shelfTransactor) Close() error {
	logrus.Info("closing the session")
	return nil
}

// rows reads a table of a shelf as another would see it.
func rows(t *testing.T, path, table string) map[string]string {
	t.Helper()
	c, err := (&shelf{config: shelfConfig{Path: path}}).read()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for key, row := range c.Tables[table] {
		got[key] = string(row)
	}
	return got
}

func newShelf(t *testing.T) string { return filepath.Join(t.TempDir(), "shelf") }
