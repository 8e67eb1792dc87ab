package sqlcapturetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/estuary/connectors/sqlcapture"
	"github.com/estuary/connectors/sqlcapture/sqlcapturetest/simdb"
)

// Scenario is what a seed stands for: the database's programs, and the runner.
type Scenario struct {
	DB        simdb.Config
	ChunkRows int
	// Plain: a state for each stream, each stored at a time of its own (sql-cdc R19), by a runner that keeps the records of killed runs.
	Plain bool
	// KeepsTail, HonoursReset: see source.Request.
	KeepsTail, HonoursReset bool
	// Acks: the runner acknowledges checkpoints.
	Acks bool
	// Rediscover: the engine looks at the catalog at every checkpoint; else only at a start.
	Rediscover bool
	// Runs is how many runs there are before the last one; each may be killed.
	Runs int

	eager, deadly float64
	ignore        string
}

func (s Scenario) checks(invariant string) bool {
	return !slices.Contains(strings.Split(s.ignore, ","), invariant)
}

// Shape restricts scenarios.
type Shape struct {
	Plain     bool
	Small     bool // one table, at most 3 transactions
	Resets    bool // TRUNCATE and re-creation
	MinTables int
	MoreKills bool
	// Deletes: ordered tables that are read row by row, many deletes spread over the runs, and a runner that keeps the records of killed ones.
	Deletes bool
	// Ignore names invariants that are not checked.
	Ignore string
}

// NewScenario makes the scenario of a seed.
func NewScenario(seed uint64, shape Shape) Scenario {
	r := rand.New(rand.NewPCG(seed*0x9e3779b97f4a7c15, 1)) //nolint:gosec // replayable
	some := func(n int) bool { return r.IntN(n) == 0 }
	s := Scenario{
		ignore: shape.Ignore, ChunkRows: 1 + r.IntN(3), Plain: shape.Plain, Acks: some(2), Rediscover: some(3),
		Runs: 1 + r.IntN(3), eager: []float64{0.15, 0.3, 0.5, 0.7}[r.IntN(4)], deadly: []float64{0, 0.01, 0.03}[r.IntN(3)],
	}
	if some(3) {
		s.ChunkRows = 100
	}
	if shape.MoreKills {
		s.Runs, s.deadly = 3+r.IntN(4), 0.03
	}
	if shape.Deletes {
		s.ChunkRows, s.eager = 1+r.IntN(2), []float64{0.03, 0.06, 0.12}[r.IntN(3)]
	}
	if s.KeepsTail = shape.Plain || shape.Deletes || some(3); s.KeepsTail {
		s.HonoursReset = false
	} else {
		s.HonoursReset = !some(4)
	}
	if shape.Plain { // what happens is spread over the runs, so that states of different ages have something between them
		s.Acks, s.eager, s.deadly = false, []float64{0.15, 0.25, 0.4}[r.IntN(3)], 0.02
		s.Runs += 2
	}
	s.DB = simdb.Config{
		FirstXID: 1<<32 - uint64(r.IntN(12)), AllTables: some(2), EmptyCommits: some(2), LooseMore: some(3), Timeouts: some(4), FenceWaits: some(2), //nolint:gosec // small
	}
	n := max(shape.MinTables, 1+r.IntN(3))
	if shape.Small {
		n = 1
	}
	for i := range n {
		kind := []simdb.Kind{simdb.Ordered, simdb.Ordered, simdb.Locale, simdb.Keyless, simdb.Paged}[r.IntN(5)]
		rows := r.IntN(4)
		if shape.Deletes {
			kind, rows = simdb.Ordered, 3+r.IntN(3)
		}
		s.DB.Tables = append(s.DB.Tables, simdb.TableSpec{
			Name: sqlcapture.TableName{Schema: "s", Name: fmt.Sprintf("t%d", i)}, Kind: kind, Full: some(3), Rows: rows,
		})
	}
	txns := 2 + r.IntN(4)
	if shape.Small {
		txns = 2 + r.IntN(2)
	}
	txns += 2 * shape.MinTables
	if shape.Deletes {
		txns = 5 + r.IntN(4)
	}
	for range txns {
		s.DB.Programs = append(s.DB.Programs, program(r, s.DB.Tables, shape))
	}
	return s
}

// program makes a transaction over few keys, so that transactions meet.
func program(r *rand.Rand, tables []simdb.TableSpec, shape Shape) simdb.Program {
	var p simdb.Program
	for range 1 + r.IntN(3) {
		op := simdb.Op{Table: r.IntN(len(tables)), Key: r.IntN(5), To: r.IntN(5)}
		x := r.IntN(20)
		if shape.Deletes && r.IntN(2) == 0 {
			x = 14
		}
		if shape.Plain && r.IntN(2) == 0 { // a change for sure
			x, op.Key = 0, op.Key%2
		}
		switch {
		case x < 7:
			op.Kind = simdb.Put
		case x < 10:
			op.Kind = simdb.PutLong
		case x < 15:
			op.Kind = simdb.Delete
		case x < 18 && tables[op.Table].Kind.HasKey():
			op.Kind = simdb.Move
		case x == 18 && shape.Resets:
			op.Kind = simdb.Truncate
		case x == 19 && shape.Resets:
			op.Kind = simdb.Recreate
		}
		p.Ops = append(p.Ops, op)
	}
	p.Rollback = r.IntN(6) == 0
	return p
}
