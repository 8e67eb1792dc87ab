package materialize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// lastWords is how long a session that has failed waits for its runner to take the responses that it was given before.
const lastWords = time.Second

// errDone ends a session without an error: the runner ended between two transactions, or the process was told to stop.
var errDone = errors.New("the session has ended")

// materialize opens the destination and runs transactions until stdin ends.
func (inv *invocation) materialize(in *command.LineReader, open *flow.SinkOpen) (err error) {
	m, err := inv.openConfig(open.Materialization.Config)
	if err != nil {
		return err
	}
	defer closeInto(m, &err)
	req, err := inv.openRequest(open)
	if err != nil {
		return err
	}
	ctx := context.Background()
	tr, opened, err := m.Open(ctx, req)
	if err != nil {
		return err
	}
	defer command.CloseInto(tr, "the session", &err)
	inv.Graceful()
	out := newOutput(inv.Stdout)
	s := &session{
		inv: inv, bs: req.Bindings, tr: tr, in: newInput(in), out: out,
		decoder: flow.SinkDecoder{Lengths: open.Lengths}, backlog: backlog{limit: backlogMemory}, asked: make([]int, len(req.Bindings)), done: make([]bool, len(req.Bindings)),
	}
	s.in.gone = out.done
	failed := true // by a panic, too
	defer func() {
		limit := time.Duration(0)
		if failed {
			limit = lastWords
		}
		if closeErr := s.out.close(limit); err == nil {
			err = closeErr
		}
	}()
	s.loader, _ = tr.(Loader)
	if err := s.check(); err != nil {
		return err
	}
	if err := s.respond(func(dst []byte) []byte { return appendOpened(dst, opened, open.Lengths) }); err != nil {
		return err
	}
	for err == nil {
		err = s.transaction(ctx)
	}
	if errors.Is(err, errDone) {
		failed, err = false, nil
	}
	return err
}

func (inv *invocation) openRequest(open *flow.SinkOpen) (OpenRequest, error) {
	bs, err := inv.bindings(open.Materialization.Bindings)
	if err != nil {
		return OpenRequest{}, err
	}
	r := protocol.FullRange
	if given := open.Range; given != nil {
		r.Begin = given.KeyBegin
		if given.KeyEnd != nil {
			r.End = *given.KeyEnd
		}
	}
	if r.Begin > r.End {
		return OpenRequest{}, command.Problem("the range cannot be used", fmt.Sprintf("it begins at %08x, after its end %08x", r.Begin, r.End))
	}
	return OpenRequest{Task: open.Materialization.Name, Bindings: bs, Range: r, State: open.State}, nil
}

// appendOpened tells three cases apart.
// bug materializations 3: a missing checkpoint was returned as an empty one, and the task began from zero (2023-03)
func appendOpened(dst []byte, o Opened, lengths bool) []byte {
	var checkpoint json.RawMessage
	switch o.Checkpoint.Owner {
	case HostOwns:
	case Zero:
		checkpoint = json.RawMessage("{}")
	case Stored:
		checkpoint = o.Checkpoint.JSON
	}
	return flow.AppendSinkOpened(dst, checkpoint, o.NoLoadOptimization, lengths)
}

// session is an open materialization. One goroutine owns it; Commit and Acknowledge run in another one, so that it goes on reading meanwhile.
type session struct {
	inv     *invocation
	bs      []Binding
	tr      Transactor
	loader  Loader // nil: delta only
	in      *input
	out     *output
	decoder flow.SinkDecoder

	// What came ahead: of the next transaction.
	backlog backlog
	ack     *flow.SinkAcknowledge
	flushed bool  // flush was read
	ended   error // why no more lines come; nil: they may

	asked []int // by binding: keys of this transaction of which no document came back
	key   Key
	doc   Doc
	// Of the store phase.
	done       []bool // by binding: its documents have come
	last       int    // binding of the document before; -1: none
	lastPacked []byte // its key
}

func (s *session) check() error {
	for i, b := range s.bs {
		if s.loader == nil && !b.DeltaUpdates {
			return fmt.Errorf("binding %d has standard updates, but %s cannot load documents: its constraints must say deltaUpdates", i, s.inv.connector.name)
		}
	}
	return nil
}

// transaction runs one: acknowledge, load, store, commit. The acknowledgement is that of the transaction before.
func (s *session) transaction(ctx context.Context) error {
	if err := s.gather(nil); err != nil {
		return err
	}
	if s.ack == nil {
		return s.conclude(s.backlog.lines > 0)
	}
	peers := s.ack.Patches
	if err := s.meanwhile(func() error {
		patch, err := s.patch(s.tr.Acknowledge(ctx, peers))
		if err != nil {
			return err
		}
		return s.respond(func(dst []byte) []byte { return flow.AppendAcknowledged(dst, patch) })
	}); err != nil {
		return err
	}
	checkpoint, err := s.fill(ctx)
	if err != nil {
		return err
	}
	return s.meanwhile(func() error {
		patch, err := s.patch(s.tr.Commit(ctx, checkpoint))
		if err != nil {
			return err
		}
		return s.respond(func(dst []byte) []byte { return flow.AppendStartedCommit(dst, patch) })
	})
}

// fill loads and stores; it returns the checkpoint to commit. When the process is told to stop, it gives up.
func (s *session) fill(ctx context.Context) (checkpoint []byte, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.inv.Stop():
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	s.ack, s.flushed = nil, false
	s.backlog.reset()
	if err := s.respond(flow.AppendFlushed); err != nil {
		return nil, err
	}
	return s.store(ctx)
}

// patch checks a state patch; an empty one is none.
func (s *session) patch(patch []byte, err error) ([]byte, error) {
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	if rawjson.Valid(patch) != nil || patch[0] != '{' {
		return nil, fmt.Errorf("%s has a bug: its state patch is no JSON object", s.inv.connector.name)
	}
	return patch, nil
}

func (s *session) respond(f func(dst []byte) []byte) error { return s.out.append(f) }

// meanwhile runs work in a goroutine of its own and takes what may come during it.
func (s *session) meanwhile(work func() error) error {
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = command.Panicked(r)
			}
		}()
		err = work()
	}()
	broken := s.gather(done)
	<-done
	return errors.Join(err, broken)
}

// gather takes what may come before the loads are evaluated: loads in any number, and one acknowledge. It returns when done is closed, or, when done is nil,
// after the acknowledge. After flush, or the end of stdin, nothing more is read.
func (s *session) gather(done <-chan struct{}) error {
	for (done != nil || s.ack == nil) && !s.flushed && s.ended == nil {
		line, ok := s.ahead(done)
		if !ok {
			break
		}
		r, err := s.decoder.Decode(line)
		switch {
		case err != nil:
			return err
		case r.Load != nil:
			if err := s.checkLoad(r.Load); err != nil {
				return err
			}
			if err := s.backlog.add(line); err != nil {
				return err
			}
		case r.Acknowledge != nil && s.ack == nil:
			s.ack = r.Acknowledge
		case r.Flush != nil && s.ack != nil:
			s.flushed = true
		case s.ack == nil:
			return s.inv.unexpected(r, "acknowledge or load must come, since the transaction before is not acknowledged")
		default:
			return s.inv.unexpected(r, "load or flush must come")
		}
	}
	return nil
}

// ahead returns the next line; not ok: done is closed, or s.ended tells why there is none.
func (s *session) ahead(done <-chan struct{}) (line []byte, ok bool) {
	var stop <-chan struct{}
	if done == nil {
		stop = s.inv.Stop() // what is being done is finished first
	}
	line, err := s.in.next(stop, done)
	if err != nil && (done == nil || !errors.Is(err, errInterrupted)) {
		s.ended = err
	}
	return line, err == nil
}

// conclude says why no more lines come; open: a transaction was not finished.
func (s *session) conclude(open bool) error {
	switch {
	case errors.Is(s.ended, errInterrupted) || s.inv.Stopped():
		if open {
			logrus.Info("stopping: the transaction that has begun is dropped")
		}
		return errDone
	case errors.Is(s.ended, errUnread):
		return s.out.failure()
	case !errors.Is(s.ended, errEnded):
		return s.ended
	case !open:
		return errDone
	}
	return fmt.Errorf("the runner ended in the middle of a transaction; %s drops what it was given of it", s.inv.connector.name)
}

// unexpected names what came, and what this side expects.
func (inv *invocation) unexpected(r flow.SinkRequest, want string) error {
	came := "a request"
	for name, is := range map[string]bool{
		"spec": r.Spec != nil, "validate": r.Validate != nil, "apply": r.Apply != nil, "open": r.Open != nil, "load": r.Load != nil, "flush": r.Flush != nil,
		"store": r.Store != nil, "startCommit": r.StartCommit != nil, "acknowledge": r.Acknowledge != nil,
	} {
		if is {
			came = name
		}
	}
	return fmt.Errorf("the runner sent %s, but to %s %s", came, inv.connector.name, want)
}
