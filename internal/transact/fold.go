package transact

import (
	"bytes"
	"fmt"
)

// fold joins the records of one key, oldest first.
type fold struct {
	plan *plan
	all  bool // nothing stands to the left of what is added

	any    bool
	packed []byte
	doc    []byte
	spans  []byte // of doc; nil: it was reduced
	flags  byte   // of the whole; flagLoaded: some part of it is in the destination
	raw    bool   // doc has not been reduced with all that stands to its left
	judged bool   // flagDeleted is as the schema has it, too
	buffer [2][]byte
}

// begin forgets the key before.
func (f *fold) begin() { f.any = false }

// add joins a newer record. Its views must stay valid until end.
func (f *fold) add(r *record) error {
	if !f.any {
		f.any, f.packed, f.flags = true, r.packed, r.flags&^flagSpans
		f.take(r, r.flags&(flagLoaded|flagCut) == 0)
		if f.all || r.flags&flagLoaded != 0 {
			f.flags |= flagCut
		}
		return nil
	}
	if r.flags&flagLoaded != 0 {
		return fmt.Errorf("the destination returned two documents of stream %s for one key", f.plan.Stream)
	}
	f.judge()
	if r.flags&flagCut != 0 || f.flags&flagDeleted != 0 && r.flags&flagCreates != 0 {
		// A new document with the key of one that has ended.
		f.flags = f.flags&(flagLoaded|flagCreates) | r.flags&flagDeleted | flagCut
		f.take(r, r.flags&flagCut == 0)
		return nil
	}
	return f.join(r)
}

func (f *fold) take(r *record, raw bool) {
	f.doc, f.spans, f.raw, f.judged = r.doc, nil, raw, false
	if r.flags&flagSpans != 0 {
		f.spans = r.spans
	}
}

// judge asks the schema whether the document is a deletion.
func (f *fold) judge() {
	if f.judged || f.plan.simple {
		return
	}
	f.judged = true
	if f.flags&flagDeleted == 0 && f.plan.deletes(f.doc) {
		f.flags |= flagDeleted
	}
}

func (f *fold) join(r *record) error {
	ended := f.flags&flagDeleted != 0
	f.flags = f.flags&^flagDeleted | r.flags&flagDeleted
	f.spans, f.judged = nil, false
	if f.plan.Reducer == nil {
		f.doc = r.doc
		return nil
	}
	// To a deletion, only what repeats the past is joined: for the reducer nothing of it would be left.
	full := f.flags&flagCut != 0 && !ended
	out, deleted, err := f.plan.reduce(f.buffer[0][:0], f.doc, r.doc, full)
	if err != nil {
		return fmt.Errorf("joining records of stream %s with one key: %w", f.plan.Stream, err)
	}
	f.keep(out)
	if full {
		f.raw, f.judged = false, true
		if deleted {
			f.flags |= flagDeleted
		}
	}
	return nil
}

// keep makes out, which was appended to the first buffer, the document.
func (f *fold) keep(out []byte) {
	f.buffer[0], f.buffer[1] = f.buffer[1], out
	f.doc, f.spans = out, nil
}

// end finishes a document whose left is known.
func (f *fold) end() error {
	if f.raw && f.flags&flagCut != 0 && !f.plan.simple {
		out, deleted, err := f.plan.single(f.buffer[0][:0], f.doc)
		if err != nil {
			return fmt.Errorf("reducing a record of stream %s: %w", f.plan.Stream, err)
		}
		if f.raw, f.judged = false, true; deleted {
			f.flags |= flagDeleted
		}
		if bytes.Equal(out, f.doc) { // most often; then it is known where the values are
			f.buffer[0] = out
			return nil
		}
		f.keep(out)
	}
	if f.all {
		f.judge()
	}
	return nil
}
