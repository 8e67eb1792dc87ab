package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol"
)

// LastAcknowledgement is how long a capture that has caught up waits for it. A source that confirms acknowledgements to its server waits inside Read;
// Main waits for what is left of the time, counted from the last checkpoint.
const LastAcknowledgement = 10 * time.Second

// capture runs an open capture and returns the exit code.
func (inv *invocation) capture(in *command.LineReader, open *flow.Open) int {
	s, err := inv.openConfig(open.Capture.Config)
	if err != nil {
		return command.Refuse(err)
	}
	req, wire, err := inv.flowRequest(open)
	if err != nil {
		return command.Refuse(errors.Join(err, s.Close()))
	}
	out := NewOut(inv.Stdout, wire, req.Bindings)
	out.redact, out.now = inv.Secrets.Redact, inv.Now
	if open.Lengths {
		out.appendLengths = flow.AppendCapturedLengths
	}
	if err := out.start(); err != nil {
		return command.Refuse(errors.Join(err, s.Close()))
	}
	inv.Graceful()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	durable := make(chan Mark, 1)
	req.Durable = durable
	acks := &acknowledgements{out: out, durable: durable, changed: make(chan struct{}, 1), closed: make(chan struct{})}
	go func() { // ends with the process: a read of stdin cannot be interrupted
		if err := acks.follow(in); err != nil {
			cancel(err)
		}
		close(acks.closed)
		inv.RequestStop()
	}()
	err = inv.readTo(ctx, s, req, out)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	code := inv.conclude(out, err)
	if err != nil && out.gone() == nil {
		return command.Refuse(err)
	}
	if code == 0 && !req.Tail && out.gone() == nil {
		acks.wait(inv.Stop())
		if cause := context.Cause(ctx); cause != nil {
			return command.Refuse(cause)
		}
	}
	return code
}

func (inv *invocation) flowRequest(open *flow.Open) (Request, Wire, error) {
	bs, err := inv.flowBindings(open.Capture.Bindings)
	if err != nil {
		return Request{}, nil, err
	}
	r, err := flowRange(open.Range)
	if err != nil {
		return Request{}, nil, err
	}
	state, err := airbyte.DecodeState(open.State)
	if err != nil {
		return Request{}, nil, err
	}
	if len(state.Streams) > 0 {
		return Request{}, nil, command.Problem("the state cannot be used", "it is not one that this source wrote")
	}
	from, err := giveState(bs, state)
	if err != nil {
		return Request{}, nil, err
	}
	w := &flowWire{document: newDocument(bs, from)}
	wire := Wire(w)
	if open.Reset {
		wire = resettingWire{w}
	}
	return Request{
		Bindings: bs, Task: open.Capture.Name, Range: r, Tail: open.Tail == nil || *open.Tail, Stop: inv.Stop(), HonoursReset: open.Reset,
	}, wire, nil
}

func flowRange(given *flow.Range) (protocol.Range, error) {
	r := protocol.FullRange
	if given == nil {
		return r, nil
	}
	r.Begin = given.KeyBegin
	if given.KeyEnd != nil {
		r.End = *given.KeyEnd
	}
	if r.Begin > r.End {
		return r, command.Problem("the range cannot be used", fmt.Sprintf("it begins at %08x, after its end %08x", r.Begin, r.End))
	}
	return r, nil
}

// acknowledgements counts what the runner made durable.
type acknowledgements struct {
	out     *Out
	durable chan Mark
	count   atomic.Uint64
	changed chan struct{} // capacity 1
	closed  chan struct{} // closed when no more can come
}

// follow reads acknowledgements until the end of stdin: the runner is gone, or a pipe in a shell had no more.
func (a *acknowledgements) follow(in *command.LineReader) error {
	for {
		r, err := nextRequest(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case r.Acknowledge == nil:
			return errors.New("the runner sent a request that is no acknowledgement to an open capture")
		}
		if err := a.add(uint64(max(r.Acknowledge.Checkpoints, 1))); err != nil {
			return err
		}
	}
}

func (a *acknowledgements) add(checkpoints uint64) error {
	count := a.count.Load() + checkpoints
	if emitted := a.out.emitted.Load(); count > emitted {
		return fmt.Errorf("the runner acknowledges %d checkpoints, but only %d were sent", count, emitted)
	}
	a.count.Store(count)
	select { // an older value that nobody took gives way
	case <-a.durable:
	default:
	}
	a.durable <- Mark(count)
	select {
	case a.changed <- struct{}{}:
	default:
	}
	return nil
}

// wait returns when every checkpoint is acknowledged, nothing more can come, or it took too long.
func (a *acknowledgements) wait(stop <-chan struct{}) {
	deadline := time.NewTimer(LastAcknowledgement - a.out.silence())
	defer deadline.Stop()
	for a.count.Load() < a.out.emitted.Load() {
		select {
		case <-a.changed:
		case <-a.closed:
			return
		case <-stop: // by a signal: the end of stdin closes closed first
			return
		case <-deadline.C:
			logrus.Warn("ending without an acknowledgement of the last checkpoint")
			return
		}
	}
}
