package materialize

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// line takes one line of stdin, which is gone afterwards.
func (w *writer) line(line []byte) error {
	if id, doc, ok := w.shapes.Find(line); ok {
		// A document that is none may be a line that only looks like earlier ones, so a full look at it decides.
		if err := w.add(w.tables[id], doc); err == nil || rawjson.Valid(doc) == nil {
			return err
		}
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	m, err := airbyte.DecodeMessage(line)
	if err != nil {
		return misfit(line, m.Type, err)
	}
	switch m.Type {
	case airbyte.RecordMessage:
		return w.record(line, &m)
	case airbyte.StateMessage:
		return w.state(line, &m.State)
	case airbyte.TraceMessage:
		if err := w.print(line); err != nil || m.Status == "" {
			return err
		}
		return w.status(&m)
	case airbyte.LogMessage:
		return w.print(line)
	}
	logrus.WithField("type", m.Type).Debug("ignoring a message that is not for a destination")
	return nil
}

// misfit logs a line that is no message, and returns an error for a message that cannot be understood.
func misfit(line []byte, kind airbyte.MessageType, err error) error {
	switch {
	case airbyte.IsTalk(line, err):
	case rawjson.Valid(line) == nil:
		return &protocol.Problem{Kind: protocol.System, Summary: "the source printed a " + string(kind) + " that is not as the protocol has it", Fix: err.Error(), Err: err}
	default:
		return &protocol.Problem{
			Kind: protocol.System, Summary: fmt.Sprintf("the source printed a broken line, which may have been a record; it starts with %.80q", line),
			Fix: "run it again from the last STATE; only one process at a time may write into the pipe", Err: err,
		}
	}
	logrus.WithField("line", shorten(line)).Info("the source printed a line that is no message")
	return nil
}

func (w *writer) print(line []byte) error { return w.inv.Print(append(bytes.Clone(line), '\n')) }

// shorten keeps the start of a line for a log.
func shorten(line []byte) string {
	const most = 1000
	if len(line) > most {
		line = line[:most]
		for len(line) > 0 && !utf8.Valid(line[len(line)-1:]) {
			line = line[:len(line)-1]
		}
	}
	return string(line)
}

// find returns the table of a stream; nil: there is none. Some runners leave namespaces out, so the only stream of a name is meant then.
func (w *writer) find(name, namespace []byte) *writtenTable {
	var found *writtenTable
	for _, t := range w.tables {
		switch {
		case string(name) != t.Descriptor.Name:
		case string(namespace) == t.Descriptor.Namespace:
			return t
		case len(namespace) == 0 || t.Descriptor.Namespace == "":
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}

func (w *writer) record(line []byte, m *airbyte.Message) error {
	t := w.find(m.Stream, m.Namespace)
	if t == nil {
		name := airbyte.Descriptor{Name: string(m.Stream), Namespace: string(m.Namespace)}
		return command.Problem(fmt.Sprintf("the source printed a record of stream %s, which the catalog does not have", name), "give source and destination the same catalog")
	}
	w.shapes.Learn(t.binding, line, m.Data)
	return w.add(t, m.Data)
}

func (w *writer) add(t *writtenTable, doc []byte) error {
	if err := w.combiner.Add(t.binding, doc, nil); err != nil {
		return err
	}
	w.records++
	t.records++
	t.unsealed++
	if t.status != "" {
		if t.replaced {
			return &protocol.Problem{
				Kind: protocol.System, Summary: fmt.Sprintf("the source printed a record of stream %s after the stream was complete and its table replaced", t.name()),
				Fix: "run the source again",
			}
		}
		t.status = airbyte.Running
	}
	if t.waiting() {
		// No STATE is needed for these: nobody sees them before the stream is complete.
		w.shadowed += len(doc)
		if w.shadowed >= commitBytes {
			w.due = true
			return w.cutIfDue()
		}
	}
	return nil
}

// status notes how far a stream is. COMPLETE vouches for the records after the last STATE, and makes an overwritten table take its place.
func (w *writer) status(m *airbyte.Message) error {
	t := w.find(m.Stream, m.Namespace)
	if t == nil {
		return nil
	}
	if t.status = m.Status; m.Status != airbyte.Complete || !t.waiting() {
		return nil
	}
	w.due, w.urgent = true, true
	return w.cutIfDue()
}

// heldState is a STATE that is to be printed once what it covers is durable.
type heldState struct {
	line    []byte
	records int64         // that it covers, since the one before
	stream  *writtenTable // whose it is; nil: it covers all
	unknown bool          // a stream that the catalog does not have: it covers nothing
	patch   bool          // it says what has changed since the one before
}

// heldBytes is what STATEs of tables that are not in their place yet may take in memory; it is a variable for tests.
var heldBytes = 16 << 20

// state takes a STATE: the records of its stream, or of all, belong to the next transaction.
func (w *writer) state(line []byte, g *airbyte.GivenMessage) error {
	held := heldState{line: bytes.Clone(line), patch: g.Merge}
	covered := w.tables
	if g.Kind == airbyte.StreamKind {
		held.stream = w.find([]byte(g.Stream), []byte(g.Namespace))
		if held.unknown = held.stream == nil; held.unknown {
			logrus.WithField("stream", airbyte.Descriptor{Name: g.Stream, Namespace: g.Namespace}.String()).Warn("the source printed a STATE of a stream that the catalog does not have")
			covered = nil
		} else {
			covered = []*writtenTable{held.stream}
			held.records = held.stream.records - held.stream.covered
			held.stream.covered = held.stream.records
		}
	} else {
		held.records = w.records - w.global
		w.global = w.records
	}
	stored, err := w.storedState(g)
	if err != nil {
		return err
	}
	for _, t := range covered {
		w.combiner.Seal(t.binding)
		t.unsealed = 0
		t.checkpoint.State, t.changed = stored, true
	}
	w.states, w.due = append(w.states, held), true
	if w.held += len(line); w.held > max(heldBytes, w.thinAt) {
		w.thin()
		w.thinAt = 2 * w.held // patches are all kept
	}
	return w.cutIfDue()
}

// storedState folds patches of a state that all streams share; a patch that comes with the whole state of a stream is not needed.
func (w *writer) storedState(g *airbyte.GivenMessage) ([]byte, error) {
	if g.Kind == airbyte.StreamKind && g.StreamState == nil && g.Data != nil {
		// The form of 2022: the patch is all there is.
		g.Kind = airbyte.LegacyKind
	}
	if g.Kind == airbyte.LegacyKind && g.Merge {
		var err error
		if w.folded, err = fold(w.folded, g.Data); err != nil {
			return nil, err
		}
		whole := *g
		whole.Data = w.folded
		g = &whole
	}
	return storedState(g), nil
}

// thin leaves out STATEs that cannot be printed yet and that a later one of the same stream stands for: that one counts their records, too. A replaced table
// may be hours in the making, with a STATE each second.
func (w *writer) thin() {
	later := map[*writtenTable]*heldState{}
	kept := make([]heldState, 0, len(w.states))
	w.held = 0
	for _, s := range slices.Backward(w.states) {
		next := later[s.stream]
		if next != nil && !next.patch && !s.unknown && w.withheld(&s) {
			next.records += s.records
			continue
		}
		kept = append(kept, s) // never beyond its capacity, so that pointers into it stay good
		w.held += len(s.line)
		if !s.unknown {
			later[s.stream] = &kept[len(kept)-1]
		}
	}
	slices.Reverse(kept)
	w.states = kept
}

// withheld tells whether a STATE waits for a table that is not in its place yet.
func (w *writer) withheld(s *heldState) bool {
	if s.stream != nil {
		return s.stream.waiting()
	}
	return !s.unknown && slices.ContainsFunc(w.tables, (*writtenTable).waiting)
}

// release renders the STATEs that a transaction covers, and keeps those of tables that are not in their place yet.
func (w *writer) release() (echo []byte) {
	kept := w.states[:0]
	w.held = 0
	for _, s := range w.states {
		if w.withheld(&s) {
			kept = append(kept, s)
			w.held += len(s.line)
			continue
		}
		echo = airbyte.AppendEcho(echo, s.line, s.records)
	}
	clear(w.states[len(kept):])
	w.states = kept
	return echo
}

// complete decides at the end of stdin about what no STATE covers. The error names what is left out.
func (w *writer) complete() error {
	var problems []error
	for i, t := range w.tables {
		whole := t.status == airbyte.Complete || w.inv.args.CompleteOnEOF && t.status != airbyte.Incomplete
		switch {
		case t.waiting() && whole:
			t.status = airbyte.Complete
			w.due = true
		case t.waiting():
			problems = append(problems, &protocol.Problem{
				Kind: protocol.Transient, Summary: fmt.Sprintf("the source ended before stream %s was complete, so its table stays as it was, without %d new records", t.name(), t.records),
				Fix: "run it again, or give --complete-on-eof if the source never tells",
			})
		case t.unsealed > 0 && whole:
			w.combiner.Seal(i)
		case t.unsealed > 0:
			problems = append(problems, &protocol.Problem{
				Kind:    protocol.Transient,
				Summary: fmt.Sprintf("the source ended before stream %s was complete, so %d records after its last STATE are left out", t.name(), t.unsealed),
				Fix:     "run it again, and they come again; or give --complete-on-eof if the source never tells",
			})
		}
	}
	return errors.Join(problems...)
}
