package sqlcapturetest

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/estuary/connectors/protocol/source"
)

// wire is the wire form of these tests: one line for each record, checkpoint and reset, as bare as can be. consumer reads it.
type wire struct{}

// line is any line of it.
type line struct {
	Binding int             `json:"b"`
	Doc     json.RawMessage `json:"d,omitempty"`
	Reset   *string         `json:"reset,omitempty"`
	State   []statePatch    `json:"state,omitempty"`
}

type statePatch struct {
	Binding int             `json:"b"`
	Patch   json.RawMessage `json:"p"`
}

func (wire) Opening(binding int) []byte {
	return append(strconv.AppendInt([]byte(`{"b":`), int64(binding), 10), `,"d":`...)
}

func (wire) AppendClosing(dst []byte, _ time.Time) []byte { return append(dst, "}\n"...) }

func (wire) AppendStart(dst []byte, _ time.Time) []byte { return dst }

func (wire) AppendCheckpoint(dst []byte, c source.Checkpoint) ([]byte, error) {
	var l line
	for _, p := range c.Patches {
		l.State = append(l.State, statePatch{p.Binding, p.JSON})
	}
	raw, err := json.Marshal(l)
	return append(append(dst, raw...), '\n'), err
}

func (wire) AppendEnd(dst []byte, _ source.End) []byte { return dst }

// AppendReset is found by source.Out.
func (wire) AppendReset(dst []byte, binding int, why string) []byte {
	raw, _ := json.Marshal(line{Binding: binding, Reset: &why}) //nolint:errchkjson // strings and numbers
	return append(append(dst, raw...), '\n')
}
