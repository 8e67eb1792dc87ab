package protocoltest

import (
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// platform does what the Airbyte platform does, and is stricter than that: every line is held against the protocol, every record against its stream's
// schema, and each recordCount is counted anew.
func platform(s *session) error {
	o, err := s.run(command{name: "spec"})
	if err != nil {
		return err
	}
	s.sound("spec", o)
	s.everyLine("spec", o)
	if i := slices.IndexFunc(o.messages, func(m message) bool { return m.Spec != nil }); i < 0 || i >= 10 {
		s.report("spec: no SPEC within the first 10 lines, where the platform looks for the protocol's version")
	}
	for _, name := range []string{"check", "discover"} {
		if o, err = s.run(command{name: name, config: s.f.Config}); err != nil {
			return err
		}
		s.sound(name, o)
		s.everyLine(name, o)
	}
	streams, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	first, err := s.run(command{name: "read", config: s.f.Config, catalog: text})
	if err != nil {
		return err
	}
	if err := s.wellRead("the first read", first, streams); err != nil {
		return err
	}
	for _, want := range s.f.Streams {
		if !slices.ContainsFunc(first.of("RECORD"), func(m message) bool { return m.Record.descriptor() == want.descriptor() }) {
			s.report("the first read has no RECORD of %s", want.descriptor())
		}
	}
	if err := s.change(); err != nil {
		return err
	}
	second, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: stateFile(lastStates(first.messages), s.f.Streams)})
	if err != nil {
		return err
	}
	return s.wellRead("the second read", second, streams)
}

// everyLine reports lines that are not as the protocol has them. Under the plain protocol the members of our extension are a fault as well.
func (s *session) everyLine(what string, o *output) {
	for _, line := range o.lines {
		if err := strictAirbyte(line); err != nil {
			s.report("%s: %v", what, err)
		}
	}
	s.plainStates(what, o)
}

// plainStates reports state messages that only a runner with our extensions may see.
func (s *session) plainStates(what string, o *output) {
	for _, m := range o.of("STATE") {
		// bug streams-files-parser 8: predecessor: the state of one partition was printed as the whole, or a patch without its flag
		if m.State.Merge {
			s.report("%s: a STATE is a merge patch, which a plain runner would store as the whole", what)
		}
		if m.State.Data != nil && m.State.Type == "STREAM" {
			s.report("%s: a STREAM STATE also has data, which some runners take for the whole state", what)
		}
	}
}

// account is what the platform knows of one configured stream during a read.
type account struct {
	schema   *jsonschema.Schema
	declared map[string]bool // names of top-level properties
	key      []string
	status   string
	since    int  // records since the last STATE
	stated   bool // a STATE came
}

// wellRead reports where a read that should succeed is not as the platform wants it.
func (s *session) wellRead(what string, o *output, streams []discovered) error {
	s.sound(what, o)
	s.everyLine(what, o)
	books := map[descriptor]*account{}
	for i, d := range streams {
		schema, err := compile(d.Schema, "")
		if err != nil {
			return fmt.Errorf("the json_schema of %s: %w", d.descriptor(), err)
		}
		a := &account{schema: schema, declared: map[string]bool{}, key: s.f.Streams[i].Key}
		names, err := d.properties()
		if err != nil {
			return err
		}
		for _, name := range names {
			a.declared[name] = true
		}
		books[d.descriptor()] = a
	}
	types := map[string]bool{}
	for _, m := range o.messages {
		switch {
		case m.Record != nil:
			s.bookRecord(what, books, m.Record)
		case m.State != nil:
			types[m.State.Type] = true
			s.bookState(what, books, m.State)
		case m.Trace != nil && m.Trace.Status != nil:
			s.bookStatus(what, books, m.Trace)
		}
	}
	if len(types) > 1 {
		s.report("%s: STATEs of several types", what)
	}
	for _, d := range streams {
		a := books[d.descriptor()]
		if a.status != "COMPLETE" {
			s.report("%s: %s ends with the status %q, want COMPLETE", what, d.descriptor(), a.status)
		}
		if !a.stated || a.since > 0 {
			s.report("%s: %s has %d RECORDs after its last STATE, or no STATE", what, d.descriptor(), a.since)
		}
	}
	return nil
}

func (s *session) bookRecord(what string, books map[descriptor]*account, r *record) {
	a := books[r.descriptor()]
	if a == nil {
		s.report("%s: a RECORD of %s, which is not in the catalog", what, r.descriptor())
		return
	}
	if a.status != "RUNNING" {
		s.report("%s: a RECORD of %s while its status is %q, want RUNNING", what, r.descriptor(), a.status)
	}
	a.since++
	value, err := parse(r.Data)
	if err == nil {
		err = fits(a.schema, value)
	}
	if err != nil {
		s.report("%s: a RECORD of %s does not fit its schema: %v: %.200s", what, r.descriptor(), err, r.Data)
	}
	object, ok := value.(map[string]any)
	for name := range object {
		if !a.declared[name] {
			s.report("%s: a RECORD of %s has %q, which its schema does not declare", what, r.descriptor(), name)
		}
	}
	for _, name := range a.key {
		switch member(object, name).(type) {
		case nil, map[string]any, []any:
			ok = false
		}
	}
	if !ok {
		s.report("%s: a RECORD of %s has no plain value for its key %q: %.200s", what, r.descriptor(), a.key, r.Data)
	}
}

func (s *session) bookState(what string, books map[descriptor]*account, st *state) {
	if st.Type != "STREAM" {
		s.report("%s: a STATE of type %q, want STREAM", what, st.Type)
		return
	}
	a := books[st.Stream.Descriptor]
	if a == nil {
		s.report("%s: a STATE of %s, which is not in the catalog", what, st.Stream.Descriptor)
		return
	}
	if st.Stats == nil || st.Stats.Records == nil {
		s.report("%s: a STATE of %s has no recordCount", what, st.Stream.Descriptor)
	} else if n := *st.Stats.Records; n != float64(a.since) {
		s.report("%s: a STATE of %s counts %g records, but %d came since the one before", what, st.Stream.Descriptor, n, a.since)
	}
	a.since, a.stated = 0, true
}

func (s *session) bookStatus(what string, books map[descriptor]*account, t *trace) {
	a := books[t.Status.Descriptor]
	if a == nil {
		s.report("%s: a status of %s, which is not in the catalog", what, t.Status.Descriptor)
		return
	}
	follows := map[string][]string{"": {"STARTED"}, "STARTED": {"RUNNING", "INCOMPLETE"}, "RUNNING": {"RUNNING", "COMPLETE", "INCOMPLETE"}}
	if !slices.Contains(follows[a.status], t.Status.Status) {
		s.report("%s: %s goes from status %q to %s", what, t.Status.Descriptor, a.status, t.Status.Status)
	}
	a.status = t.Status.Status
}
