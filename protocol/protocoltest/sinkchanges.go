package protocoltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// refuses sends lines of which the last has to end the process: there is no response for errors, the reason goes to stderr.
func (d *sinkDriver) refuses(what string, lines ...string) error {
	for _, line := range lines {
		if err := d.p.send(line); err != nil {
			break // it has ended already
		}
	}
	d.watchdog.Reset(quickly)
	for {
		line, err := d.p.next()
		if err != nil {
			break
		}
		if kind, _ := strictSink(line); kind != "acknowledged" && kind != "flushed" {
			d.s.report("%s: %.100q, want no response", what, line)
		}
	}
	ended, err := d.p.wait(quickly)
	if err != nil {
		return err
	}
	if ended.signal == syscall.SIGKILL {
		return fmt.Errorf("%s: the process still runs after %s", what, quickly)
	}
	var last struct{ Level string }
	if err := json.Unmarshal([]byte(lastLine(ended.stderr)), &last); ended.code != 1 || err != nil || last.Level != "error" {
		d.s.report("%s: %s, want exit code 1 and a log line of level error, as JSON, at the end of stderr: %.300q", what, ended, lastLine(ended.stderr))
	}
	return nil
}

// sinkRefuses: requests in the wrong place, or of what is not open, end the session with a reason, and nothing of the transaction shows.
func sinkRefuses(s *sinkSession) error {
	if err := s.firstSession(); err != nil {
		return err
	}
	for what, lines := range map[string]func(d *sinkDriver) []string{
		"flush without acknowledge": func(*sinkDriver) []string { return []string{`{"flush":{}}`} },
		"a store without flush": func(d *sinkDriver) []string {
			return []string{`{"acknowledge":{}}`, d.storeLine(secondOrders[0], true)}
		},
		"a load among stores": func(d *sinkDriver) []string {
			return []string{`{"acknowledge":{}}`, `{"flush":{}}`, d.storeLine(secondOrders[0], true), d.loadLine(secondOrders[1])}
		},
		"startCommit without flush": func(*sinkDriver) []string { return []string{`{"acknowledge":{}}`, `{"startCommit":{}}`} },
		"a store of no binding": func(*sinkDriver) []string {
			return []string{`{"acknowledge":{}}`, `{"flush":{}}`, `{"store":{"binding":3,"key":[1],"values":[]}}`}
		},
		"half a key": func(*sinkDriver) []string {
			return []string{`{"acknowledge":{}}`, `{"load":{"binding":1,"key":["a"]}}`, `{"flush":{}}`}
		},
		"something that is no request": func(*sinkDriver) []string { return []string{`{"acknowledge":{}}`, `{"flash":{}}`} },
		"keys out of order": func(d *sinkDriver) []string {
			return []string{`{"acknowledge":{}}`, `{"flush":{}}`, d.storeLine(secondOrders[2], false), d.storeLine(secondOrders[0], true)}
		},
	} {
		d, err := s.again()
		if err != nil {
			return err
		}
		defer d.end()
		if err := d.refuses(what, lines(d)...); err != nil {
			return err
		}
		if err := s.afterEnd(what); err != nil {
			return err
		}
	}
	return nil
}

// sinkFence: of two sessions of one task only the newer can commit.
func sinkFence(s *sinkSession) error {
	if !s.sink.KeepsCheckpoint {
		return nil // the runner's log has but one writer
	}
	older, err := s.begin()
	if err != nil {
		return err
	}
	defer older.end()
	if err := older.transaction(firstOrders); err != nil {
		return err
	}
	newer, err := s.again()
	if err != nil {
		return err
	}
	defer newer.end()
	// The older session may hear of it anywhere in its transaction, but it must not commit.
	list := inOrder([]store{{binding: orders, doc: order(99, "of the older", "1.5")}, {binding: visits, doc: visit(99, "/older")}})
	lines := []string{`{"acknowledge":{}}`, `{"flush":{}}`}
	for _, st := range list {
		lines = append(lines, older.storeLine(st, false))
	}
	if err := older.refuses("a commit of a session that another has taken over from", append(lines, `{"startCommit":{"runtimeCheckpoint":`+s.newCheckpoint()+`}}`)...); err != nil {
		return err
	}
	if err := newer.transaction(secondOrders); err != nil {
		return err
	}
	if err := newer.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after an older session and a newer one"); err != nil {
		return err
	}
	return newer.endsWithInput("a session that took over")
}

// sinkBackfill: a binding that starts over has an empty table, the others keep theirs.
func sinkBackfill(s *sinkSession) error {
	d, err := s.begin()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.transaction(firstOrders); err != nil {
		return err
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := d.endsWithInput("a transaction"); err != nil {
		return err
	}
	last := s.materialization()
	s.backfill[orders]++
	s.committed.keyed[orders] = map[string]doc{}
	if d, err = s.drive(); err != nil {
		return err
	}
	defer d.end()
	if err := d.validate(last); err != nil {
		return err
	}
	done, err := d.apply(last)
	if err != nil {
		return err
	}
	if done == "" {
		s.report("applied does not tell that a table was emptied")
	}
	if err := s.level("after a backfill counter was raised"); err != nil {
		return err
	}
	if err := d.open(); err != nil {
		return err
	}
	if err := d.transaction([]store{{binding: orders, doc: order(2, "anew", "1.5")}, {binding: visits, doc: visit(1, "/more")}}); err != nil {
		return err
	}
	if err := d.acknowledge(); err != nil {
		return err
	}
	if err := s.level("after a transaction into a table that started over"); err != nil {
		return err
	}
	return d.endsWithInput("a table that started over")
}

// sinkAdded: a running task gets more bindings, and loses them again.
// bug materializations 10: a binding that was added was looked for past the end of a list in the stored state (2022-10)
func sinkAdded(s *sinkSession) error {
	for round, bound := range []int{1, len(collections), 2, len(collections)} {
		last := ""
		if round > 0 {
			last = s.materialization()
		}
		s.bound = bound
		if err := s.withBindings(last, round); err != nil {
			return fmt.Errorf("%d bindings: %w", bound, err)
		}
	}
	return nil
}

// withBindings applies and runs a transaction of the bindings, which is acknowledged by the next session where the round is even.
func (s *sinkSession) withBindings(last string, round int) error {
	d, err := s.drive()
	if err != nil {
		return err
	}
	defer d.end()
	if err := d.validate(last); err != nil {
		return err
	}
	if _, err := d.apply(last); err != nil {
		return err
	}
	if err := d.open(); err != nil {
		return err
	}
	list := slices.DeleteFunc([]store{
		{binding: orders, doc: order(1, fmt.Sprint("round ", round), "1.5")}, {binding: events, doc: event("a", round, "new")}, {binding: visits, doc: visit(round, "/new")},
	}, func(st store) bool { return st.binding >= s.bound })
	if err := d.transaction(list); err != nil {
		return err
	}
	if round%2 == 1 {
		if err := d.acknowledge(); err != nil {
			return err
		}
		if err := s.level(fmt.Sprintf("after a transaction of %d bindings", s.bound)); err != nil {
			return err
		}
	}
	return d.endsWithInput("a transaction")
}

// pause is how long the slow reader rests after a document.
func pause() { time.Sleep(5 * time.Millisecond) }
