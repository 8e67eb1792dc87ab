package protocoltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// sinkSession is one suite on one fixture.
type sinkSession struct {
	*session
	sink   *SinkFixture
	packed bool // keys and values as tuples
	bound  int  // how many of the collections are bound

	configSchema, resourceSchema map[string]any
	paths                        [len3][]string // resource paths, as validated
	backfill                     [len3]int

	committed  *world // what the runner knows to be durable
	state      any    // the connector's, folded
	checkpoint string // of the last commit; empty: none
	counter    int    // of checkpoints
}

func newSinkSession(ctx context.Context, f *SinkFixture) *sinkSession {
	return &sinkSession{
		session: &session{ctx: ctx, told: map[string]int{}, f: &Fixture{Binary: f.Binary, Config: f.Config, Refused: f.Refused, Secrets: f.Secrets, Patience: f.Patience}},
		sink:    f, committed: newWorld(), bound: len(collections),
	}
}

// sinkResponse is one line of a materialization, as far as the driver looks at it.
type sinkResponse struct {
	kind string
	Spec *struct {
		Config   map[string]any `json:"configSchema"`
		Resource map[string]any `json:"resourceConfigSchema"`
	} `json:"spec"`
	Validated *struct {
		Bindings []struct {
			Constraints map[string]struct {
				Type string `json:"type"`
			} `json:"constraints"`
			Path  []string `json:"resourcePath"`
			Delta bool     `json:"deltaUpdates"`
		} `json:"bindings"`
	} `json:"validated"`
	Applied *struct {
		Description string `json:"actionDescription"`
	} `json:"applied"`
	Opened *struct {
		Checkpoint json.RawMessage `json:"runtimeCheckpoint"`
	} `json:"opened"`
	Loaded *struct {
		Binding int             `json:"binding"`
		Doc     json.RawMessage `json:"doc"`
	} `json:"loaded"`
	StartedCommit, Acknowledged *struct {
		State *struct {
			Updated json.RawMessage `json:"updated"`
		} `json:"state"`
	}
}

// sinkDriver is Flow's runtime on the other end of one process.
type sinkDriver struct {
	s        *sinkSession
	p        *process
	watchdog *time.Timer
	wanted   []map[string]string // by binding: documents that loads of this transaction have to bring, by packed key
}

// drive starts the connector without a command. The runtime asks for the spec first, on the same stdin as everything else.
func (s *sinkSession) drive() (*sinkDriver, error) {
	p, err := s.start(command{stdin: true})
	if err != nil {
		return nil, err
	}
	d := &sinkDriver{s: s, p: p, watchdog: time.AfterFunc(s.f.patience(), p.kill)}
	r, err := d.ask(`{"spec":{"connectorType":"IMAGE","config":{}}}`, "spec")
	if err != nil {
		d.end()
		return nil, err
	}
	s.configSchema, s.resourceSchema = r.Spec.Config, r.Spec.Resource
	return d, nil
}

func (d *sinkDriver) end() {
	d.watchdog.Stop()
	d.p.end()
	for _, secret := range d.s.f.Secrets {
		if strings.Contains(d.p.exit.stderr, secret) {
			d.s.report("a secret of the config is written to stderr")
		}
	}
}

// next returns the next response. Whatever the runtime would refuse is a finding.
func (d *sinkDriver) next() (*sinkResponse, error) {
	line, err := d.p.next()
	if err != nil {
		return nil, err
	}
	for _, secret := range d.s.f.Secrets {
		if strings.Contains(string(line), secret) {
			d.s.report("a secret of the config is in a response")
		}
	}
	kind, err := strictSink(line)
	if err != nil {
		d.s.report("%v", err)
	}
	r := &sinkResponse{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("reading the response %.100q: %w", line, err)
	}
	r.kind = kind
	return r, nil
}

// ask sends a request and returns its one response.
func (d *sinkDriver) ask(request, kind string) (*sinkResponse, error) {
	if err := d.p.send(request); err != nil {
		return nil, d.explain(err)
	}
	return d.expect(kind)
}

func (d *sinkDriver) expect(kind string) (*sinkResponse, error) {
	r, err := d.next()
	if err != nil {
		return nil, d.explain(fmt.Errorf("no response %s: %w", kind, err))
	}
	if r.kind != kind {
		return nil, fmt.Errorf("the next response is %q, want %s", r.kind, kind)
	}
	return r, nil
}

// explain adds what the connector says about its end.
func (d *sinkDriver) explain(err error) error {
	ended, waitErr := d.p.wait(quickly)
	return errors.Join(fmt.Errorf("%w (%s; stderr: %.300q)", err, ended, lastLine(ended.stderr)), waitErr)
}

// resource is a binding's, made by the annotations of the schema.
func (s *sinkSession) resource(binding int) map[string]any {
	properties, _ := s.resourceSchema["properties"].(map[string]any)
	r := map[string]any{}
	for name, v := range properties {
		node, _ := v.(map[string]any)
		if node["x-collection-name"] == true {
			r[name] = collections[binding].table
		}
		if node["x-delta-updates"] == true && collections[binding].delta {
			r[name] = true
		}
	}
	return r
}

// fields is the selection of a binding: everything, and of the plain table the document as well.
func fields(binding int) map[string]any {
	c := &collections[binding]
	names := func(columns []column) (list []string) {
		for _, col := range columns {
			list = append(list, col.name)
		}
		return list
	}
	selection := map[string]any{"keys": names(c.keys), "values": names(c.values)}
	if binding == orders {
		selection["document"] = document0
	}
	return selection
}

// materialization is the task's specification.
func (s *sinkSession) materialization() string {
	var list []any
	for i := range s.bound {
		key := strings.Join(s.paths[i], "%2F")
		if s.backfill[i] > 0 {
			key += fmt.Sprintf(".v%d", s.backfill[i])
		}
		b := map[string]any{
			"resourceConfig": s.resource(i), "resourcePath": s.paths[i], "collection": collections[i].spec(), "fieldSelection": fields(i), "stateKey": key,
			"partitionSelector": map[string]any{}, "journalReadSuffix": "materialize/acme/mat/" + key,
		}
		if collections[i].delta {
			b["deltaUpdates"] = true
		}
		if s.backfill[i] > 0 {
			b["backfill"] = s.backfill[i]
		}
		list = append(list, b)
	}
	return canonical(map[string]any{"name": "acme/mat", "connectorType": "IMAGE", "config": s.f.Config, "bindings": list, "shardTemplate": map[string]any{}})
}

// validate asks for the constraints and learns the resource paths. last is what was applied before; empty: nothing.
func (d *sinkDriver) validate(last string) error {
	var list []any
	for i := range d.s.bound {
		list = append(list, map[string]any{"resourceConfig": d.s.resource(i), "collection": collections[i].spec(), "fieldConfig": map[string]any{"id": map[string]any{}}, "groupBy": []any{}, "backfill": d.s.backfill[i]})
	}
	request := `{"validate":{"name":"acme/mat","connectorType":"IMAGE","config":` + compact(d.s.f.Config) + `,"bindings":` + canonical(list)
	if last != "" {
		request += `,"lastMaterialization":` + last + `,"lastVersion":"1"`
	}
	r, err := d.ask(request+`,"$internal":"x"}}`, "validated")
	if err != nil {
		return err
	}
	if len(r.Validated.Bindings) != d.s.bound {
		return fmt.Errorf("validated has %d bindings, asked were %d", len(r.Validated.Bindings), d.s.bound)
	}
	for i, b := range r.Validated.Bindings {
		c := &collections[i]
		d.s.paths[i] = b.Path
		if b.Delta != c.delta {
			d.s.report("validated says deltaUpdates %v for %s, want %v", b.Delta, c.table, c.delta)
		}
		for _, col := range slices.Concat(c.keys, c.values, []column{{name: document0}}) {
			kind := b.Constraints[col.name].Type
			switch {
			case kind == "":
				d.s.report("the field %s of %s has no constraint", col.name, c.table)
			case col.name != document0 && slices.Contains([]string{"FIELD_FORBIDDEN", "INCOMPATIBLE", "UNSATISFIABLE"}, kind):
				d.s.report("the field %s of %s is %s", col.name, c.table, kind)
			}
		}
		if len(b.Constraints) != len(c.keys)+len(c.values)+1 {
			d.s.report("%d constraints for %d fields of %s: %q", len(b.Constraints), len(c.keys)+len(c.values)+1, c.table, slices.Sorted(maps.Keys(b.Constraints)))
		}
	}
	return nil
}

// apply makes the tables. It returns what was done.
func (d *sinkDriver) apply(last string) (string, error) {
	request := `{"apply":{"materialization":` + d.s.materialization() + `,"version":"1","state":` + d.s.stateText()
	if last != "" {
		request += `,"lastMaterialization":` + last + `,"lastVersion":"0"`
	}
	r, err := d.ask(request+"}}", "applied")
	if err != nil {
		return "", err
	}
	return r.Applied.Description, nil
}

func (s *sinkSession) stateText() string {
	if s.state == nil {
		return "{}"
	}
	return canonical(s.state)
}

// begin validates, applies and opens in one process.
func (s *sinkSession) begin() (*sinkDriver, error) {
	d, err := s.drive()
	if err != nil {
		return nil, err
	}
	if err = d.validate(""); err == nil {
		_, err = d.apply("")
	}
	if err == nil {
		err = d.open()
	}
	if err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// again opens in a new process.
func (s *sinkSession) again() (*sinkDriver, error) {
	d, err := s.drive()
	if err != nil {
		return nil, err
	}
	if err := d.open(); err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// openRaw opens and returns the checkpoint in the answer.
func (d *sinkDriver) openRaw() (json.RawMessage, error) {
	r, err := d.ask(`{"open":{"materialization":`+d.s.materialization()+`,"version":"1","range":{"keyEnd":4294967295,"rClockEnd":4294967295},"state":`+d.s.stateText()+`}}`, "opened")
	if err != nil {
		return nil, err
	}
	return r.Opened.Checkpoint, nil
}

// open opens a session. Its checkpoint must be that of the last commit.
func (d *sinkDriver) open() error {
	got, err := d.openRaw()
	if err != nil {
		return err
	}
	want := ""
	if d.s.sink.KeepsCheckpoint {
		if want = d.s.checkpoint; want == "" {
			want = "{}"
		}
	}
	if string(got) != want {
		d.s.report("opened has the checkpoint %q, want %q", got, want)
	}
	return nil
}

// acknowledge sends the first request of a transaction and takes its response.
func (d *sinkDriver) acknowledge() error {
	if err := d.p.send(`{"acknowledge":{}}`); err != nil {
		return d.explain(err)
	}
	return d.acknowledged()
}

func (d *sinkDriver) acknowledged() error {
	r, err := d.expect("acknowledged")
	if err == nil && r.Acknowledged.State != nil {
		err = d.s.patch(r.Acknowledged.State.Updated)
	}
	return err
}

func (s *sinkSession) patch(text json.RawMessage) error {
	patch, err := parse(text)
	if err != nil {
		return err
	}
	s.state = merge(s.state, patch)
	return nil
}

// endsWithInput: after the end of stdin comes nothing, and exit code 0.
func (d *sinkDriver) endsWithInput(what string) error {
	if err := d.p.stdin.Close(); err != nil {
		return fmt.Errorf("closing the connector's stdin: %w", err)
	}
	d.watchdog.Reset(quickly)
	if line, err := d.p.next(); !errors.Is(err, io.EOF) {
		d.s.report("after %s and the end of its input: %.100q (%v), want nothing", what, line, err)
	}
	ended, err := d.p.wait(quickly)
	if err != nil {
		return err
	}
	if ended.code != 0 {
		d.s.report("after %s and the end of its input: %s, want exit code 0; stderr: %.300q", what, ended, lastLine(ended.stderr))
	}
	return nil
}
