package protocoltest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// flowUnary: each process answers spec and then one request, and ends with its stdin.
func flowUnary(s *session) error {
	if err := s.flowStarts(); err != nil {
		return err
	}
	var bs []flowBinding
	for _, request := range []string{"spec", "discover", "validate", "apply"} {
		d, err := s.drive()
		if err != nil {
			return err
		}
		defer d.end()
		switch request {
		case "discover":
			if bs, err = d.discover(); err == nil {
				s.offered(bs)
			}
		case "validate":
			err = d.validate(bs)
		case "apply":
			_, err = d.ask(`{"apply":{"capture":`+s.capture(bs)+`,"version":"1","state":{}}}`, "applied")
			if err == nil { // it has to be repeatable
				_, err = d.ask(`{"apply":{"capture":`+s.capture(bs)+`,"version":"2","lastCapture":`+s.capture(bs)+`,"lastVersion":"1","state":{}}}`, "applied")
			}
		}
		if err != nil {
			return err
		}
		if err := d.endsWithInput(request); err != nil {
			return err
		}
	}
	return s.refusedByValidate(bs)
}

// offered reports bindings that Flow could not make collections of.
func (s *session) offered(bs []flowBinding) {
	keys := map[string]bool{}
	for _, b := range bs {
		if _, err := compile(b.Schema, ""); err != nil {
			s.report("the documentSchema of %s is not valid: %v", b.Name, err)
		}
		if keys[b.stateKey()] {
			s.report("two bindings have the resource path %q", b.Path)
		}
		keys[b.stateKey()] = true
		var want []string
		for _, name := range b.stream.Key {
			want = append(want, "/"+name)
		}
		if len(b.Key) == 0 || len(want) > 0 && !slices.Equal(b.Key, want) {
			s.report("the key of %s is %q, want %q, or a fallback", b.Name, b.Key, want)
		}
	}
}

func (d *driver) validate(bs []flowBinding) error {
	var list []byte
	for _, b := range bs {
		list = append(list, `,{"resourceConfig":`+compact(b.Resource)+`,"collection":{"name":"acme/`+b.Name+`"},"backfill":1}`...)
	}
	r, err := d.ask(`{"validate":{"name":"acme/capture","connectorType":"IMAGE","config":`+compact(d.s.f.Config)+`,"bindings":[`+string(list[1:])+`],"$internal":"x"}}`, "validated")
	if err != nil {
		return err
	}
	if len(r.Validated.Bindings) != len(bs) {
		return fmt.Errorf("validated has %d bindings, asked were %d", len(r.Validated.Bindings), len(bs))
	}
	for i, b := range bs {
		if got := r.Validated.Bindings[i].Path; !slices.Equal(got, b.Path) {
			d.s.report("validated has the path %q for binding %d, want %q as discovered", got, i, b.Path)
		}
	}
	return nil
}

// endsWithInput: after the end of stdin comes nothing, and exit code 0.
func (d *driver) endsWithInput(what string) error {
	if err := d.p.stdin.Close(); err != nil {
		return fmt.Errorf("closing the connector's stdin: %w", err)
	}
	if line, err := d.p.next(); !errors.Is(err, io.EOF) {
		d.s.report("after %s and the end of its input: %.100q (%v), want nothing", what, line, err)
	}
	ended, err := d.p.wait(quickly)
	if err != nil {
		return err
	}
	if ended.code != 0 {
		d.s.report("after %s and the end of its input: %s, want exit code 0; stderr: %.300q", what, ended, lastLine(ended.stderr))
	}
	return nil
}

// flowStarts: who starts the binary without anything, or with something else than requests, is told how it is used.
func (s *session) flowStarts() error {
	for what, input := range map[string]string{"an empty stdin": "", "a stdin that holds no JSON": "hello\n"} {
		d, err := s.driveSilently()
		if err != nil {
			return err
		}
		defer d.end()
		if _, err := io.WriteString(d.p.stdin, input); err != nil {
			return err
		}
		if err := d.p.stdin.Close(); err != nil {
			return err
		}
		line, err := d.p.next()
		if !errors.Is(err, io.EOF) {
			s.report("%s: %.100q on stdout, want nothing", what, line)
		}
		ended, err := d.p.wait(quickly)
		if err != nil {
			return err
		}
		if ended.code != 2 || ended.stderr == "" {
			s.report("%s: %s and %d bytes on stderr, want exit code 2 and a word about the usage", what, ended, len(ended.stderr))
		}
	}
	return nil
}

// refusedByValidate: there is no response for errors. The reason goes to stderr.
func (s *session) refusedByValidate(bs []flowBinding) error {
	for i, config := range s.f.Refused {
		d, err := s.drive()
		if err != nil {
			return err
		}
		defer d.end()
		if err := d.p.send(`{"validate":{"name":"acme/capture","connectorType":"IMAGE","config":` + compact(config) + `,"bindings":[{"resourceConfig":` + compact(bs[0].Resource) + `}]}}`); err != nil {
			return err
		}
		line, err := d.p.next()
		if !errors.Is(err, io.EOF) {
			s.report("validate with the refused config %d: %.100q, want no response", i, line)
		}
		ended, err := d.p.wait(quickly)
		if err != nil {
			return err
		}
		if ended.code != 1 || ended.stderr == "" {
			s.report("validate with the refused config %d: %s and %d bytes on stderr, want exit code 1 and a reason", i, ended, len(ended.stderr))
		}
	}
	return nil
}

// flowCapture opens two bindings, or the only one, follows the source through two changes, acknowledges, and closes stdin.
func flowCapture(s *session) error {
	d, err := s.drive()
	if err != nil {
		return err
	}
	defer d.end()
	bs, err := d.discover()
	if err != nil {
		return err
	}
	if err := d.open(bs[:min(2, len(bs))], openWith{}); err != nil {
		return err
	}
	run := s.newFlowRun(s.tables(), nil)
	if err := d.until("all rows", run); err != nil {
		return err
	}
	if err := d.acknowledge(run.checkpoints); err != nil {
		return err
	}
	acknowledged := run.checkpoints
	for range 2 {
		if err := s.change(); err != nil {
			return err
		}
		if err := d.until("the changes", run); err != nil {
			return err
		}
		for ; acknowledged < run.checkpoints; acknowledged++ {
			if err := d.acknowledge(1); err != nil {
				return err
			}
		}
	}
	if err := d.p.stdin.Close(); err != nil {
		return err
	}
	if err := d.drain("a capture whose stdin was closed", run, false); err != nil {
		return err
	}
	return d.level("after a capture whose stdin was closed", run)
}

// flowResume opens a capture again from checkpoints of an earlier one, none of them acknowledged: the source must still have what came after each. From
// each, the documents that are committed in the end are what the source holds.
func flowResume(s *session) error {
	first, bs, err := s.follow("the first capture", nil, s.newFlowRun(s.tables(), nil))
	if err != nil {
		return err
	}
	var last *flowRun
	for _, n := range spread(len(first), resumePoints) {
		what := fmt.Sprintf("a capture from checkpoint %d of %d", n, len(first))
		runs, _, followErr := s.follow(what, bs, s.newFlowRun(first[n-1].committed, first[n-1].document))
		if followErr != nil {
			return followErr
		}
		last = runs[len(runs)-1]
	}
	before := s.newFlowRun(last.committed, last.document)
	runs, err := s.captureOnce("a capture with nothing new", bs, before)
	if err != nil {
		return err
	}
	for _, stream := range s.f.Streams {
		d := stream.descriptor()
		if a, b := runs.kept[d].count(), last.committed[d].count(); a != b {
			s.report("a capture with nothing new has %d rows of %s, want %d", a, d, b)
		}
	}
	return nil
}

// count is how many rows there are.
func (f *folded) count() int {
	n := len(f.rows)
	for _, times := range f.bag {
		n += times
	}
	return n
}

// follow runs a capture until it has brought everything, and then a change, and closes stdin. It returns what was there after each checkpoint. bs: nil
// asks for them.
func (s *session) follow(what string, bs []flowBinding, run *flowRun) ([]*flowRun, []flowBinding, error) {
	d, err := s.drive()
	if err != nil {
		return nil, nil, err
	}
	defer d.end()
	if bs == nil {
		if bs, err = d.discover(); err != nil {
			return nil, nil, err
		}
	}
	if err := d.open(bs, openWith{state: run.document}); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	d.log = &[]*flowRun{}
	for _, until := range []string{"all rows", "the changes"} {
		if err := d.until(what+": "+until, run); err != nil {
			return nil, nil, err
		}
		if until == "all rows" {
			if err := s.change(); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := d.p.stdin.Close(); err != nil {
		return nil, nil, fmt.Errorf("closing the connector's stdin: %w", err)
	}
	d.watchdog.Reset(quickly)
	if err := d.drain(what, run, false); err != nil {
		return nil, nil, err
	}
	return *d.log, bs, d.level("after "+what, run)
}

// captureOnce runs a capture with "tail":false to its end and acknowledges each checkpoint: it ends without being asked, and does not wait for long.
func (s *session) captureOnce(what string, bs []flowBinding, run *flowRun) (*flowRun, error) {
	d, err := s.drive()
	if err != nil {
		return nil, err
	}
	defer d.end()
	if err := d.open(bs, openWith{state: run.document, once: true}); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := d.drain(what, run, true); err != nil {
		return nil, err
	}
	if waited := time.Since(d.checkpoint); waited > s.f.patience()/8 {
		s.report("%s: it ended %s after its last checkpoint, although all were acknowledged", what, waited)
	}
	return run, d.level("after "+what, run)
}

// flowEnds: however a capture is asked to end, it ends well and at a checkpoint, and the next one goes on from there.
func flowEnds(s *session) error {
	run := s.newFlowRun(s.tables(), nil)
	var bs []flowBinding
	for _, end := range []struct {
		what string
		once bool
		ask  func(*driver) error
	}{
		{"the end of stdin in the middle of a capture", false, func(d *driver) error { return d.p.stdin.Close() }},
		{"SIGTERM in the middle of a capture", false, func(d *driver) error { return d.p.terminate() }},
		{"the end of stdin in a capture with tail false", true, func(d *driver) error { return d.p.stdin.Close() }},
	} {
		d, err := s.drive()
		if err != nil {
			return err
		}
		defer d.end()
		if bs == nil {
			if bs, err = d.discover(); err != nil {
				return err
			}
		}
		if err := d.open(bs, openWith{state: run.document, once: end.once}); err != nil {
			return fmt.Errorf("%s: %w", end.what, err)
		}
		for came := false; !came; { // a first sign of life, so that it is in the middle
			r, err := d.step(run)
			if err != nil {
				return d.explain(fmt.Errorf("%s: %w", end.what, err))
			}
			came = r.Captured != nil || r.Checkpoint != nil
		}
		if err := end.ask(d); err != nil {
			return err
		}
		d.watchdog.Reset(quickly)
		if err := d.drain(end.what, run, false); err != nil {
			return err
		}
		if err := s.change(); err != nil {
			return err
		}
		run = s.newFlowRun(run.committed, run.document)
	}
	_, err := s.captureOnce("a capture after others were ended", bs, run)
	return err
}

// flowReset makes void what was captured of the first stream. A runner that asked for resets is told, at a checkpoint; another never sees the response.
func flowReset(s *session) error {
	if s.f.Void == nil {
		return nil
	}
	d, err := s.drive()
	if err != nil {
		return err
	}
	defer d.end()
	bs, err := d.discover()
	if err != nil {
		return err
	}
	if err := d.open(bs, openWith{reset: true}); err != nil {
		return err
	}
	run := s.newFlowRun(s.tables(), nil)
	if err := d.until("all rows", run); err != nil {
		return err
	}
	if err := s.f.Void(s.ctx); err != nil {
		return fmt.Errorf("making the fixture's first stream void: %w", err)
	}
	if err := d.until("the rows after a reset", run); err != nil {
		return err
	}
	if len(run.resets) != 1 || run.resets[0].Reset.Binding != 0 {
		s.report("%d resets after one stream became void, want one, of binding 0", len(run.resets))
	}
	if err := d.p.stdin.Close(); err != nil {
		return err
	}
	d.watchdog.Reset(quickly)
	if err := d.drain("a capture with resets", run, false); err != nil {
		return err
	}
	if err := s.f.Void(s.ctx); err != nil {
		return fmt.Errorf("making the fixture's first stream void: %w", err)
	}
	plain, err := s.drive()
	if err != nil {
		return err
	}
	defer plain.end()
	if err := plain.open(bs, openWith{state: run.document, once: true}); err != nil {
		return err
	}
	return plain.drain("a capture without resets", s.newFlowRun(run.committed, run.document), true)
}
