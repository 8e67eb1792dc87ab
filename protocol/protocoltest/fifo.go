package protocoltest

import "fmt"

// fifo gives the inputs as FIFOs, as Flow's runner of 2022 did and as shells do for <(…): each can be opened and read to its end exactly once, and its
// size and position mean nothing.
func fifo(s *session) error {
	o, err := s.run(command{name: "check", config: s.f.Config, fifos: true})
	if err != nil {
		return err
	}
	s.sound("check", o)
	if status := o.of("CONNECTION_STATUS"); len(status) != 1 || status[0].Status.Status != "SUCCEEDED" {
		s.report("check with the config in a FIFO does not succeed; %s", o.why())
	}
	if o, err = s.run(command{name: "discover", config: s.f.Config, fifos: true}); err != nil {
		return err
	}
	s.sound("discover", o)
	if len(o.of("CATALOG")) != 1 {
		s.report("discover with the config in a FIFO prints no CATALOG; %s", o.why())
	}
	_, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	kept := s.tables()
	given := []byte("[]")
	for round := range 2 {
		what := fmt.Sprintf("read %d with FIFOs", round+1)
		if o, err = s.run(command{name: "read", config: s.f.Config, catalog: text, state: given, fifos: true}); err != nil {
			return err
		}
		s.sound(what, o)
		before := kept.clone()
		s.load(what, o, before, kept, round > 0)
		if err := s.compare(kept, "after "+what); err != nil {
			return err
		}
		given = stateFile(lastStates(o.messages), s.f.Streams)
		if err := s.change(); err != nil {
			return err
		}
	}
	return nil
}
