package parity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/watch"
	"github.com/estuary/connectors/testsupport/wire"
)

var servers pgtest.Shared

func TestMain(m *testing.M) { servers.Run(m) }

// patience bounds every wait; it only has to be longer than a slow machine takes.
const patience = 90 * time.Second

// place is a database with a role that captures, its own publication and its own slot.
type place struct {
	t        *testing.T
	cluster  *pgtest.Cluster
	database string
	role     string
	config   []byte
}

// newPlace makes a database, runs statements in it, and lets a role with hostile settings read the tables of schema public.
func newPlace(t *testing.T, version int, advanced map[string]any, statements ...string) *place {
	t.Helper()
	cluster := servers.Cluster(t, version)
	p := &place{t: t, cluster: cluster, database: cluster.NewDatabase(t)}
	p.role = "role_" + p.database
	p.exec(statements...)
	p.exec("CREATE PUBLICATION pub FOR ALL TABLES", fmt.Sprintf("CREATE ROLE %s LOGIN REPLICATION PASSWORD 'secret'", p.role), fmt.Sprintf(hostile, p.role),
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+p.role)
	t.Cleanup(func() {
		_ = p.cluster.Exec(p.database, "DROP OWNED BY "+p.role)
		_ = p.cluster.Exec(p.database, "DROP ROLE "+p.role) // else it goes with the cluster
	})
	advanced["slotName"], advanced["publicationName"] = "slot_"+p.database, "pub"
	p.config = asJSON(t, map[string]any{"address": cluster.Addr(), "user": p.role, "password": "secret", "database": p.database, "advanced": advanced})
	return p
}

func (p *place) exec(statements ...string) {
	p.t.Helper()
	for _, sql := range statements {
		if err := p.cluster.Exec(p.database, sql); err != nil {
			p.t.Fatal(err)
		}
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// stream is what discovery says of a table.
type stream struct {
	schema *jsonschema.Schema
	key    []string
	names  []string // of the properties at the root
}

// airbyte discovers by the Airbyte command.
func (p *place) airbyte() map[string]stream {
	p.t.Helper()
	var catalog struct {
		Streams []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"json_schema"`
			Key    [][]string      `json:"source_defined_primary_key"`
		} `json:"streams"`
	}
	for _, line := range p.run(binary.Command{Args: []string{"discover"}, Config: p.config}, nil) {
		m, err := wire.Airbyte(line)
		if err != nil {
			p.t.Fatal(err)
		}
		if m.Catalog != nil {
			if err := json.Unmarshal(m.Catalog, &catalog); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	found := map[string]stream{}
	for _, s := range catalog.Streams {
		d := stream{schema: compile(p.t, s.Schema), names: properties(p.t, s.Schema)}
		for _, path := range s.Key {
			d.key = append(d.key, strings.Join(path, "."))
		}
		found[s.Name] = d
	}
	return found
}

// flow discovers by Flow's request.
func (p *place) flow() map[string]stream {
	p.t.Helper()
	found := map[string]stream{}
	request := asJSON(p.t, map[string]any{"discover": map[string]any{"name": "acme/parity", "connectorType": "IMAGE", "config": json.RawMessage(p.config)}})
	for _, line := range p.run(binary.Command{Stdin: true}, request) {
		r, err := wire.FlowDecoder{}.Decode(line)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, b := range r.Discovered {
			found[strings.TrimPrefix(b.RecommendedName, "public/")] = stream{schema: compile(p.t, b.DocumentSchema), key: b.Key, names: properties(p.t, b.DocumentSchema)}
		}
	}
	return found
}

// run runs a command to its end, which has to be a good one.
func (p *place) run(c binary.Command, input []byte) [][]byte {
	p.t.Helper()
	c.Path = binary.Build(p.t, "source-postgres")
	process, err := binary.Start(c)
	if err != nil {
		p.t.Fatal(err)
	}
	if input != nil {
		if err := errors.Join(process.Send(input), process.CloseInput()); err != nil {
			p.t.Fatal(err)
		}
	}
	lines, err := process.Drain()
	if err != nil {
		p.t.Fatal(err)
	}
	if exit, err := process.Wait(patience); err != nil || exit.Code != 0 {
		p.t.Fatalf("%v ended with code %d: %v %s", c.Args, exit.Code, err, exit.Stderr)
	}
	return lines
}

func compile(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("stream.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("stream.json")
	if err != nil {
		t.Fatalf("the schema cannot be used: %v\n%s", err, schema)
	}
	return s
}

func properties(t *testing.T, schema json.RawMessage) (names []string) {
	t.Helper()
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	return names
}

// valid holds a document against a schema.
func valid(t *testing.T, what string, s *jsonschema.Schema, document json.RawMessage) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// record is a document of a stream.
type record struct {
	stream   string
	data     json.RawMessage
	columns  map[string]json.RawMessage
	op       string
	snapshot bool
}

// message is a record or a STATE in the order in which they came.
type message struct {
	stream          string
	state, snapshot bool
}

// reading is a running read; its messages are taken as they come.
type reading struct {
	*watch.Lines
	t       *testing.T
	process *binary.Process

	lines   [][]byte // of records and states
	order   []message
	records []record
	states  []*wire.State
	logs    []string
}

func (p *place) read(state []byte, args ...string) *reading {
	p.t.Helper()
	r := &reading{t: p.t}
	r.Lines, r.process = watch.Start(p.t, binary.Command{
		Path: binary.Build(p.t, "source-postgres"), Args: append([]string{"read", "--streams", "public.*"}, args...), Config: p.config, State: state,
	}, r.take, nil)
	return r
}

func (r *reading) take(line []byte) error {
	m, err := wire.Airbyte(line)
	switch {
	case err != nil:
		return err
	case m.State != nil:
		r.lines = append(r.lines, line)
		r.states = append(r.states, m.State)
		r.order = append(r.order, message{stream: m.State.Stream.Name, state: true})
	case m.Log != nil && m.Log.Level != "DEBUG":
		r.logs = append(r.logs, m.Log.Message)
	case m.Trace != nil && m.Trace.Message != "":
		r.logs = append(r.logs, m.Trace.Message)
	case m.Record != nil:
		rec := record{stream: m.Record.Stream.Name, data: m.Record.Data}
		if rec.columns, err = wire.Object(m.Record.Data); err != nil {
			return err
		}
		var meta struct {
			Op     string `json:"op"`
			Source struct {
				Snapshot bool `json:"snapshot"`
			} `json:"source"`
		}
		if err := json.Unmarshal(rec.columns["_meta"], &meta); err != nil {
			return err
		}
		rec.op, rec.snapshot = meta.Op, meta.Source.Snapshot
		r.lines = append(r.lines, line)
		r.records = append(r.records, rec)
		r.order = append(r.order, message{stream: rec.stream, snapshot: rec.snapshot})
	}
	return nil
}

// await waits until ok, which may look at what came.
func (r *reading) await(what string, ok func() bool) {
	r.t.Helper()
	if !r.Reaches(ok) {
		r.Locked(func() { r.t.Fatalf("the read has not come to %s; it says:\n%s", what, strings.Join(r.logs, "\n")) })
	}
}

// find returns the only record that fits; records of r may still come.
func (r *reading) find(what string, fits func(record) bool) record {
	r.t.Helper()
	var found []record
	r.Locked(func() {
		for _, rec := range r.records {
			if fits(rec) {
				found = append(found, rec)
			}
		}
	})
	if len(found) != 1 {
		r.t.Fatalf("%d records are %s, want one", len(found), what)
	}
	return found[0]
}

// active tells whether the last STATE of a stream says that its backfill is complete; for conditions.
func (r *reading) active(stream string) bool {
	for _, s := range slices.Backward(r.states) {
		if s.Stream.Name == stream {
			return strings.Contains(string(s.Body), `"mode":"active"`)
		}
	}
	return false
}

// of are the records of a stream so far; for conditions, and after the end.
func (r *reading) of(stream string) (records []record) {
	for _, rec := range r.records {
		if rec.stream == stream {
			records = append(records, rec)
		}
	}
	return records
}
