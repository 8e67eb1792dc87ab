package protocoltest

import (
	"fmt"
	"slices"
)

// loads asks for documents by their keys. Those of committed documents have to come.
func (d *sinkDriver) loads(list []store) error {
	if d.wanted == nil {
		d.wanted = []map[string]string{{}, {}, {}}
	}
	for _, l := range list {
		c := &collections[l.binding]
		if err := d.p.send(d.loadLine(l)); err != nil {
			return d.explain(err)
		}
		key := string(pack(c.key(l.doc)))
		if have, ok := d.s.committed.keyed[l.binding][key]; ok {
			d.wanted[l.binding][key] = canonicalRow(have)
		}
	}
	return nil
}

func (d *sinkDriver) loadLine(l store) string {
	c := &collections[l.binding]
	line := `{"load":{`
	if l.binding > 0 {
		line += fmt.Sprintf(`"binding":%d,`, l.binding)
	}
	return line + d.keyText(c.key(l.doc)) + "}}"
}

func (d *sinkDriver) keyText(key []any) string {
	if d.s.packed {
		return `"keyPacked":"` + base64Of(key) + `"`
	}
	return `"key":` + canonical(key)
}

// flush ends the loads and takes their documents.
func (d *sinkDriver) flush() error {
	if err := d.p.send(`{"flush":{}}`); err != nil {
		return d.explain(err)
	}
	for {
		r, err := d.next()
		if err != nil {
			return d.explain(fmt.Errorf("no response flushed: %w", err))
		}
		switch r.kind {
		case "loaded":
			d.take(r)
			continue
		case "flushed":
		default:
			return fmt.Errorf("the response %q came where loaded or flushed had to", r.kind)
		}
		break
	}
	for i, keys := range d.wanted {
		for _, document := range keys {
			d.s.report("a document of %s was not loaded: %s", collections[i].table, document)
		}
	}
	d.wanted = nil
	return nil
}

// take looks at a loaded document.
func (d *sinkDriver) take(r *sinkResponse) {
	value, err := parse(r.Loaded.Doc)
	object, ok := value.(map[string]any)
	if err != nil || !ok || r.Loaded.Binding >= len(collections) {
		d.s.report("a loaded document of binding %d cannot be read: %.200s", r.Loaded.Binding, r.Loaded.Doc)
		return
	}
	c := &collections[r.Loaded.Binding]
	key := string(pack(c.key(object)))
	var want string
	if d.wanted != nil {
		want = d.wanted[r.Loaded.Binding][key]
	}
	switch got := canonicalRow(object); {
	case want == "":
		d.s.report("loaded a document of %s that nobody asked for, that is not there, or that came before: %s", c.table, got)
	case got != want:
		d.s.report("loaded %s of %s, want %s", got, c.table, want)
	}
	if d.wanted != nil {
		delete(d.wanted[r.Loaded.Binding], key)
	}
}

// stores sends documents, which have to be in order.
func (d *sinkDriver) stores(list []store) error {
	seen := d.s.committed.clone()
	for _, st := range list {
		if err := d.p.send(d.storeLine(st, seen.has(st.binding, st.doc))); err != nil {
			return d.explain(err)
		}
		seen.apply([]store{st})
	}
	return nil
}

func (d *sinkDriver) storeLine(st store, exists bool) string {
	c := &collections[st.binding]
	line := `{"store":{`
	if st.binding > 0 {
		line += fmt.Sprintf(`"binding":%d,`, st.binding)
	}
	line += d.keyText(c.key(st.doc))
	if values := c.picked(st.doc); d.s.packed {
		line += `,"valuesPacked":"` + base64Of(values) + `"`
	} else {
		line += `,"values":` + canonical(values)
	}
	if st.binding == orders {
		line += `,"doc":` + canonical(st.doc)
	}
	if exists {
		line += `,"exists":true`
	}
	if st.deleted {
		line += `,"delete":true`
	}
	return line + "}}"
}

// newCheckpoint is one that no commit had before. It is written as JSON may be, not as our own encoders would.
func (s *sinkSession) newCheckpoint() string {
	s.counter++
	return fmt.Sprintf(`{"sources":{"acme/orders/pivot=00;materialize/acme/mat/orders":{"readThrough":"%d","producers":[{"id":"AwkIBQc=","state":{"lastAck":"100","begin":"-1"}}]}},"ackIntents":{},"x":1.%d0}`, s.counter, s.counter)
}

// startCommit sends the end of a transaction.
func (d *sinkDriver) startCommit(checkpoint string) error {
	if err := d.p.send(`{"startCommit":{"runtimeCheckpoint":` + checkpoint + `}}`); err != nil {
		return d.explain(err)
	}
	return nil
}

// startedCommit takes the response: from now on the transaction is durable.
func (d *sinkDriver) startedCommit(list []store, checkpoint string) error {
	r, err := d.expect("startedCommit")
	if err != nil {
		return err
	}
	if r.StartedCommit.State != nil {
		if err := d.s.patch(r.StartedCommit.State.Updated); err != nil {
			return err
		}
	}
	d.s.adopt(list, checkpoint)
	return nil
}

func (s *sinkSession) adopt(list []store, checkpoint string) {
	s.committed.apply(list)
	s.checkpoint = checkpoint
}

// commit flushes, stores and commits.
func (d *sinkDriver) commit(list []store) error {
	list = inOrder(list)
	if err := d.flush(); err != nil {
		return err
	}
	if err := d.stores(list); err != nil {
		return err
	}
	checkpoint := d.s.newCheckpoint()
	if err := d.startCommit(checkpoint); err != nil {
		return err
	}
	return d.startedCommit(list, checkpoint)
}

// transaction acknowledges the one before, loads what it is about to store, and some keys that are not there, and commits.
func (d *sinkDriver) transaction(list []store) error {
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := d.loads(keyed(list)); err != nil {
		return err
	}
	return d.commit(list)
}

// keyed are the stores whose documents the runtime loads before: not those of delta tables.
func keyed(list []store) []store {
	return slices.DeleteFunc(slices.Clone(list), func(s store) bool { return collections[s.binding].delta })
}

// level reports where the tables differ from what is committed. Call it when the last commit is acknowledged.
func (s *sinkSession) level(when string) error {
	for i := range collections {
		rows, err := s.sink.Rows(s.ctx, collections[i].table)
		if err != nil {
			return fmt.Errorf("reading the rows of %s: %w", collections[i].table, err)
		}
		var got []string
		for _, raw := range rows {
			value, err := parse(raw)
			row, ok := value.(map[string]any)
			if err != nil || !ok {
				return fmt.Errorf("reading a row of %s: %w", collections[i].table, err)
			}
			got = append(got, canonicalRow(row))
		}
		slices.Sort(got)
		if want := s.committed.rows(i); !slices.Equal(got, want) {
			s.report("%s, %s holds %s, want %s", when, collections[i].table, got, want)
		}
	}
	return nil
}
