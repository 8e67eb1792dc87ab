package protocoltest

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// quickly is how long a read may go on after SIGTERM: runners kill five to ten seconds after it.
const quickly = 5 * time.Second

// stopLive sends SIGTERM in the middle of a long read whose reader goes on. What was printed ends at a checkpoint, so that even a runner that keeps
// everything can go on from the last STATEs.
func stopLive(s *session) error {
	if err := s.f.Grow(s.ctx); err != nil {
		return fmt.Errorf("growing the fixture: %w", err)
	}
	streams, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	p, err := s.start(command{name: "read", config: s.f.Config, catalog: text})
	if err != nil {
		return err
	}
	defer p.end()
	o := &output{}
	if err = s.readUntil(p, o, func() bool {
		return p.taken > 64<<10 && len(o.messages) > 0 && o.messages[len(o.messages)-1].Record != nil
	}); err != nil {
		return err
	}
	s.stopAndFinish(p, o, "SIGTERM in the middle of a read")
	s.stopped(o, "SIGTERM in the middle of a read")
	kept := s.tables()
	for _, m := range o.of("RECORD") {
		s.fold(kept, m.Record)
	}
	if err := s.change(); err != nil {
		return err
	}
	again, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: stateFile(lastStates(o.messages), s.f.Streams)})
	if err != nil {
		return err
	}
	if err := s.wellRead("a read from where SIGTERM ended one", again, streams); err != nil {
		return err
	}
	for _, m := range again.of("RECORD") {
		s.fold(kept, m.Record)
	}
	return s.compare(kept, "after a read that SIGTERM ended and another")
}

// stopIdle sends SIGTERM to a read that follows changes, when there are none.
func stopIdle(s *session) error {
	how := incremental
	how.root = map[string]any{"estuary.dev/tail": true}
	_, text, err := s.discoverAndConfigure(how)
	if err != nil {
		return err
	}
	p, err := s.start(command{name: "read", config: s.f.Config, catalog: text})
	if err != nil {
		return err
	}
	defer p.end()
	o, kept := &output{}, s.tables()
	for _, what := range []string{"all rows", "the changes"} {
		want, err := s.rows()
		if err != nil {
			return err
		}
		next := len(o.messages)
		caughtUp := func() bool {
			for ; next < len(o.messages); next++ {
				if m := o.messages[next]; m.Record != nil {
					s.fold(kept, m.Record)
				}
			}
			if len(o.messages) == 0 || o.messages[len(o.messages)-1].State == nil {
				return false
			}
			for _, stream := range s.f.Streams {
				if kept[stream.descriptor()].differences(want[stream.Name]) != nil {
					return false
				}
			}
			return true
		}
		if err := s.readUntil(p, o, caughtUp); err != nil {
			return fmt.Errorf("following changes until %s have come: %w", what, err)
		}
		if what == "all rows" {
			if err := s.change(); err != nil {
				return err
			}
		}
	}
	s.stopAndFinish(p, o, "SIGTERM while idle")
	s.stopped(o, "SIGTERM while idle")
	return nil
}

// stopBlocked sends SIGTERM to a read whose reader has stopped after a MiB, so that every write waits.
func stopBlocked(s *session) error {
	if err := s.f.Grow(s.ctx); err != nil {
		return fmt.Errorf("growing the fixture: %w", err)
	}
	_, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	p, err := s.start(command{name: "read", config: s.f.Config, catalog: text})
	if err != nil {
		return err
	}
	defer p.end()
	if err := s.readUntil(p, &output{}, func() bool { return p.taken > 1<<20 }); err != nil {
		return err
	}
	// Nothing tells when the pipe is full and the next write waits. A connector that is not there yet has it easier, never harder.
	select {
	case <-p.done:
		return fmt.Errorf("the read ended by itself: %s", p.exit)
	case <-time.After(200 * time.Millisecond):
	}
	if err := p.terminate(); err != nil {
		return err
	}
	ended, err := p.wait(quickly)
	if err != nil {
		s.report("SIGTERM with a reader that has stopped: %v", err)
	} else if ended.code != 0 {
		s.report("SIGTERM with a reader that has stopped: %s, want exit code 0", ended)
	}
	return nil
}

// readUntil reads lines until enough says so.
func (s *session) readUntil(p *process, o *output, enough func() bool) error {
	watchdog := time.AfterFunc(s.f.patience(), p.kill)
	defer watchdog.Stop()
	for !enough() {
		line, err := p.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			ended, waitErr := p.wait(quickly)
			o.exit = ended
			return errors.Join(fmt.Errorf("the output ended too early: %s; %s", ended, o.why()), waitErr)
		}
		if err != nil {
			return err
		}
		o.add(line)
	}
	return nil
}

func (s *session) stopAndFinish(p *process, o *output, what string) {
	if err := p.terminate(); err != nil {
		s.report("%v", err)
	}
	if _, err := s.finish(p, o, quickly); err != nil {
		s.report("%s: %v", what, err)
	}
	s.sound(what, o)
}

// stopped: no RECORD after the last STATE of its stream, and a last status for each stream.
func (s *session) stopped(o *output, what string) {
	waiting := map[descriptor]int{}
	status := map[descriptor]string{}
	for _, m := range o.messages {
		switch {
		case m.Record != nil:
			waiting[m.Record.descriptor()]++
		case m.State != nil && m.State.Stream != nil:
			waiting[m.State.Stream.Descriptor] = 0
		case m.Trace != nil && m.Trace.Status != nil:
			status[m.Trace.Status.Descriptor] = m.Trace.Status.Status
		}
	}
	for _, stream := range s.f.Streams {
		d := stream.descriptor()
		if waiting[d] > 0 {
			s.report("%s: %d RECORDs of %s after its last STATE", what, waiting[d], d)
		}
		if status[d] != "COMPLETE" && status[d] != "INCOMPLETE" {
			s.report("%s: the last status of %s is %q, want COMPLETE or INCOMPLETE", what, d, status[d])
		}
	}
}
