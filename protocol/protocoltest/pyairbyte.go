package protocoltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// pyAirbyte does what PyAirbyte does with a local executable: it takes the first answer and sends SIGTERM without reading on, skips every line that it
// cannot read, keeps the last STATE of each stream and gives it back with all keys that it knows, most of them null. A read has failed when its exit
// code is not 0, and only then.
func pyAirbyte(s *session) error {
	if _, err := s.firstAnswer("check", "CONNECTION_STATUS"); err != nil {
		return err
	}
	found, err := s.firstAnswer("discover", "CATALOG")
	if err != nil {
		return err
	}
	described, err := s.firstAnswer("spec", "SPEC")
	if err != nil {
		return err
	}
	if err := configFits(described.Spec, s.f.Config); err != nil {
		s.report("the working config does not fit the spec: %v", err)
	}
	streams, err := found.Catalog.discovered()
	if err != nil {
		return err
	}
	byName := map[string]bool{}
	for _, d := range streams {
		if byName[d.Name] {
			s.report("two streams have the name %s: tables are named by it alone", d.Name)
		}
		byName[d.Name] = true
	}
	text, err := configured(streams, selection{mode: "incremental", destination: "overwrite", generations: true})
	if err != nil {
		return err
	}
	kept := s.tables()
	given := []byte("[]")
	for round := range 3 { // with everything, with nothing new, with changes
		if round == 2 {
			if err := s.change(); err != nil {
				return err
			}
		}
		o, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: given})
		if err != nil {
			return err
		}
		what := fmt.Sprintf("read %d", round+1)
		s.sound(what, o)
		before := kept.clone()
		s.load(what, o, before, kept, round > 0)
		if err := s.compare(kept, "after "+what); err != nil {
			return err
		}
		if n := len(o.of("RECORD")); round == 1 && n > 0 {
			s.report("read 2 printed %d RECORDs, but nothing had changed", n)
		} else if round == 2 && n == 0 {
			s.report("read 3 printed no RECORD, but rows had changed")
		}
		if given, err = s.reserialised(o); err != nil {
			return err
		}
	}
	return nil
}

// load puts the records of a read into the kept tables. In a second read, nothing may come again that was there already.
func (s *session) load(what string, o *output, before, kept tables, again bool) {
	for _, m := range o.messages {
		if m.Record == nil {
			continue
		}
		if f := before[m.Record.descriptor()]; again && f != nil {
			if d, err := f.stream.document(m.Record.Data); err == nil && f.holds(d) {
				s.report("%s brought an unchanged row of %s again: %.200s", what, m.Record.descriptor(), m.Record.Data)
			}
		}
		s.fold(kept, m.Record)
	}
}

// firstAnswer runs a command up to the first message of a type. The rest of the output stays in the pipe while the process is asked to end.
func (s *session) firstAnswer(name, kind string) (message, error) {
	c := command{name: name}
	if name != "spec" {
		c.config = s.f.Config
	}
	p, err := s.start(c)
	if err != nil {
		return message{}, err
	}
	defer p.end()
	watchdog := time.AfterFunc(s.f.patience(), p.kill)
	defer watchdog.Stop()
	for {
		line, err := p.next()
		if err != nil {
			ended, waitErr := p.wait(s.f.patience())
			if !errors.Is(err, io.EOF) {
				waitErr = errors.Join(waitErr, err)
			}
			return message{}, errors.Join(fmt.Errorf("%s ended without a %s: %s; stderr: %.300q", name, kind, ended, ended.stderr), waitErr)
		}
		m, err := decode(line)
		if err != nil || m.Type != kind {
			continue
		}
		if kind == "CONNECTION_STATUS" && m.Status.Status != "SUCCEEDED" {
			s.report("check of the working config says %s: %s", m.Status.Status, m.Status.Message)
		}
		watchdog.Stop()
		if err := p.terminate(); err != nil {
			return m, err
		}
		ended, err := p.wait(10 * time.Second)
		if err != nil {
			s.report("%s: asked to end after its %s: %v", name, kind, err)
		} else if ended.code != 0 && ended.signal != syscall.SIGTERM {
			s.report("%s: asked to end after its %s: %s, want exit code 0 or an end by SIGTERM", name, kind, ended)
		}
		return m, nil
	}
}

func configFits(described *spec, config []byte) error {
	schema, err := compile(described.Connection, "")
	if err != nil {
		return err
	}
	value, err := parse(config)
	if err != nil {
		return err
	}
	return fits(schema, value)
}

// reserialised writes the last STATEs as PyAirbyte's model prints them.
func (s *session) reserialised(o *output) ([]byte, error) {
	list := []any{}
	states := lastStates(o.messages)
	for _, m := range o.of("STATE") {
		if m.State.Type != "STREAM" {
			return nil, fmt.Errorf("a STATE has the type %q, which is kept for no stream and not given back", m.State.Type)
		}
	}
	for _, stream := range s.f.Streams {
		state := states[stream.descriptor()]
		if state == nil {
			s.report("%s got no STATE", stream.descriptor())
			continue
		}
		var namespace any
		if stream.Namespace != "" {
			namespace = stream.Namespace
		}
		var records any
		if state.Stats != nil {
			records = state.Stats.Records
		}
		list = append(list, map[string]any{
			"type": "STREAM", "global_": nil, "global": nil, "data": nil, "destinationStats": nil,
			"sourceStats": map[string]any{"recordCount": records, "rejectedRecordCount": nil},
			"stream": map[string]any{
				"stream_descriptor": map[string]any{"name": stream.Name, "namespace": namespace}, "stream_state": state.Stream.State,
			},
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("writing the states: %w", err)
	}
	return text, nil
}
