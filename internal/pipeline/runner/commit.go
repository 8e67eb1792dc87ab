package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/internal/transact"
)

// writeBytes is from how many bytes on requests are written to the sink in one piece.
const writeBytes = 256 << 10

// transaction is what the collector hands to the committer. It ends at a checkpoint of the source.
type transaction struct {
	docs        *transact.Combiner
	plan        int             // the version of the routes that docs was made for
	capture     json.RawMessage // the source's state after it
	checkpoints uint32          // of the source's in it
	rows        []int64         // by binding
	schemas     map[int]json.RawMessage
	resets      []flow.Reset // after it
}

// commit runs a transaction through the sink, makes it durable and tells the source. When it returns, the sink is ready for the next one.
func (p *pipe) commit(ctx context.Context, t *transaction) error {
	if len(t.schemas) > 0 {
		if err := p.changeSchemas(ctx, t.schemas); err != nil {
			return err
		}
	}
	for i, r := range p.routes {
		key, known := p.pos.MaxKeys[r.sink.StateKey]
		t.docs.SetMaxKey(i, key, known && !p.loadAll)
	}
	if err := p.load(ctx, t.docs); err != nil {
		return err
	}
	next := p.pos.Checkpoint
	next.Txn++
	next.Capture, next.MaxKeys = t.capture, maps.Clone(p.pos.MaxKeys)
	if err := p.store(t, next.MaxKeys); err != nil {
		return err
	}
	checkpoint := next.JSON()
	line, err := p.sink.ask(ctx, flow.AppendStartCommit(nil, checkpoint))
	if err != nil {
		return err
	}
	r, err := flow.DecodeSinkResponse(line)
	if err != nil || r.StartedCommit == nil {
		return p.sink.unexpected("startedCommit", line, err)
	}
	if p.sinkState, err = fold(p.sinkState, r.StartedCommit.State); err != nil {
		return err
	}
	// A staged sink has described the transaction in its state: this write makes it happen.
	if err := p.db.Commit(next.Epoch, checkpoint, p.sinkState); err != nil {
		return err
	}
	p.pos.Checkpoint = next
	if p.pos.destination != nil {
		p.pos.destination = checkpoint
	}
	p.committed(t)
	p.source.acknowledge(t.checkpoints)
	var patches []json.RawMessage
	if u := r.StartedCommit.State; u != nil && u.MergePatch && len(u.Updated) > 0 {
		patches = append(patches, u.Updated)
	}
	if err := p.acknowledge(ctx, patches); err != nil {
		return err
	}
	if len(t.resets) > 0 {
		return p.startOver(ctx, t.resets)
	}
	return nil
}

// acknowledge lets the sink do what it has described in its state.
func (p *pipe) acknowledge(ctx context.Context, patches []json.RawMessage) error {
	line, err := p.sink.ask(ctx, flow.AppendSinkAcknowledge(nil, patches))
	if err != nil {
		return err
	}
	r, err := flow.DecodeSinkResponse(line)
	if err != nil || r.Acknowledged == nil {
		return p.sink.unexpected("acknowledged", line, err)
	}
	p.sinkState, err = fold(p.sinkState, r.Acknowledged.State)
	return err
}

// load asks for the documents that the destination may have, and ends with flush. The requests are written by a goroutine: the sink may answer, and wait
// for room in the pipe, before it has read them all.
func (p *pipe) load(ctx context.Context, docs *transact.Combiner) error {
	keys := docs.Keys()
	written := make(chan error, 1)
	go func() { written <- p.writeLoads(keys) }()
	err := p.readLoaded(ctx, docs)
	if err != nil {
		p.sink.kill() // its writer may be waiting for room
	}
	if writeErr := <-written; writeErr != nil && (err == nil || ctx.Err() != nil) {
		return writeErr
	}
	return err
}

func (p *pipe) writeLoads(keys *transact.Keys) error {
	buf := p.loads[:0]
	defer func() { p.loads = buf[:0] }()
	for {
		key, err := keys.Next()
		if err != nil {
			p.sink.kill() // its reader waits for the answers
			return err
		}
		if key == nil {
			buf = append(buf, flow.FlushRequest...)
		} else {
			buf = flow.AppendLoad(buf, key.Binding, key.Values)
		}
		if len(buf) >= writeBytes || key == nil {
			if err := p.sink.send(buf); err != nil || key == nil {
				return err
			}
			buf = buf[:0]
		}
	}
}

func (p *pipe) readLoaded(ctx context.Context, docs *transact.Combiner) error {
	for {
		line, err := p.sink.reply(ctx)
		if err != nil {
			return err
		}
		if binding, doc, ok := flow.ScanLoaded(line); ok {
			if err := docs.Loaded(binding, doc); err != nil {
				return fmt.Errorf("loading from the sink %s: %w", p.sink.name, err)
			}
			continue
		}
		r, err := flow.DecodeSinkResponse(line)
		switch {
		case err == nil && r.Loaded != nil:
			if err := docs.Loaded(r.Loaded.Binding, r.Loaded.Doc); err != nil {
				return fmt.Errorf("loading from the sink %s: %w", p.sink.name, err)
			}
		case err == nil && r.Flushed != nil:
			p.sinkState, err = fold(p.sinkState, r.Flushed.State)
			return err
		default:
			return p.sink.unexpected("loaded or flushed", line, err)
		}
	}
}

// store writes the documents, and notes the greatest keys.
func (p *pipe) store(t *transaction, maxKeys map[string][]byte) error {
	docs := t.docs.Docs()
	extract, err := p.extractors(t)
	if err != nil {
		return err
	}
	buf := p.stores[:0]
	defer func() { p.stores = buf[:0] }()
	binding := -1
	var greatest []byte
	noteGreatest := func() {
		if binding < 0 || p.loadAll {
			return
		}
		key := p.routes[binding].sink.StateKey
		if before, known := maxKeys[key]; known && string(greatest) > string(before) {
			maxKeys[key] = append([]byte{}, greatest...)
		}
	}
	for {
		d, err := docs.Next()
		if err != nil {
			return err
		}
		if d == nil {
			break
		}
		if d.Binding != binding {
			noteGreatest()
			binding, greatest = d.Binding, greatest[:0]
		}
		greatest = append(greatest[:0], d.Packed...) // ascending
		r := p.routes[binding]
		values := d.Values
		if e := extract[binding]; e != nil {
			if values, err = e.values(d.JSON); err != nil {
				return fmt.Errorf("reading a document of stream %s: %w", r.name, err)
			}
		}
		doc := d.JSON
		if r.sink.Fields.Document == "" {
			doc = nil
		}
		buf = flow.AppendStore(buf, d.Binding, d.Key, values, doc, d.Exists, d.Delete, p.lengths)
		if len(buf) >= writeBytes {
			if err := p.sink.send(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	noteGreatest()
	if len(buf) == 0 {
		return nil
	}
	return p.sink.send(buf)
}

// extractor takes values out of documents that were combined before the fields changed.
type extractor struct {
	from *rawjson.Extractor
	into [][]byte
}

func (e *extractor) values(doc []byte) ([][]byte, error) {
	return e.into, e.from.Extract(doc, e.into)
}

// extractors are those of the bindings whose fields have changed since the combiner was made; nil: it has the values itself.
func (p *pipe) extractors(t *transaction) ([]*extractor, error) {
	list := make([]*extractor, len(p.routes))
	for i, r := range p.routes {
		if r.changed <= t.plan {
			continue
		}
		pointers := r.pointers(r.sink.Fields.Values)
		from, err := rawjson.NewExtractor(pointers)
		if err != nil {
			return nil, fmt.Errorf("preparing the values of stream %s: %w", r.name, err)
		}
		list[i] = &extractor{from, make([][]byte, len(pointers))}
	}
	return list, nil
}
