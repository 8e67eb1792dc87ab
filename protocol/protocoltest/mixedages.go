package protocoltest

import (
	"fmt"
	"math/rand/v2"
)

// mixedAges is a plain runner whose destination stores each stream's STATE when that stream's rows are durable, and so gives back STATEs of different
// ages: in each round one stream has stored nothing of it, and the others have stored a STATE from somewhere in it. Records after a stored STATE are
// lost with the destination's memory. At the end nothing may be missing, and nothing twice.
func mixedAges(s *session) error {
	const seed = 7713
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // replayed by its seed
	streams, text, err := s.discoverAndConfigure(incremental)
	if err != nil {
		return err
	}
	stored, kept := map[descriptor]*state{}, s.tables()
	rounds := len(streams) + 1
	for round := range rounds {
		what := fmt.Sprintf("read %d of %d with STATEs of different ages (seed %d)", round+1, rounds, seed)
		o, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: stateFile(stored, s.f.Streams)})
		if err != nil {
			return err
		}
		s.sound(what, o)
		s.plainStates(what, o)
		for i, stream := range s.f.Streams {
			if round == rounds-1 {
				s.store(o, stream, -1, stored, kept)
			} else if i != round {
				s.store(o, stream, random.IntN(3), stored, kept)
			}
		}
		if round < rounds-1 {
			if err := s.change(); err != nil {
				return err
			}
		}
	}
	return s.compare(kept, fmt.Sprintf("after %d reads with STATEs of different ages (seed %d)", rounds, seed))
}

// store keeps the n-th STATE of one stream and the records up to it; n < 0, or beyond the last: the last one.
func (s *session) store(o *output, stream Stream, n int, stored map[descriptor]*state, kept tables) {
	d := stream.descriptor()
	var waiting []*record
	for _, m := range o.messages {
		switch {
		case m.Record != nil && m.Record.descriptor() == d:
			waiting = append(waiting, m.Record)
		case m.State != nil && m.State.Stream != nil && m.State.Stream.Descriptor == d:
			stored[d] = m.State
			for _, r := range waiting {
				s.fold(kept, r)
			}
			waiting = nil
			if n == 0 {
				return
			}
			n--
		}
	}
}
