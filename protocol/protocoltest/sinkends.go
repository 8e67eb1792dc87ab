package protocoltest

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// sinkReopen: a session ends between two transactions, also one that nobody acknowledged, and the next one goes on from checkpoint and state.
func sinkReopen(s *sinkSession) error {
	first, err := s.begin()
	if err != nil {
		return err
	}
	defer first.end()
	if err := first.endsWithInput("opened"); err != nil {
		return err
	}
	for round, acknowledged := range []bool{true, false, false, true} {
		if err := s.oneTransaction(round, acknowledged); err != nil {
			return err
		}
	}
	d, err := s.again()
	if err != nil {
		return err
	}
	defer d.end()
	for range 2 { // of what is done already as well
		if err := d.acknowledge(); err != nil {
			return err
		}
		if err := d.commit(nil); err != nil {
			return err
		}
	}
	if err := d.transaction([]store{{binding: orders, doc: order(1, "the last", "1.5")}, {binding: visits, doc: visit(1, "/last")}}); err != nil {
		return err
	}
	before := s.state
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after five sessions"); err != nil {
		return err
	}
	if err := d.endsWithInput("the fifth session"); err != nil {
		return err
	}
	// The runner died before it kept what acknowledged told: the same work is acknowledged once more.
	s.state = before
	return s.afterEnd("acknowledged, which was lost")
}

// oneTransaction opens a session for one transaction.
func (s *sinkSession) oneTransaction(round int, acknowledged bool) error {
	d, err := s.again()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.transaction([]store{
		{binding: orders, doc: order(1, fmt.Sprint("round ", round), "1.5")},
		{binding: orders, doc: order(10+round, "new", "2.5")},
		{binding: events, doc: event("a", round, "new")},
		{binding: visits, doc: visit(round, "/new")},
	}); err != nil {
		return err
	}
	if acknowledged {
		if err := d.acknowledge(); err != nil {
			return err
		}
		if err := s.level("after a session"); err != nil {
			return err
		}
	}
	return d.endsWithInput("a session")
}

// ending ends a process in the middle of something.
type ending func(*sinkDriver) error

func closeInput(d *sinkDriver) error { return d.p.stdin.Close() }

// killNow kills a process that had a moment for what it was sent: nothing tells from outside how far it is, and any place is as good.
func killNow(d *sinkDriver) error {
	time.Sleep(10 * time.Millisecond)
	d.p.kill()
	return nil
}

// firstSession runs a session of one transaction to its good end, so that there is something to come back to.
func (s *sinkSession) firstSession() error {
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.transaction(firstOrders); err != nil {
		return err
	}
	return d.endsWithInput("a transaction")
}

// sinkEnds: whatever is cut off, the next session finds what was committed, and nothing else.
func sinkEnds(s *sinkSession, end ending) error {
	if err := s.firstSession(); err != nil {
		return err
	}
	for round, point := range []string{"opened", "acknowledged", "loads", "flushed", "half of the stores", "all stores", "startCommit", "startedCommit", "acknowledge", "the next loads"} {
		if err := s.endAt(point, round, end); err != nil {
			return fmt.Errorf("ending after %s: %w", point, err)
		}
		if err := s.afterEnd(point); err != nil {
			return fmt.Errorf("a session after one that ended after %s: %w", point, err)
		}
	}
	return nil
}

// endAt runs a session up to a point and ends it there.
func (s *sinkSession) endAt(point string, round int, end ending) error {
	d, err := s.again()
	if err != nil {
		return err
	}
	defer d.end()
	list := inOrder([]store{
		{binding: orders, doc: order(1, "before "+point, "1.5")},
		{binding: orders, doc: order(50+round, point, "2.5")},
		{binding: events, doc: event("a", 1, point)},
		{binding: events, doc: event("b", 1, point), deleted: round%2 == 0},
		{binding: visits, doc: visit(round, point)},
	})
	checkpoint := s.newCheckpoint()
	boundary := false // a transaction has ended, or none has begun
	for _, step := range []struct {
		name string
		run  func() error
		end  bool
	}{
		{"opened", func() error { return nil }, true},
		{"acknowledged", d.acknowledge, true},
		{"loads", func() error { return d.loads(keyed(list)) }, false},
		{"flushed", d.flush, false},
		{"half of the stores", func() error { return d.stores(list[:len(list)/2]) }, false},
		{"all stores", func() error { return d.stores(list[len(list)/2:]) }, false},
		{"startCommit", func() error { return d.startCommit(checkpoint) }, true},
		{"startedCommit", func() error { return d.startedCommit(list, checkpoint) }, true},
		{"acknowledge", func() error { return d.p.send(`{"acknowledge":{}}`) }, true},
		{"the next loads", func() error { return d.p.send(d.loadLine(list[0])) }, false},
	} {
		if err := step.run(); err != nil {
			return err
		}
		if boundary = step.end; step.name == point {
			break
		}
	}
	if err := end(d); err != nil {
		return err
	}
	d.watchdog.Reset(quickly)
	for {
		r, nextErr := d.next()
		if nextErr != nil {
			break
		}
		switch {
		case r.StartedCommit != nil && point == "startCommit":
			// It was late, but it came: the runner knows.
			s.adopt(list, checkpoint)
			if r.StartedCommit.State != nil {
				if err := s.patch(r.StartedCommit.State.Updated); err != nil {
					return err
				}
			}
		case r.Acknowledged != nil:
			if r.Acknowledged.State != nil {
				if err := s.patch(r.Acknowledged.State.Updated); err != nil {
					return err
				}
			}
		case r.kind == "loaded" && point != "opened":
		default:
			s.report("ending after %s: the response %q", point, r.kind)
		}
	}
	ended, err := d.p.wait(quickly)
	if err == nil && boundary && ended.code != 0 && ended.signal == 0 {
		s.report("the end of stdin after %s: %s, want exit code 0; stderr: %.300q", point, ended, lastLine(ended.stderr))
	}
	if point == "startCommit" && s.checkpoint != checkpoint {
		return s.undecided(list, checkpoint, err)
	}
	return err
}

// undecided asks the destination whether a commit took place of which the runner never heard. Where the runner keeps the checkpoint, it did not.
func (s *sinkSession) undecided(list []store, checkpoint string, err error) error {
	if err != nil || !s.sink.KeepsCheckpoint {
		return err
	}
	d, err := s.drive()
	if err != nil {
		return err
	}
	defer d.end()
	got, err := d.openRaw()
	if err == nil && string(got) == checkpoint {
		s.adopt(list, checkpoint)
	}
	return err
}

// afterEnd opens, acknowledges what may not have been, and compares.
func (s *sinkSession) afterEnd(point string) error {
	d, err := s.again()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after a session that ended after " + point); err != nil {
		return err
	}
	return d.endsWithInput("acknowledged")
}

// sinkStops: SIGTERM ends a session at once and well, and what is not committed does not show.
func sinkStops(s *sinkSession) error {
	if err := s.firstSession(); err != nil {
		return err
	}
	for round, point := range []string{"opened", "acknowledged", "loads", "flushed", "half of the stores", "all stores", "startedCommit"} {
		if err := s.endAt(point, round, (*sinkDriver).stops); err != nil {
			return fmt.Errorf("SIGTERM after %s: %w", point, err)
		}
		if err := s.afterEnd(point); err != nil {
			return fmt.Errorf("a session after one that SIGTERM ended after %s: %w", point, err)
		}
	}
	return nil
}

// stops sends SIGTERM; stdin stays open. What was printed before is still to be read.
func (d *sinkDriver) stops() error {
	if err := d.p.terminate(); err != nil {
		return err
	}
	ended, err := d.p.wait(quickly)
	if err != nil {
		return fmt.Errorf("SIGTERM: %w", err)
	}
	if ended.code != 0 {
		d.s.report("SIGTERM: %s, want exit code 0; stderr: %.300q", ended, lastLine(ended.stderr))
	}
	return nil
}

// sinkSlowReader: long documents are loaded by a runner that writes without pause and reads slowly.
func sinkSlowReader(s *sinkSession) error {
	const documents = 20
	long := strings.Repeat("a long text; ", 6_000) // 78 KB, more than a scanner of lines takes; all together more than a pipe
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	var list []store
	for i := range documents {
		list = append(list, store{binding: orders, doc: order(i, fmt.Sprint(i, " ", long), "1.5")})
	}
	if err := d.transaction(list); err != nil {
		return err
	}
	s.packed = true
	var lines strings.Builder
	lines.WriteString(`{"acknowledge":{}}` + "\n")
	for round := range 100 { // many keys that are not there, too
		for i := range documents {
			if round == 0 {
				lines.WriteString(d.loadLine(list[i]) + "\n")
			}
			lines.WriteString(d.loadLine(store{binding: events, doc: event(fmt.Sprintf("%0200d", i), round, "")}) + "\n")
		}
	}
	lines.WriteString(`{"flush":{}}` + "\n")
	d.wanted = []map[string]string{{}, {}, {}}
	for key, have := range s.committed.keyed[orders] {
		d.wanted[orders][key] = canonicalRow(have)
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(d.p.stdin, lines.String())
		sent <- err
	}()
	if err := d.acknowledgedAmongLoaded(); err != nil {
		return err
	}
	for flushed := false; !flushed; {
		r, err := d.next()
		if err != nil {
			return d.explain(fmt.Errorf("no response flushed: %w", err))
		}
		if flushed = r.kind == "flushed"; r.kind == "loaded" {
			d.take(r)
			pause()
		}
	}
	if left := len(d.wanted[orders]); left > 0 {
		s.report("%d of %d long documents were not loaded", left, documents)
	}
	d.wanted = nil
	if err := <-sent; err != nil {
		return err
	}
	checkpoint := s.newCheckpoint()
	if err := d.startCommit(checkpoint); err != nil {
		return err
	}
	if err := d.startedCommit(nil, checkpoint); err != nil {
		return err
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after long documents"); err != nil {
		return err
	}
	return d.endsWithInput("long documents")
}
