package source

import (
	"time"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// FlowWire is the wire form of a Flow capture session. The runner keeps one document, which checkpoints patch.
func FlowWire(bs []protocol.Binding) Wire { return &flowWire{document: newDocument(bs, base{})} }

type flowWire struct{ document *document }

// resettingWire is a flowWire whose runner acts on resets.
type resettingWire struct{ *flowWire }

var (
	_ schemaWriter = (*flowWire)(nil)
	_ resetWriter  = resettingWire{}
)

func (*flowWire) Opening(binding int) []byte { return flow.CapturedOpening(binding) }

func (*flowWire) AppendClosing(dst []byte, _ time.Time) []byte {
	return append(dst, flow.CapturedClosing...)
}

func (*flowWire) AppendStart(dst []byte, _ time.Time) []byte { return flow.AppendOpened(dst) }

func (w *flowWire) AppendCheckpoint(dst []byte, c Checkpoint) ([]byte, error) {
	patch, _, err := w.document.apply(c.Patches)
	if err != nil {
		return nil, err
	}
	return flow.AppendCheckpoint(dst, patch), nil
}

// AppendEnd closes what a well-ended read left open: to the runner an end inside a checkpoint is a failure.
func (*flowWire) AppendEnd(dst []byte, e End) []byte {
	if e.Open {
		return flow.AppendCheckpoint(dst, []byte("{}"))
	}
	return dst
}

func (*flowWire) AppendSchema(dst []byte, binding int, s protocol.Schema) []byte {
	return flow.AppendSourcedSchema(dst, binding, s)
}

func (resettingWire) AppendReset(dst []byte, binding int, why string) []byte {
	return flow.AppendReset(dst, binding, why)
}
