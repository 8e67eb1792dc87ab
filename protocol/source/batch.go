package source

import "time"

const (
	batchBytes     = 256 << 10 // what a new batch can hold before its buffer grows
	batchKeepBytes = 1 << 20   // the pool keeps no buffer above this
)

// Batch holds records, then the state patches that cover them, in the runner's wire form. One goroutine at a time uses it; Emit writes it and gives
// it back to the pool, after which it must not be touched.
type Batch struct {
	out     *Out
	buf     []byte
	start   int    // where the open record's document starts in buf
	binding int    // of the open record
	closing []byte // what follows each document; made at the first End, so that the clock is read once
	counts  []int  // records by binding
	touched []int  // bindings whose count is not zero
	records int
	pending []patchSpan
	patches []byte
}

// patchSpan is a patch inside Batch.patches.
type patchSpan struct {
	binding    int // -1: the shared state
	begin, end int
}

const sharedBinding = -1

// Begin returns the batch's buffer, after the envelope of a record of the binding. Append the document's JSON, an object, and hand the buffer to End.
// A Begin without End leaves nothing.
func (b *Batch) Begin(binding int) []byte {
	doc := append(b.buf, b.out.openings[binding]...)
	b.binding, b.start = binding, len(doc)
	return doc
}

// End takes back the buffer that Begin returned, with the document appended, and closes the record.
func (b *Batch) End(doc []byte) { b.EndMembers(doc, nil) }

// EndMembers is End for a document of which it is known where the members of its root end in the buffer: those offsets, in order, without the commas
// between. A runner that asked for them reads faster.
func (b *Batch) EndMembers(doc []byte, ends []int) {
	if b.records == 0 {
		b.closing = b.out.wire.AppendClosing(b.closing[:0], b.out.now())
	}
	switch moves := b.out.moves[b.binding]; {
	case moves != nil:
		doc = moves.rewrite(doc, b.start)
	case b.out.appendLengths != nil && len(ends) > 0:
		doc = b.out.appendLengths(doc, b.start, ends)
	}
	b.buf = append(doc, b.closing...)
	if b.counts[b.binding] == 0 {
		b.touched = append(b.touched, b.binding)
	}
	b.counts[b.binding]++
	b.records++
}

// Patch adds an RFC 7396 merge patch of a binding's state; null deletes. The bytes are copied.
func (b *Batch) Patch(binding int, patch []byte) {
	begin := len(b.patches)
	b.patches = append(b.patches, patch...)
	b.pending = append(b.pending, patchSpan{binding, begin, len(b.patches)})
}

// PatchShared adds a merge patch of the state that all bindings share.
func (b *Batch) PatchShared(patch []byte) { b.Patch(sharedBinding, patch) }

// Len returns the bytes of the records so far, envelopes included.
func (b *Batch) Len() int { return len(b.buf) }

// Records returns the number of records so far.
func (b *Batch) Records() int { return b.records }

// checkpoint gathers the patches in the order in which they were added.
func (b *Batch) checkpoint(now time.Time) Checkpoint {
	c := Checkpoint{Now: now, Patches: make([]Patch, len(b.pending))}
	for i, span := range b.pending {
		c.Patches[i] = Patch{Binding: span.binding, JSON: b.patches[span.begin:span.end:span.end]}
	}
	return c
}

// reset empties the batch; large buffers are let go.
func (b *Batch) reset() {
	if cap(b.buf) > batchKeepBytes {
		b.buf = make([]byte, 0, batchBytes)
	}
	if cap(b.patches) > batchKeepBytes {
		b.patches = nil
	}
	for _, binding := range b.touched {
		b.counts[binding] = 0
	}
	b.buf, b.touched, b.records = b.buf[:0], b.touched[:0], 0
	b.pending, b.patches = b.pending[:0], b.patches[:0]
}
