package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/store"
	"github.com/estuary/connectors/protocol"
)

// Check looks for everything that would stop a run, on both sides, and changes nothing in either. It returns what it found to be well, as lines for people;
// the error joins all problems.
func Check(ctx context.Context, o Options) ([]string, error) {
	p := newPipe(o, nil)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rec, storeErr := store.Look(o.File.State)
	running := errors.Is(storeErr, store.ErrLocked)
	if running {
		storeErr = nil
	}
	p.applied, p.sinkState = rec.Applied, rec.SinkState
	l, spec, sinkErr := p.startSink(ctx)
	if l != nil {
		defer l.end(sinkGrace)
		p.setSink(l)
	}
	in, err := p.openSource(ctx)
	var streams []offered
	if err == nil {
		defer in.end(0)
		streams, err = in.offer(ctx)
	}
	if err != nil && sinkErr == nil {
		sinkErr = p.validate(ctx) // without streams it still looks at its destination
	}
	if err != nil || sinkErr != nil {
		return nil, errors.Join(err, sinkErr, storeErr)
	}
	var before position
	before.Backfill, before.Resets = rec.Backfill, rec.Resets
	if p.routes, err = routes(p.file, streams, spec.ResourceConfigSchema, p.applied, before); err != nil {
		p.routes = nil // a name that is wrong hides nothing else
		return nil, errors.Join(err, in.validate(ctx), p.validate(ctx), storeErr)
	}
	if err := errors.Join(in.validate(ctx), p.validate(ctx), storeErr); err != nil {
		return nil, err
	}
	what := "streams"
	if len(p.routes) == 1 {
		what = "stream"
	}
	lines := []string{fmt.Sprintf("%s: %d %s can be copied.", p.file.Path, len(p.routes), what)}
	for _, r := range p.routes {
		how := "by key"
		if r.sink.DeltaUpdates {
			how = "added to only"
		}
		lines = append(lines, fmt.Sprintf("  %s → %s (%s, %d columns)", r.full(), joinPath(r.sink.ResourcePath), how, len(r.sink.Fields.Keys)+len(r.sink.Fields.Values)))
	}
	if running {
		lines = append(lines, "The pipeline runs and keeps its store to itself, so what it has made in the destination was not compared with what is there now.")
	}
	return lines, nil
}

// Streams lists what a source offers: full names, with whether the stream has a key of its own.
func Streams(ctx context.Context, o Options) (names []string, err error) {
	p := newPipe(o, nil)
	in, err := p.openSource(ctx)
	if err != nil {
		return nil, err
	}
	defer in.end(0)
	list, err := in.offer(ctx)
	for i := range list {
		names = append(names, list[i].full())
	}
	return names, err
}

// State returns the checkpoint that counts and the sink's state as one JSON object. It asks the destination, so the pipeline must not run.
func State(ctx context.Context, o Options) (json.RawMessage, error) {
	db, rec, err := openUsed(o.File)
	if err != nil {
		return nil, err
	}
	p := newPipe(o, db)
	raw, err := p.state(ctx, rec)
	return raw, errors.Join(err, db.Close())
}

// state opens the sink as it was applied last, which changes nothing.
func (p *pipe) state(ctx context.Context, rec store.Record) (json.RawMessage, error) {
	l, _, err := p.startSink(ctx)
	if l != nil {
		defer l.end(sinkGrace)
	}
	if err != nil {
		return nil, err
	}
	opened, err := openSink(ctx, l, flow.AppendSinkReopen(nil, rec.Applied, p.file.Name, p.sinkConfig, version, rec.SinkState))
	if err != nil {
		return nil, err
	}
	pos, err := remember(p.file, rec, opened.checkpoint)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(struct {
		Checkpoint store.Checkpoint `json:"checkpoint"`
		SinkState  json.RawMessage  `json:"sinkState"`
	}{pos.Checkpoint, orNull(rec.SinkState)}, "", "  ")
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// Backfill raises the counters of the streams that a pattern names, so that the next run empties their tables and fills them anew. It returns their names.
func Backfill(f *config.File, pattern string) (names []string, err error) {
	db, rec, err := openUsed(f)
	if err != nil {
		return nil, err
	}
	var known []string
	for path, name := range rec.Streams {
		known = append(known, name)
		if matches(pattern, name) || matches(pattern, bare(name)) {
			rec.Backfill[path]++
			names = append(names, name)
		}
	}
	if names == nil {
		slices.Sort(known)
		err = &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("pipeline %s has no stream %q", f.Name, pattern), Fix: fmt.Sprintf("the nearest is %q", nearest(pattern, known))}
		return nil, errors.Join(err, db.Close())
	}
	slices.Sort(names)
	return names, errors.Join(db.SetCounters(rec.Backfill, rec.Resets), db.Close())
}

// Reset forgets where the pipeline was: its next run starts with an epoch of its own and every table anew. It deletes nothing in either database. What
// remains there is returned.
func Reset(f *config.File) (Remains, error) {
	db, rec, err := openUsed(f)
	if err != nil {
		return Remains{}, err
	}
	for path := range rec.Streams {
		rec.Backfill[path]++
	}
	return remains(f, rec), errors.Join(db.Reset(max(rec.Epoch, 1)+1, rec.Backfill), db.Close())
}

// openUsed opens the store of a pipeline that has run before.
func openUsed(f *config.File) (*store.Store, store.Record, error) {
	never := &protocol.Problem{Kind: protocol.Config, Summary: "pipeline " + f.Name + " has not run here yet", Fix: "there is no store " + f.State}
	if !store.Exists(f.State) {
		return nil, store.Record{}, never
	}
	db, err := store.Open(f.State)
	if err != nil {
		return nil, store.Record{}, err
	}
	rec, err := db.Read()
	if err == nil && (len(rec.Streams) == 0 || rec.Applied == nil) {
		err = never
	}
	if err != nil {
		return nil, store.Record{}, errors.Join(err, db.Close())
	}
	return db, rec, nil
}

// Remains is what a reset leaves behind in both databases.
type Remains struct {
	Source, Sink config.Connector
	Pipeline     string
	Tables       [][]string // resource paths
}

func remains(f *config.File, rec store.Record) Remains {
	r := Remains{Source: f.Source, Sink: f.Sink, Pipeline: f.Name}
	var spec struct {
		Bindings []struct {
			ResourcePath []string `json:"resourcePath"`
		} `json:"bindings"`
	}
	_ = json.Unmarshal(rec.Applied, &spec) // nil before anything was applied
	for _, b := range spec.Bindings {
		r.Tables = append(r.Tables, b.ResourcePath)
	}
	return r
}
