package sqlcapturetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// splitTables is how many tables a capture has that is split: each third owns two of them at least (names t0 to t8 in schema s).
const splitTables = 9

// thirds of the key space.
var thirds = []protocol.Range{{Begin: 0, End: 0x55555554}, {Begin: 0x55555555, End: 0xaaaaaaa9}, {Begin: 0xaaaaaaaa, End: 0xffffffff}}

// TrySplit plays one random schedule in which a capture is stopped or killed, its state is given to three processes with a third of the key space
// each (sql-cdc R20), and these are killed and resumed. Transactions go on while nobody captures.
func TrySplit(seed uint64) (*Result, Stats) {
	s := NewScenario(seed, Shape{MinTables: splitTables, MoreKills: true})
	s.KeepsTail, s.HonoursReset, s.Acks = false, true, false
	p := &player{rand: rand.New(rand.NewPCG(seed*0x9e3779b97f4a7c15, 3)), eager: s.eager / 3, deadly: s.deadly} //nolint:gosec // replayable
	stats, err := playSplit(s, p)
	if err == nil {
		return nil, stats
	}
	return &Result{Schedule{seed, p.made}, err, s}, stats
}

func playSplit(s Scenario, p *player) (stats Stats, err error) {
	w := simdb.New(s.DB, p)
	whole := newConsumer(w, s)
	for i := range 2 {
		if err := whole.run(p, i > 0, false, &stats); err != nil {
			return stats, err
		}
	}
	for range p.Choose(6, simdb.ChooseRun) {
		w.Step()
	}
	parts := make([]*consumer, len(thirds))
	for i := range thirds {
		parts[i] = whole.split(i)
	}
	// Those that copy the slot come first, and live until they have: the one that keeps it will confirm more.
	for round := range 3 {
		for i := len(parts) - 1; i >= 0; i-- {
			parts[i].noKill = round == 0
			if err := parts[i].run(p, round > 0, false, &stats); err != nil {
				return stats, fmt.Errorf("process %d: %w", i, err)
			}
		}
	}
	w.Finish()
	w.Quiet = true
	for i, c := range parts {
		if err := c.run(p, true, true, &stats); err != nil {
			return stats, fmt.Errorf("process %d: %w", i, err)
		}
	}
	for table := range s.DB.Tables {
		owners := 0
		for _, c := range parts {
			if !c.owns(table) {
				continue
			}
			owners++
			if err := c.tracks[table].view.compare("after the split", false); err != nil {
				return stats, err
			}
		}
		if owners != 1 {
			return stats, broken("R20", "table %d has %d owners", table, owners)
		}
	}
	return stats, nil
}

// split makes the consumer of the i-th third, which begins with what the whole one holds at its last checkpoint.
func (c *consumer) split(i int) *consumer {
	part := newConsumer(c.w, c.scenario)
	part.part = thirds[i]
	if i > 0 {
		part.slot, part.parent = fmt.Sprintf("slot_%08x", thirds[i].Begin), c.slot
	}
	for n, t := range c.tracks {
		last := t.saved[len(t.saved)-1]
		part.tracks[n].items = append([]item(nil), t.items[:last.items]...)
		part.tracks[n].saved = []saved{last}
	}
	return part
}
