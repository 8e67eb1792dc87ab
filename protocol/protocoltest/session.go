package protocoltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// session is one suite on one fixture.
type session struct {
	ctx      context.Context // a session is one call
	f        *Fixture
	findings []string
	told     map[string]int // findings by format
}

// maxAlike: what goes wrong for each record is told a few times, and does not bury the rest.
const maxAlike = 3

// report notes a finding. The suite goes on.
func (s *session) report(format string, args ...any) {
	if s.told[format]++; s.told[format] <= maxAlike {
		s.findings = append(s.findings, fmt.Sprintf(format, args...))
	}
}

// output is what a run printed and how it ended.
type output struct {
	lines    [][]byte // without a last one that is cut
	messages []message
	cut      []byte // an unterminated last line
	exit     exit
}

// run runs the connector to its end with a reader that takes everything. Lines that are no messages are left out of messages.
func (s *session) run(c command) (*output, error) {
	p, err := s.start(c)
	if err != nil {
		return nil, err
	}
	defer p.end()
	return s.finish(p, &output{}, s.f.patience())
}

// finish reads the rest of a run.
func (s *session) finish(p *process, o *output, limit time.Duration) (*output, error) {
	var late error
	stop := time.AfterFunc(limit, p.kill)
	for {
		line, err := p.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			o.cut = line
			break
		}
		o.add(line)
	}
	if !stop.Stop() {
		late = fmt.Errorf("%s still runs after %s", strings.Join(p.cmd.Args[:min(2, len(p.cmd.Args))], " "), limit)
	}
	ended, err := p.wait(limit)
	o.exit = ended
	s.lookForSecrets(o)
	return o, errors.Join(late, err)
}

func (o *output) add(line []byte) {
	o.lines = append(o.lines, line)
	if m, err := decode(line); err == nil {
		o.messages = append(o.messages, m)
	}
}

// of returns the messages of one type.
func (o *output) of(kind string) []message {
	var list []message
	for _, m := range o.messages {
		if m.Type == kind {
			list = append(list, m)
		}
	}
	return list
}

// errors returns the TRACE ERRORs.
func (o *output) errors() []message {
	var list []message
	for _, m := range o.of("TRACE") {
		if m.Trace.Type == "ERROR" {
			list = append(list, m)
		}
	}
	return list
}

// sound reports a run that did not end well.
func (s *session) sound(what string, o *output) {
	if o.exit.code != 0 {
		s.report("%s: %s, want 0; %s", what, o.exit, o.why())
	}
	if o.cut != nil {
		s.report("%s: the output ends in the middle of a line: %.80q", what, o.cut)
	}
}

// why is what the connector said about its failure.
func (o *output) why() string {
	for _, m := range o.errors() {
		return m.Trace.Error.Message
	}
	return fmt.Sprintf("no TRACE ERROR; stderr: %.300q", o.exit.stderr)
}

func (s *session) lookForSecrets(o *output) {
	for _, secret := range s.f.Secrets {
		for _, line := range o.lines {
			if strings.Contains(string(line), secret) {
				s.report("a secret of the config is printed: %.60s…", strings.ReplaceAll(string(line), secret, "<secret>"))
			}
		}
		if strings.Contains(o.exit.stderr, secret) {
			s.report("a secret of the config is written to stderr")
		}
	}
}

// change calls the fixture's Change.
func (s *session) change() error {
	if err := s.f.Change(s.ctx); err != nil {
		return fmt.Errorf("changing the fixture's data: %w", err)
	}
	return nil
}
