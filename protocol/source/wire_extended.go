package source

import (
	"time"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
)

// ExtendedWire is the wire form of the Airbyte commands for a runner that sent a key of our extensions: each STATE carries, beside the stream's whole
// state, a merge patch of the one document that the runner keeps.
func ExtendedWire(bs []protocol.Binding) Wire {
	return newExtendedWire(bs, base{})
}

func newExtendedWire(bs []protocol.Binding, from base) *extendedWire {
	return &extendedWire{airbyteStreams: newAirbyteStreams(bs), document: newDocument(bs, from)}
}

type extendedWire struct {
	*airbyteStreams
	document *document
	carrier  int // the binding whose STATE carries a patch of the shared state alone: the last one that had a STATE
}

var (
	_ recordCounter  = (*extendedWire)(nil)
	_ progressWriter = (*extendedWire)(nil)
	_ heartbeater    = (*extendedWire)(nil)
	_ failureNoter   = (*extendedWire)(nil)
)

// AppendStart makes the runner forget the states of streams that start anew, before patches could mix with them.
func (w *extendedWire) AppendStart(dst []byte, now time.Time) []byte {
	dst = w.airbyteStreams.AppendStart(dst, now)
	if patch := w.document.forget(); patch != nil {
		dst = w.appendState(dst, w.carrier, patch, now)
	}
	return dst
}

var emptyPatch = []byte("{}")

// AppendCheckpoint puts the whole patch into the first STATE and empty ones into the others: a runner may commit after each, and half a patch would be
// a state that never was.
func (w *extendedWire) AppendCheckpoint(dst []byte, c Checkpoint) ([]byte, error) {
	patch, touched, err := w.document.apply(c.Patches)
	if err != nil {
		return nil, err
	}
	due := make([]bool, len(w.streams))
	for _, binding := range touched {
		due[binding] = true
	}
	written := false
	for i := range w.streams {
		if due[i] || w.streams[i].records > 0 {
			dst, written = w.appendState(dst, i, patch, c.Now), true
			patch = emptyPatch
		}
	}
	if !written && len(w.streams) > 0 {
		dst = w.appendState(dst, w.carrier, patch, c.Now)
	}
	return dst, nil
}

func (w *extendedWire) appendState(dst []byte, binding int, patch []byte, now time.Time) []byte {
	s := &w.streams[binding]
	dst = airbyte.AppendState(dst, airbyte.StreamState{
		Descriptor: s.descriptor, State: joinShared(w.document.states[binding], w.document.shared), Data: patch, Records: s.records,
	})
	s.records, s.stated, w.carrier = 0, now, binding
	return dst
}

// AppendEnd writes a STATE for streams whose last records have none. It names no other stream: their state may be another process's.
func (w *extendedWire) AppendEnd(dst []byte, e End) []byte {
	for i := range w.streams {
		if w.streams[i].records > 0 && e.Err == nil {
			dst = w.appendState(dst, i, emptyPatch, e.Now)
		}
	}
	return w.airbyteStreams.AppendEnd(dst, e)
}

// AppendHeartbeat repeats the last STATE, unless records wait for theirs: the runner would commit them with it.
func (w *extendedWire) AppendHeartbeat(dst []byte, now time.Time) []byte {
	for i := range w.streams {
		if w.streams[i].records > 0 {
			return dst
		}
	}
	if len(w.streams) == 0 || w.streams[w.carrier].stated.IsZero() {
		return dst
	}
	return w.appendState(dst, w.carrier, emptyPatch, now)
}
