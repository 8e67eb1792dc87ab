package protocoltest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// acceptanceSpec is what the connector acceptance tests and the CDK's standard tests ask of spec.
func acceptanceSpec(s *session) error {
	o, err := s.run(command{name: "spec", flags: []string{"--debug", "--some-flag", "some value", "--other=1"}})
	if err != nil {
		return err
	}
	s.sound("spec with flags that nobody knows", o)
	specs := o.of("SPEC")
	if len(specs) != 1 {
		s.report("spec printed %d SPECs, want one", len(specs))
		return nil
	}
	value, err := parse(specs[0].Spec.Connection)
	if err != nil {
		return err
	}
	root, ok := value.(map[string]any)
	if !ok {
		s.report("connectionSpecification is no object")
		return nil
	}
	// bug streams-files-parser 5: estuary/connectors history: defects inside the schemas of configurations
	for _, fault := range specFaults(root) {
		s.report("%s", fault)
	}
	if err := configFits(specs[0].Spec, s.f.Config); err != nil {
		s.report("the working config does not fit the spec: %v", err)
	}
	return nil
}

// acceptanceCheck: one CONNECTION_STATUS whatever the config is.
func acceptanceCheck(s *session) error {
	cases := []struct {
		what, want string
		config     []byte
	}{{"the working config", "SUCCEEDED", s.f.Config}, {"a config that is cut", "FAILED", s.f.Config[:len(s.f.Config)/2]}}
	for i, config := range s.f.Refused {
		cases = append(cases, struct {
			what, want string
			config     []byte
		}{fmt.Sprintf("the refused config %d", i), "FAILED", config})
	}
	for _, c := range cases {
		o, err := s.run(command{name: "check", config: c.config, flags: []string{"--some-flag=1"}})
		if err != nil {
			return err
		}
		s.sound("check with "+c.what, o)
		statuses := o.of("CONNECTION_STATUS")
		if len(statuses) != 1 {
			s.report("check with %s printed %d CONNECTION_STATUSes, want one; %s", c.what, len(statuses), o.why())
			continue
		}
		got := statuses[0].Status
		if got.Status != c.want {
			s.report("check with %s says %s, want %s: %s", c.what, got.Status, c.want, got.Message)
		}
		if got.Status == "FAILED" && got.Message == "" {
			s.report("check with %s does not say why it failed", c.what)
		}
	}
	return nil
}

func acceptanceDiscovery(s *session) error {
	streams, err := s.discover()
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for i, d := range streams {
		if names[d.Name] {
			s.report("two streams have the name %s", d.Name)
		}
		names[d.Name] = true
		var key []string
		for _, path := range d.Key {
			key = append(key, strings.Join(path, "/"))
		}
		if want := s.f.Streams[i].Key; !slices.Equal(key, want) {
			s.report("the key of %s is %q, want %q", d.descriptor(), key, want)
		}
		for _, fault := range streamFaults(d) {
			s.report("%s: %s", d.descriptor(), fault)
		}
	}
	return nil
}

// acceptanceRead reads everything twice, and what cannot be read.
func acceptanceRead(s *session) error {
	full := selection{mode: "full_refresh", destination: "append_dedup", nulls: true, noKey: true}
	streams, text, err := s.discoverAndConfigure(full)
	if err != nil {
		return err
	}
	var latest float64 // emitted_at of the read before
	for round := range 2 {
		what := fmt.Sprintf("full refresh %d", round+1)
		began := time.Now().Add(-time.Millisecond)
		o, err := s.run(command{name: "read", config: s.f.Config, catalog: text})
		if err != nil {
			return err
		}
		if err := s.wellRead(what, o, streams); err != nil {
			return err
		}
		kept, previous := s.tables(), latest
		for _, m := range o.of("RECORD") {
			s.fold(kept, m.Record)
			// bug streams-files-parser 9: predecessor: emitted_at in seconds
			if m.Record.EmittedAt <= previous || m.Record.EmittedAt < float64(began.UnixMilli()) || m.Record.EmittedAt > float64(time.Now().UnixMilli()) {
				s.report("%s: emitted_at %.0f is not when the record was written, after the read before (%.0f)", what, m.Record.EmittedAt, previous)
			}
			latest = max(latest, m.Record.EmittedAt)
		}
		// Both reads hold what the source holds, so they hold the same.
		if err := s.compare(kept, "after "+what); err != nil {
			return err
		}
	}
	return s.failedReads(streams)
}

// failedReads: what is wrong is told by a TRACE ERROR, the last line, and by the exit code.
func (s *session) failedReads(streams []discovered) error {
	_, good, err := s.withStranger(streams, incremental)
	if err != nil {
		return err
	}
	stranger, invalid, err := s.withStranger(nil, selection{mode: "INVALID", destination: "append"})
	if err != nil {
		return err
	}
	mode, err := configured(streams, selection{mode: "INVALID", destination: "append"})
	if err != nil {
		return err
	}
	plain, err := configured(streams, incremental)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what    string
		command command
	}{
		{"of a stream that does not exist, with an invalid mode", command{catalog: invalid}},
		{"of a stream that does not exist, beside others", command{catalog: good}},
		{"with an invalid mode", command{catalog: mode}},
		{"with a catalog that is cut", command{catalog: plain[:len(plain)/2]}},
		{"with a state that is cut", command{catalog: plain, state: []byte(`[{"type":"STREAM","stream":{`)}},
	} {
		c.command.name, c.command.config = "read", s.f.Config
		o, err := s.run(c.command)
		if err != nil {
			return err
		}
		if o.exit.code != 1 || o.cut != nil {
			s.report("a read %s: %s, want exit code 1 and whole lines", c.what, o.exit)
		}
		if len(o.errors()) == 0 {
			s.report("a read %s has no TRACE ERROR", c.what)
		} else if last := o.messages[len(o.messages)-1]; last.Trace == nil || last.Trace.Error == nil {
			s.report("a read %s: the last line is no TRACE ERROR: %.100q", c.what, last.line)
		}
		s.everyLine("a read "+c.what, o)
		if string(c.command.catalog) == string(good) {
			s.othersAreRead(o, stranger)
		}
	}
	return nil
}

// withStranger adds a stream that the source has not.
func (s *session) withStranger(streams []discovered, how selection) (descriptor, []byte, error) {
	d := discovered{Name: "__AIRBYTE__stream_that_does_not_exist", Namespace: s.f.Streams[0].Namespace}
	raw := map[string]any{"json_schema": map[string]any{"type": "object", "properties": map[string]any{}}, "supported_sync_modes": []string{"full_refresh", "incremental"}}
	for name, value := range d.descriptor().plain() {
		raw[name] = value
	}
	d.raw = []byte(canonical(raw))
	text, err := configured(append(slices.Clone(streams), d), how)
	return d.descriptor(), text, err
}

// othersAreRead: one stream that is gone stops no other.
func (s *session) othersAreRead(o *output, stranger descriptor) {
	last := map[descriptor]string{}
	records := map[descriptor]int{}
	for _, m := range o.messages {
		if m.Trace != nil && m.Trace.Status != nil {
			last[m.Trace.Status.Descriptor] = m.Trace.Status.Status
		}
		if m.Record != nil {
			records[m.Record.descriptor()]++
		}
	}
	if last[stranger] != "INCOMPLETE" {
		s.report("a configured stream that does not exist ends with the status %q, want INCOMPLETE", last[stranger])
	}
	for _, stream := range s.f.Streams {
		if d := stream.descriptor(); records[d] == 0 || last[d] != "COMPLETE" {
			s.report("beside a stream that does not exist, %s has %d RECORDs and the status %q, want it read", d, records[d], last[d])
		}
	}
}

// resumePoints is how many of a read's STATEs are gone on from: each is a read.
const resumePoints = 5

// acceptanceIncremental goes on from STATEs in the middle of a read, after changes, and from the last one, when nothing has changed.
func acceptanceIncremental(s *session) error {
	streams, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	o, err := s.run(command{name: "read", config: s.f.Config, catalog: text})
	if err != nil {
		return err
	}
	if err := s.wellRead("the first read", o, streams); err != nil {
		return err
	}
	if err := s.change(); err != nil {
		return err
	}
	var given []byte
	for _, n := range spread(len(o.of("STATE")), resumePoints) {
		what := fmt.Sprintf("a read from STATE %d of %d", n, len(o.of("STATE")))
		covered, states := s.upTo(o.messages, n)
		given = stateFile(states, s.f.Streams)
		again, readErr := s.run(command{name: "read", config: s.f.Config, catalog: text, state: given})
		if readErr != nil {
			return readErr
		}
		if err := s.wellRead(what, again, streams); err != nil {
			return err
		}
		for _, m := range again.of("RECORD") {
			s.fold(covered, m.Record)
		}
		if err := s.compare(covered, "after "+what); err != nil {
			return err
		}
		given = stateFile(lastStates(again.messages), s.f.Streams)
	}
	o, err = s.run(command{name: "read", config: s.f.Config, catalog: text, state: given})
	if err != nil {
		return err
	}
	if n := len(o.of("RECORD")); n > 0 {
		s.report("a read from the last STATE printed %d RECORDs, but nothing had changed", n)
	}
	return s.wellRead("a read with nothing new", o, streams)
}

// upTo folds the records that the first n STATEs cover, each stream's up to its own last one, and returns these STATEs.
func (s *session) upTo(messages []message, n int) (tables, map[descriptor]*state) {
	end := 0
	for i, m := range messages {
		if m.State == nil {
			continue
		}
		if end = i + 1; n == 1 {
			break
		}
		n--
	}
	messages = messages[:end]
	states := lastStates(messages)
	open := map[descriptor]bool{} // streams whose last STATE is still to come, reading backwards
	covered := make([]bool, end)
	for i := end - 1; i >= 0; i-- {
		if m := messages[i]; m.State != nil && m.State.Stream != nil {
			open[m.State.Stream.Descriptor] = true
		} else if m.Record != nil {
			covered[i] = open[m.Record.descriptor()]
		}
	}
	kept := s.tables()
	for i, m := range messages {
		if covered[i] {
			s.fold(kept, m.Record)
		}
	}
	return kept, states
}

// spread returns up to k numbers from 1 to n, ascending, both ends among them.
func spread(n, k int) []int {
	var list []int
	for i := range k {
		v := 1 + i*(n-1)/(k-1)
		if n > 0 && (len(list) == 0 || list[len(list)-1] != v) {
			list = append(list, v)
		}
	}
	return list
}
