package source

import (
	"fmt"
	"time"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// sharedMember is where a stream's state holds its copy of the shared state.
const sharedMember = "~shared"

// airbyteStreams is what both Airbyte wires have in common: records, statuses and errors.
type airbyteStreams struct{ streams []airbyteStream }

type airbyteStream struct {
	descriptor airbyte.Descriptor
	running    bool
	failed     bool
	records    int       // since the last STATE
	stated     time.Time // of the last STATE; zero: none in this run
}

func newAirbyteStreams(bs []protocol.Binding) *airbyteStreams {
	s := &airbyteStreams{}
	for _, b := range bs {
		s.streams = append(s.streams, airbyteStream{descriptor: airbyte.Descriptor{Name: b.Stream.Name, Namespace: b.Stream.Namespace}})
	}
	return s
}

func (a *airbyteStreams) Opening(binding int) []byte {
	return airbyte.RecordOpening(a.streams[binding].descriptor)
}

func (a *airbyteStreams) AppendClosing(dst []byte, now time.Time) []byte {
	return airbyte.AppendRecordClosing(dst, now)
}

func (a *airbyteStreams) AppendStart(dst []byte, now time.Time) []byte {
	for _, s := range a.streams {
		dst = airbyte.AppendStatus(dst, s.descriptor, airbyte.Started, now)
	}
	return dst
}

func (a *airbyteStreams) AppendBeforeRecords(dst []byte, binding, records int, now time.Time) []byte {
	s := &a.streams[binding]
	if !s.running {
		s.running = true
		dst = airbyte.AppendStatus(dst, s.descriptor, airbyte.Running, now)
	}
	s.records += records
	return dst
}

func (a *airbyteStreams) noteFailure(binding int) { a.streams[binding].failed = true }

func (a *airbyteStreams) AppendProgress(dst []byte, binding int, p Progress, now time.Time) []byte {
	if p.RowsExpected <= 0 {
		return dst
	}
	return airbyte.AppendEstimate(dst, a.streams[binding].descriptor, p.RowsExpected, now)
}

// AppendEnd writes the last status of each stream, then the errors: some runners stop reading at the first one.
func (a *airbyteStreams) AppendEnd(dst []byte, e End) []byte {
	for _, s := range a.streams {
		status := airbyte.Incomplete
		if e.CaughtUp && !s.failed {
			if status = airbyte.Complete; !s.running { // every stream passes through all three
				dst = airbyte.AppendStatus(dst, s.descriptor, airbyte.Running, e.Now)
			}
		}
		dst = airbyte.AppendStatus(dst, s.descriptor, status, e.Now)
	}
	for _, f := range e.Failures {
		dst = airbyte.AppendError(dst, f.Problem.Kind, f.Problem.Error(), command.Cause(f.Problem), &a.streams[f.Binding].descriptor, e.Now)
	}
	if e.Err != nil {
		dst = airbyte.AppendError(dst, protocol.KindOf(e.Err), e.Err.Error(), command.Cause(e.Err), nil, e.Now)
	}
	return dst
}

// joinShared puts the shared state into the state of a stream.
func joinShared(state, shared folded) []byte {
	if shared == nil {
		if state == nil {
			return []byte("{}")
		}
		return state
	}
	dst := append([]byte(`{"`+sharedMember+`":`), shared...)
	if len(state) > len("{}") {
		return append(append(dst, ','), state[1:]...)
	}
	return append(dst, '}')
}

// patchError names no content: a state may hold keys of rows.
func patchError(p Patch, err error) error {
	if p.Binding == sharedBinding {
		return fmt.Errorf("reading a patch of the shared state: %w", err)
	}
	return fmt.Errorf("reading a patch of the state of binding %d: %w", p.Binding, err)
}
