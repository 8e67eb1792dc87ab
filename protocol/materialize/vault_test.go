package materialize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// vault is a destination in memory: what `write` leaves in it, and in which order it came. Sessions into it may overlap.
type vault struct {
	mu     sync.Mutex
	tables map[string]*vaultTable // by path
	events []string               // commits, and lines on stdout
	fail   string                 // the phase that fails: load, store, commit, acknowledge
	lacks  string                 // an optional interface that is not there: Loader, Replacer, CheckpointReader
	upsert bool
	loads  int // keys that were asked for
	hard   bool
}

type vaultTable struct {
	delta      bool
	rows       map[string]string // by key; of a delta table by number
	checkpoint json.RawMessage
	fence      int
	opened     time.Time
}

var vaults sync.Map // by name

func newVault(t *testing.T) *vault {
	v := &vault{tables: map[string]*vaultTable{}}
	vaults.Store(t.Name(), v)
	t.Cleanup(func() { vaults.Delete(t.Name()) })
	return v
}

type vaultConfig struct {
	Name string `json:"name" title:"Name" doc:"Which vault."`
}

type vaultResource struct {
	Table  string `json:"table" title:"Table" doc:"Name of the table." mark:"x-collection-name"`
	Schema string `json:"schema,omitempty" title:"Schema" doc:"Group of the table." mark:"x-schema-name"`
	Delta  bool   `json:"delta" title:"Delta updates" doc:"Only add rows." mark:"x-delta-updates"`
}

func vaultConnector() Connector[vaultConfig, vaultResource] {
	return Connector[vaultConfig, vaultResource]{
		Name: "materialize-vault", Title: "a vault", Version: "1.0.0",
		New: func(c vaultConfig) (Materializer, error) {
			v, _ := vaults.Load(c.Name)
			s := &vaultSink{v.(*vault)}
			if s.lacks == "CheckpointReader" {
				return struct{ Materializer }{s}, nil
			}
			return s, nil
		},
	}
}

// event notes something that happened.
func (v *vault) event(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = append(v.events, fmt.Sprintf(format, args...))
}

// rows renders a table, sorted.
func (v *vault) rows(path string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.tables[path]
	if t == nil {
		return "none"
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		list = append(list, t.rows[key])
	}
	return strings.Join(list, " ")
}

func (v *vault) commits() (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range v.events {
		if strings.HasPrefix(e, "commit") {
			n++
		}
	}
	return n
}

// Write notes each line of stdout, so that tests see what was committed before it.
func (v *vault) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		v.event("%s", strings.TrimSuffix(line, "\n"))
	}
	return len(p), nil
}

// printed returns the lines on stdout that hold a text.
func (v *vault) printed(text string) (lines []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range v.events {
		if strings.HasPrefix(e, "{") && strings.Contains(e, text) {
			lines = append(lines, e)
		}
	}
	return lines
}

// run runs the connector in this process. Its stdout goes to the events.
func (v *vault) run(t *testing.T, stdin io.Reader, argv ...string) (exit int) {
	t.Helper()
	var errs bytes.Buffer
	p := &command.Process{
		Args: argv, Stdin: stdin, Stdout: command.NewLines(v), Stderr: &errs, Exit: func(int) { t.Error("exit is for signals") }, Now: time.Now,
	}
	exit = run(erase(vaultConnector()), p)
	if errs.Len() > 0 {
		t.Errorf("stderr: %s", errs.String())
	}
	return exit
}

func (v *vault) config(t *testing.T) string {
	t.Helper()
	return file(t, fmt.Sprintf(`{"name":%q}`, t.Name()))
}

// write runs `write` with a catalog on lines.
func (v *vault) write(t *testing.T, catalog string, lines []string, flags ...string) (exit int) {
	t.Helper()
	return v.run(t, strings.NewReader(strings.Join(lines, "\n")+"\n"), append([]string{"write", "--config", v.config(t), "--catalog", file(t, catalog)}, flags...)...)
}

// vaultSink is the connector's end.
type vaultSink struct{ *vault }

func (s *vaultSink) Close() error                { return nil }
func (s *vaultSink) Check(context.Context) error { return nil }

func (s *vaultSink) Validate(_ context.Context, bs []Proposed) ([]Constraints, error) {
	out := make([]Constraints, len(bs))
	for i, b := range bs {
		var r vaultResource
		if err := json.Unmarshal(b.Resource, &r); err != nil {
			return nil, err
		}
		if r.Schema == "" {
			r.Schema = "main"
		}
		out[i] = Constraints{ResourcePath: []string{r.Schema, r.Table}, DeltaUpdates: r.Delta, Fields: map[string]Constraint{}}
		for _, p := range b.Collection.Projections {
			c := Constraint{Kind: LocationRecommended}
			switch {
			case p.Pointer == "" && !r.Delta, p.Key:
				c.Kind = LocationRequired
			case p.Pointer == "/_meta" || strings.HasPrefix(p.Pointer, "/_meta/") && p.Pointer != "/_meta/op":
				c.Kind = FieldOptional
			}
			out[i].Fields[p.Field] = c
		}
	}
	return out, nil
}

type vaultPlan func()

func (p vaultPlan) Steps() []string           { return nil }
func (p vaultPlan) Run(context.Context) error { p(); return nil }

// shadow is the path of the table that a binding with Replace is written into.
func pathOf(b *Binding) string {
	path := strings.Join(b.ResourcePath, ".")
	if b.Replace {
		path += "~new"
	}
	return path
}

func (s *vaultSink) Apply(_ context.Context, _, to []Binding, _ State) (Plan, error) {
	return vaultPlan(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range to {
			if path := pathOf(&to[i]); s.tables[path] == nil || to[i].Replace {
				s.tables[path] = &vaultTable{delta: to[i].DeltaUpdates, rows: map[string]string{}}
			}
		}
	}), nil
}

func (s *vaultSink) ReadCheckpoints(_ context.Context, paths [][]string) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]json.RawMessage, len(paths))
	for i, p := range paths {
		if t := s.tables[strings.Join(p, ".")]; t != nil {
			t.fence++
			t.opened = time.Unix(1700000000, 0)
			out[i] = t.checkpoint
		}
	}
	return out, nil
}

func (s *vaultSink) Open(_ context.Context, req OpenRequest) (Transactor, Opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Task != "" || req.Range != protocol.FullRange {
		return nil, Opened{}, errors.New("write opens a task, or a part of the range")
	}
	t := &vaultTransactor{vault: s.vault, bs: req.Bindings, rows: make([]map[string]*string, len(req.Bindings))}
	opened := Opened{Checkpoint: Checkpoint{Owner: Zero}}
	members := map[string]json.RawMessage{}
	for i := range req.Bindings {
		b := &req.Bindings[i]
		table := s.tables[strings.Join(b.ResourcePath, ".")]
		if table == nil {
			table = &vaultTable{delta: b.DeltaUpdates, rows: map[string]string{}}
			s.tables[strings.Join(b.ResourcePath, ".")] = table
		}
		table.fence++
		table.opened = time.Unix(1700000000, 0)
		t.fences = append(t.fences, table.fence)
		if table.checkpoint != nil {
			members[b.StateKey] = table.checkpoint
			opened.Checkpoint.Owner = Stored
		}
		if len(s.tables[pathOf(b)].rows) == 0 {
			opened.NewTables = append(opened.NewTables, i)
		}
	}
	if opened.Checkpoint.Owner == Stored {
		opened.Checkpoint.JSON, _ = json.Marshal(members)
	}
	switch {
	case s.lacks == "Loader":
		return struct{ Transactor }{t}, opened, nil
	case s.lacks == "Replacer":
		return struct {
			Transactor
			Loader
		}{t, t}, opened, nil
	case s.upsert:
		return vaultUpserter{t}, opened, nil
	}
	return t, opened, nil
}

// vaultTransactor collects the rows of a transaction; nil rows are deleted.
type vaultTransactor struct {
	*vault
	bs      []Binding
	fences  []int
	rows    []map[string]*string
	replace []int
	count   int
}

type vaultUpserter struct{ *vaultTransactor }

func (vaultUpserter) Upserts(int) bool { return true }

var errVault = errors.New("the vault is locked")

func (t *vaultTransactor) Load(_ context.Context, keys *KeyIter, emit func(int, []byte) error) error {
	if t.fail == "load" {
		return errVault
	}
	type asked struct {
		binding int
		key     string
	}
	var list []asked
	for keys.Next() {
		list = append(list, asked{keys.Key().Binding, string(keys.Key().Packed)})
	}
	t.loads += len(list)
	for _, a := range list {
		t.mu.Lock()
		row, ok := t.tables[pathOf(&t.bs[a.binding])].rows[a.key]
		t.mu.Unlock()
		if ok {
			if err := emit(a.binding, []byte(row)); err != nil {
				return err
			}
		}
	}
	return keys.Err()
}

func (t *vaultTransactor) Store(_ context.Context, docs *DocIter) error {
	if t.fail == "store" {
		return errVault
	}
	clear(t.rows)
	for docs.Next() {
		d := docs.Doc()
		b := &t.bs[d.Binding]
		t.mu.Lock()
		table := t.tables[pathOf(b)]
		_, there := table.rows[string(d.Packed)]
		t.mu.Unlock()
		if t.rows[d.Binding] == nil {
			t.rows[d.Binding] = map[string]*string{}
		}
		row := string(d.JSON)
		key := string(d.Packed)
		if b.DeltaUpdates {
			t.count++
			key = fmt.Sprintf("%06d-%06d", t.fences[d.Binding], t.count)
		} else if there && !d.Exists || d.Exists && !there && !t.upsert {
			return fmt.Errorf("key %s: exists is %t, and the row is there: %t", d.Key[0], d.Exists, there)
		}
		switch {
		case d.Delete && !there:
		case d.Delete && t.hard:
			t.rows[d.Binding][key] = nil
		default:
			t.rows[d.Binding][key] = &row
		}
	}
	return docs.Err()
}

func (t *vaultTransactor) Replace(_ context.Context, binding int) error {
	t.replace = append(t.replace, binding)
	return nil
}

func (t *vaultTransactor) Commit(_ context.Context, checkpoint []byte) ([]byte, error) {
	if t.fail == "commit" {
		return nil, errVault
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(checkpoint, &members); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := 0
	for i := range t.bs {
		path := strings.Join(t.bs[i].ResourcePath, ".")
		if own := t.tables[path]; own.fence != t.fences[i] {
			return nil, &FencedError{Since: own.opened, Host: "elsewhere"}
		}
		for key, row := range t.rows[i] {
			if rows++; row == nil {
				delete(t.tables[pathOf(&t.bs[i])].rows, key)
			} else {
				t.tables[pathOf(&t.bs[i])].rows[key] = *row
			}
		}
		if slices.Contains(t.replace, i) {
			t.tables[path].rows = t.tables[path+"~new"].rows
			delete(t.tables, path+"~new")
		}
		if c := members[t.bs[i].StateKey]; c != nil {
			t.tables[path].checkpoint = c
			delete(members, t.bs[i].StateKey)
		}
	}
	if len(members) > 0 {
		return nil, fmt.Errorf("the checkpoint %s names an unknown table", checkpoint)
	}
	clear(t.rows)
	t.replace = nil
	t.events = append(t.events, fmt.Sprintf("commit %d", rows))
	return nil, nil
}

func (t *vaultTransactor) Acknowledge(context.Context, [][]byte) ([]byte, error) {
	if t.fail == "acknowledge" && t.commits() > 0 {
		return nil, errVault
	}
	return nil, nil
}

func (t *vaultTransactor) Close() error { return nil }
