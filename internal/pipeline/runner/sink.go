package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// sinkGrace is how long a sink may take to end after its input has.
const sinkGrace = 10 * time.Second

// look opens the sink for the routes without applying anything, to learn whose checkpoint counts.
func (p *pipe) look(ctx context.Context, l *link) (destination json.RawMessage, err error) {
	p.setSink(l)
	if err := p.validate(ctx); err != nil {
		return nil, err
	}
	opened, err := openSink(ctx, l, flow.AppendSinkOpen(nil, p.sinkTask(), version, p.sinkState))
	return opened.checkpoint, err
}

// startSink starts a sink and asks what it is.
func (p *pipe) startSink(ctx context.Context) (*link, flow.SpecResponse, error) {
	l, err := p.connect(sinkSide, p.file.Sink.Name, nil)
	if err != nil {
		return nil, flow.SpecResponse{}, err
	}
	spec, err := askSpec(ctx, l)
	if err == nil {
		err = p.learnSecrets(spec.ConfigSchema, p.file.Sink.Config)
	}
	p.sinkConfig = withoutDocument(p.file.Sink.Config, spec.ConfigSchema)
	return l, spec, err
}

// withoutDocument lets a sink that can do without the root document offer that, unless its configuration says otherwise: each stream decides for itself.
func withoutDocument(config, schema json.RawMessage) json.RawMessage {
	const option = "no_flow_document"
	root, _ := parseObject(schema)
	properties, _ := parseObject(root.get("properties"))
	o, ok := parseObject(config)
	if !ok {
		return config
	}
	if properties.get(option) != nil && o.get(option) == nil {
		o.set(option, json.RawMessage("true"))
		return o.json()
	}
	for _, section := range properties { // it may be one of the advanced options
		inner, isObject := parseObject(section.value)
		if !isObject || inner.get("properties") == nil {
			continue
		}
		given := o.get(section.name)
		if given == nil {
			given = json.RawMessage("{}")
		}
		if set := withoutDocument(given, section.value); !bytes.Equal(set, given) {
			o.set(section.name, set)
			return o.json()
		}
	}
	return config
}

type openedSink struct {
	checkpoint json.RawMessage
	loadAll    bool
	lengths    bool // it wants to be told where values end
}

func openSink(ctx context.Context, l *link, request []byte) (openedSink, error) {
	line, err := l.ask(ctx, request)
	if err != nil {
		return openedSink{}, err
	}
	r, err := flow.DecodeSinkResponse(line)
	if err != nil || r.Opened == nil {
		return openedSink{}, l.unexpected("opened", line, err)
	}
	return openedSink{bytes.Clone(r.Opened.Checkpoint), r.Opened.DisableLoadOptimization, r.Opened.Lengths}, nil
}

func (p *pipe) sinkTask() flow.SinkTask {
	t := flow.SinkTask{Name: p.file.Name, Config: p.sinkConfig}
	for _, r := range p.routes {
		t.Bindings = append(t.Bindings, r.sink)
	}
	return t
}

// openTransactions starts a sink for the routes: validate, select the fields, apply, open, and acknowledge what an earlier session may have left.
func (p *pipe) openTransactions(ctx context.Context) error {
	l, err := p.connect(sinkSide, p.file.Sink.Name, nil)
	if err != nil {
		return err
	}
	p.setSink(l)
	if err := p.validate(ctx); err != nil {
		return err
	}
	if err := p.apply(ctx); err != nil {
		return err
	}
	opened, err := openSink(ctx, l, flow.AppendSinkOpen(nil, p.sinkTask(), version, p.sinkState))
	if err != nil {
		return err
	}
	if !bytes.Equal(opened.checkpoint, p.pos.destination) && !(isEmptyObject(opened.checkpoint) && isEmptyObject(p.pos.destination)) {
		return fmt.Errorf("the sink %s returned another checkpoint than a moment ago: somebody else writes to this destination under the name %s", l.name, p.file.Name)
	}
	p.loadAll, p.lengths = opened.loadAll, opened.lengths
	for _, r := range p.routes {
		if _, known := p.pos.MaxKeys[r.sink.StateKey]; !known && !p.loadAll {
			p.pos.MaxKeys[r.sink.StateKey] = []byte{} // a new table is empty
		}
	}
	return p.acknowledge(ctx, nil)
}

// validate asks the sink what may become of each field, and selects.
func (p *pipe) validate(ctx context.Context) error {
	line, err := p.sink.ask(ctx, flow.AppendSinkValidate(nil, p.sinkTask(), p.applied))
	if err != nil {
		return err
	}
	r, err := flow.DecodeSinkResponse(line)
	if err != nil || r.Validated == nil || len(r.Validated.Bindings) != len(p.routes) {
		return p.sink.unexpected("the answer to validate", line, err)
	}
	var problems []error
	for i, v := range r.Validated.Bindings {
		r := p.routes[i]
		last := selected(p.applied, v.ResourcePath, r.sink.Backfill)
		if err := r.choose(v, last); err != nil {
			problems = append(problems, p.remedied(err, r, last != nil))
		}
	}
	return errors.Join(append(problems, collisions(p.routes))...)
}

// remedied says which command mends that the table of a stream, as it was made before, cannot hold what the stream is now.
func (p *pipe) remedied(err error, r *route, made bool) error {
	problem, ok := errors.AsType[*protocol.Problem](err)
	if !ok || !made {
		return err
	}
	told := *problem
	told.Fix = fmt.Sprintf("let the stream start over, which empties its table, changes it and fills it anew: pipeline backfill %s %s", p.file.Path, r.full())
	return &told
}

// apply makes the destination agree with the routes.
func (p *pipe) apply(ctx context.Context) error {
	task := p.sinkTask()
	const most = 10 // a sink that never ends is broken
	for range most {
		line, err := p.sink.ask(ctx, flow.AppendSinkApply(nil, task, version, p.applied, version, p.sinkState))
		if err != nil {
			return err
		}
		r, err := flow.DecodeSinkResponse(line)
		if err != nil || r.Applied == nil {
			return p.sink.unexpected("the answer to apply", line, err)
		}
		if r.Applied.ActionDescription != "" {
			p.sink.log().Info("applied: " + r.Applied.ActionDescription)
		}
		if p.sinkState, err = fold(p.sinkState, r.Applied.State); err != nil {
			return err
		}
		if r.Applied.State == nil {
			p.applied = remembered(flow.SinkTaskJSON(task), p.applied)
			return p.db.SetApplied(p.applied, p.sinkState)
		}
	}
	return fmt.Errorf("the sink %s does not come to an end of applying", p.sink.name)
}

// remembered is a specification as it is kept: without the configuration, which holds secrets, and with the bindings of the one before that it has no more.
// The sink has to know how often those had started over when they come back.
func remembered(spec, before json.RawMessage) json.RawMessage {
	o, _ := parseObject(spec)
	o.set("config", json.RawMessage("{}"))
	var now, was struct {
		Bindings []json.RawMessage `json:"bindings"`
		Inactive []json.RawMessage `json:"inactiveBindings"`
	}
	_ = json.Unmarshal(spec, &now) // both were rendered here
	_ = json.Unmarshal(before, &was)
	path := func(binding json.RawMessage) string {
		b, _ := parseObject(binding)
		return string(b.get("resourcePath"))
	}
	active := map[string]bool{}
	for _, b := range now.Bindings {
		active[path(b)] = true
	}
	inactive := []json.RawMessage{}
	for _, b := range append(was.Bindings, was.Inactive...) {
		if !active[path(b)] {
			active[path(b)] = true
			inactive = append(inactive, b)
		}
	}
	if len(inactive) > 0 {
		raw, _ := json.Marshal(inactive) // valid JSON each
		o.set("inactiveBindings", raw)
	}
	return o.json()
}

// changeSchemas makes the sink ready for documents of wider schemas.
func (p *pipe) changeSchemas(ctx context.Context, schemas map[int]json.RawMessage) error {
	p.version++
	for i, schema := range schemas {
		r := p.routes[i]
		if err := r.describe(schema); err != nil {
			return err
		}
		r.changed = p.version
		p.sink.log().WithField("stream", r.full()).Info("the stream's schema has changed: the sink is applied anew")
	}
	return p.reopen(ctx)
}

// startOver empties the tables of streams that the source has begun anew: the sink truncates where the counter has risen.
func (p *pipe) startOver(ctx context.Context, resets []flow.Reset) error {
	for _, reset := range resets {
		r := p.routes[reset.Binding]
		p.pos.Backfill[r.path]++
		p.pos.Resets[r.path]++
		delete(p.pos.MaxKeys, r.sink.StateKey)
		p.sink.log().WithField("stream", r.full()).WithField("reason", reset.Reason).Warn("the stream starts over: its table is emptied and filled anew")
	}
	if err := p.db.SetCounters(p.pos.Backfill, p.pos.Resets); err != nil {
		return err
	}
	for _, reset := range resets {
		p.routes[reset.Binding].count(p.pos)
	}
	return p.reopen(ctx)
}

// reopen ends the sink at the end of a transaction and starts it with the routes as they are now.
func (p *pipe) reopen(ctx context.Context) error {
	old := p.sink
	old.closeStdin()
	if !old.wait(sinkGrace) {
		old.end(0)
		return fmt.Errorf("the sink %s does not end when its input does", old.name)
	}
	err := old.ending()
	old.end(0)
	if err != nil {
		return err
	}
	return p.openTransactions(ctx)
}
