package protocoltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// response is one line of a Flow capture, as far as the driver looks at it.
type response struct {
	kind       string
	Discovered *struct {
		Bindings []flowBinding `json:"bindings"`
	} `json:"discovered"`
	Validated *struct {
		Bindings []struct {
			Path []string `json:"resourcePath"`
		} `json:"bindings"`
	} `json:"validated"`
	Opened *struct {
		Acknowledgements bool `json:"explicitAcknowledgements"`
	} `json:"opened"`
	Captured *struct {
		Binding int             `json:"binding"`
		Doc     json.RawMessage `json:"doc"`
	} `json:"captured"`
	Schema *struct {
		Binding int             `json:"binding"`
		Schema  json.RawMessage `json:"documentSchema"`
	} `json:"sourcedSchema"`
	Checkpoint *struct {
		State struct {
			Updated json.RawMessage `json:"updated"`
			Merge   bool            `json:"mergePatch"`
		} `json:"state"`
	} `json:"checkpoint"`
	Reset *struct {
		Binding int    `json:"binding"`
		Reason  string `json:"reason"`
	} `json:"reset"`
}

// flowBinding is a stream that the capture offers.
type flowBinding struct {
	Name     string          `json:"recommendedName"`
	Resource json.RawMessage `json:"resourceConfig"`
	Schema   json.RawMessage `json:"documentSchema"`
	Key      []string        `json:"key"`
	Path     []string        `json:"resourcePath"`
	stream   Stream          // of the fixture
}

// driver is Flow's runtime on the other end of one process.
type driver struct {
	s        *session
	p        *process
	bindings []flowBinding // of the open capture
	reset    bool          // open asked for resets
	watchdog *time.Timer

	schemas    map[int][]*jsonschema.Schema // of each binding's documents: as discovered, and as sourced last
	checkpoint time.Time                    // when the last one came
	log        *[]*flowRun                  // what was there after each checkpoint; nil: nobody wants to know
}

// drive starts the connector without a command. The runtime asks for the spec first, on the same stdin as everything else.
func (s *session) drive() (*driver, error) {
	d, err := s.driveSilently()
	if err != nil {
		return nil, err
	}
	if _, err := d.ask(`{"spec":{"connectorType":"IMAGE","config":{}}}`, "spec"); err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

func (s *session) driveSilently() (*driver, error) {
	p, err := s.start(command{stdin: true})
	if err != nil {
		return nil, err
	}
	return &driver{s: s, p: p, watchdog: time.AfterFunc(s.f.patience(), p.kill)}, nil
}

func (d *driver) end() {
	d.watchdog.Stop()
	d.p.end()
}

// next returns the next response. Whatever the runtime would refuse is a finding.
func (d *driver) next() (*response, error) {
	line, err := d.p.next()
	if err != nil {
		return nil, err
	}
	for _, secret := range d.s.f.Secrets {
		if strings.Contains(string(line), secret) {
			d.s.report("a secret of the config is in a response")
		}
	}
	kind, err := strictFlow(line)
	if err == nil && kind == "reset" && !d.reset {
		err = errors.New("a response reset, although open did not ask for it: the runtime refuses the unknown member")
	}
	if err != nil {
		d.s.report("%v", err)
	}
	r := &response{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("reading the response %.100q: %w", line, err)
	}
	r.kind = kind
	return r, nil
}

// ask sends a request and returns its one response.
func (d *driver) ask(request, kind string) (*response, error) {
	if err := d.p.send(request); err != nil {
		return nil, err
	}
	r, err := d.next()
	if err != nil {
		return nil, d.explain(fmt.Errorf("no response to %s: %w", kind, err))
	}
	if r.kind != kind {
		return nil, fmt.Errorf("the response to %s is %q", kind, r.kind)
	}
	return r, nil
}

// explain adds what the connector says about its end.
func (d *driver) explain(err error) error {
	ended, waitErr := d.p.wait(quickly)
	return errors.Join(fmt.Errorf("%w (%s; stderr: %.300q)", err, ended, lastLine(ended.stderr)), waitErr)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// discover asks for the bindings, in the order of the fixture's streams.
func (d *driver) discover() ([]flowBinding, error) {
	r, err := d.ask(`{"discover":{"name":"acme/capture","connectorType":"IMAGE","config":`+compact(d.s.f.Config)+`,"createdAt":"2026-08-01"}}`, "discovered")
	if err != nil {
		return nil, err
	}
	var list []flowBinding
	for _, stream := range d.s.f.Streams {
		i := slices.IndexFunc(r.Discovered.Bindings, func(b flowBinding) bool {
			path := b.Path[len(b.Path)-1]
			return path == stream.Name || stream.Namespace+"."+path == stream.Name
		})
		if i < 0 {
			return nil, fmt.Errorf("discover offers no binding for %s", stream.descriptor())
		}
		b := r.Discovered.Bindings[i]
		b.stream = stream
		list = append(list, b)
	}
	if len(list) != len(r.Discovered.Bindings) {
		return nil, fmt.Errorf("discover offers %d bindings, the fixture has %d streams", len(r.Discovered.Bindings), len(list))
	}
	return list, nil
}

func compact(raw json.RawMessage) string {
	value, err := parse(raw)
	if err != nil {
		return string(raw)
	}
	return canonical(value)
}

// stateKey names a binding's state.
func (b flowBinding) stateKey() string { return url.PathEscape(strings.Join(b.Path, "/")) }

// capture writes a CaptureSpec.
func (s *session) capture(bs []flowBinding) string {
	list := []any{}
	for _, b := range bs {
		list = append(list, map[string]any{
			"resourceConfig": b.Resource, "resourcePath": b.Path, "stateKey": b.stateKey(),
			"collection": map[string]any{
				"name": "acme/" + b.Name, "key": b.Key, "uuidPtr": "/_meta/uuid", "writeSchema": b.Schema,
				"projections": []any{map[string]any{"field": "flow_document"}}, "partitionFields": []any{},
			},
		})
	}
	return canonical(map[string]any{
		"name": "acme/capture", "connectorType": "IMAGE", "config": s.f.Config, "bindings": list, "intervalSeconds": 300, "shardTemplate": map[string]any{}, "redactSalt": "c2FsdA==",
	})
}

// openWith are the parts of open that differ.
type openWith struct {
	state any
	once  bool // "tail":false
	reset bool
}

// open opens a capture. The response opened comes first.
func (d *driver) open(bs []flowBinding, with openWith) error {
	state := "{}"
	if with.state != nil {
		state = canonical(with.state)
	}
	d.bindings, d.reset, d.schemas = bs, with.reset, map[int][]*jsonschema.Schema{}
	for i, b := range bs {
		schema, err := compile(b.Schema, "")
		if err != nil {
			return fmt.Errorf("the documentSchema of %s: %w", b.Name, err)
		}
		d.schemas[i] = []*jsonschema.Schema{schema}
	}
	request := `{"open":{"capture":` + d.s.capture(bs) + `,"version":"1","range":{"keyEnd":4294967295,"rClockEnd":4294967295},"state":` + state
	if with.once {
		request += `,"tail":false`
	}
	if with.reset {
		request += `,"reset":true`
	}
	r, err := d.ask(request+"}}", "opened")
	if err != nil {
		return err
	}
	if !r.Opened.Acknowledgements {
		d.s.report("opened does not ask for acknowledgements")
	}
	return nil
}

// flowRun is what an open capture has brought so far: what is committed, and what waits for a checkpoint.
type flowRun struct {
	kept        tables // all documents
	committed   tables // those that checkpoints cover
	document    any    // the folded state
	checkpoints int
	waiting     int          // documents since the last checkpoint
	described   map[int]bool // bindings that had a sourcedSchema
	resets      []response
	fresh       bool // nothing came since the last checkpoint or reset
}

func (s *session) newFlowRun(kept tables, document any) *flowRun {
	return &flowRun{kept: kept.clone(), committed: kept.clone(), document: document, described: map[int]bool{}, fresh: true}
}

// step takes one response of an open capture.
func (d *driver) step(run *flowRun) (*response, error) {
	r, err := d.next()
	if err != nil {
		return nil, err
	}
	binding := 0
	switch {
	case r.Captured != nil:
		binding = r.Captured.Binding
	case r.Schema != nil:
		binding = r.Schema.Binding
	case r.Reset != nil:
		binding = r.Reset.Binding
	}
	if binding >= len(d.bindings) {
		return nil, fmt.Errorf("a response %s of binding %d, but only %d are open", r.kind, binding, len(d.bindings))
	}
	switch r.kind {
	case "captured":
		b := d.bindings[binding]
		if !run.described[binding] && !b.stream.Open {
			d.s.report("a document of %s before a sourcedSchema of it", b.Name)
			run.described[binding] = true // once is enough
		}
		d.fitsSchemas(b, d.schemas[binding], r.Captured.Doc)
		if err := run.kept[b.stream.descriptor()].add(r.Captured.Doc); err != nil {
			d.s.report("%v", err)
		}
		run.waiting++
		run.fresh = false
	case "sourcedSchema":
		run.described[binding] = true
		schema, err := compile(r.Schema.Schema, "")
		if err != nil {
			return nil, fmt.Errorf("a sourcedSchema of %s: %w", d.bindings[binding].Name, err)
		}
		d.schemas[binding] = append(d.schemas[binding][:1:1], schema)
	case "checkpoint":
		patch, err := parse(r.Checkpoint.State.Updated)
		if err != nil {
			return nil, err
		}
		if !r.Checkpoint.State.Merge {
			run.document = nil
		}
		run.document = merge(run.document, patch)
		run.checkpoints++
		run.waiting, run.committed, run.fresh = 0, run.kept.clone(), true
		d.checkpoint = time.Now()
		if d.log != nil {
			after := *run
			*d.log = append(*d.log, &after)
		}
	case "reset":
		if !run.fresh {
			d.s.report("reset of %s comes in the middle of a checkpoint", d.bindings[binding].Name)
		}
		run.kept[d.bindings[binding].stream.descriptor()] = newFolded(d.bindings[binding].stream)
		run.resets = append(run.resets, *r)
	default:
		d.s.report("a response %q in an open capture", r.kind)
	}
	return r, nil
}

// fitsSchemas reports a document that does not fit what was said about it. The runtime would refuse it, now or when it is read.
func (d *driver) fitsSchemas(b flowBinding, schemas []*jsonschema.Schema, doc json.RawMessage) {
	value, err := parse(doc)
	if err != nil {
		d.s.report("a document of %s: %v", b.Name, err)
		return
	}
	for i, schema := range schemas {
		if err := fits(schema, value); err != nil {
			d.s.report("a document of %s does not fit its %s: %v: %.300s", b.Name, [...]string{"discovered schema", "sourcedSchema"}[i], err, doc)
		}
	}
}

// acknowledge says that n more checkpoints are durable. 1 is the default, which is left out.
func (d *driver) acknowledge(n int) error {
	if n == 1 {
		return d.p.send(`{"acknowledge":{}}`)
	}
	return d.p.send(fmt.Sprintf(`{"acknowledge":{"checkpoints":%d}}`, n))
}

// drain takes responses to the end of the output, and acknowledges each checkpoint when told to. The run must end well, and at a checkpoint.
func (d *driver) drain(what string, run *flowRun, acknowledging bool) error {
	for {
		r, err := d.step(run)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return d.explain(fmt.Errorf("%s: %w", what, err))
		}
		if r.kind == "checkpoint" && acknowledging {
			if err := d.acknowledge(1); err != nil {
				return d.explain(err)
			}
		}
	}
	ended, err := d.p.wait(quickly)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if ended.code != 0 {
		d.s.report("%s: %s, want exit code 0; stderr: %.300q", what, ended, lastLine(ended.stderr))
	}
	if run.waiting > 0 {
		d.s.report("%s: %d documents after the last checkpoint", what, run.waiting)
	}
	return nil
}

// until takes responses until what is committed is what the source holds.
func (d *driver) until(what string, run *flowRun) error {
	want, err := d.s.rows()
	if err != nil {
		return err
	}
	for d.lacks(run, want) != "" || run.waiting > 0 {
		if _, err := d.step(run); err != nil {
			return d.explain(fmt.Errorf("waiting until %s have come: %w: %s", what, err, d.lacks(run, want)))
		}
	}
	return nil
}

// lacks is how the committed documents of the open bindings differ from what the source holds; empty: not at all.
func (d *driver) lacks(run *flowRun, want map[string][]json.RawMessage) string {
	for _, b := range d.bindings {
		if list := run.committed[b.stream.descriptor()].differences(want[b.stream.Name]); len(list) > 0 {
			return list[0]
		}
	}
	return ""
}

// level reports where the committed documents differ from the source.
func (d *driver) level(when string, run *flowRun) error {
	want, err := d.s.rows()
	if err != nil {
		return err
	}
	if lack := d.lacks(run, want); lack != "" {
		d.s.report("%s the committed documents do not amount to what the source holds: %s", when, lack)
	}
	return nil
}
