package pipeline

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/compare"
	"github.com/estuary/connectors/testsupport/load"
	"github.com/estuary/connectors/testsupport/relay"
)

var (
	seed     = flag.Uint64("seed", 0, "run this seed only")
	kills    = flag.String("kills", "", "these kills instead of the seed's share: P4/zombie,P8/sink@answered,P5/runner@TEXT, this one right before a statement that has TEXT")
	otherOne = flag.String("sink", "", "the disturbed pipeline's sink, instead of the one that is built")
)

// seeds returns the seeds to run: the given one, else as many as STRESS_SEEDS says, else few.
func seeds(t *testing.T, few int) []uint64 {
	t.Helper()
	if *seed != 0 {
		return []uint64{*seed}
	}
	if n, err := strconv.Atoi(os.Getenv("STRESS_SEEDS")); err == nil && n > 0 {
		few = n
	}
	list := make([]uint64, few)
	for i := range list {
		list[i] = uint64(time.Now().UnixNano()) + uint64(i)*7919
	}
	return list
}

// killed is one kill of a schedule.
type killed struct {
	point  relay.Point
	victim relay.Victim
	// at is a place within the point. P5: part of the statement that the kill comes before, or empty, as chance has it. P8: answered or unanswered.
	at string
}

func (k killed) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s of the %s, %s", k.point, k.victim, k.at), ", ")
}

// combinations are all points with all victims. A zombie is of use only where its next request would commit.
func combinations() []killed {
	var list []killed
	for _, p := range relay.Points() {
		for _, v := range []relay.Victim{relay.Runner, relay.Sink, relay.Source} {
			if p == relay.Acknowledging {
				list = append(list, killed{p, v, string(relay.Unanswered)}, killed{p, v, string(relay.Answered)})
				continue
			}
			list = append(list, killed{point: p, victim: v})
		}
	}
	return append(list, killed{point: relay.Stored, victim: relay.Zombie}, killed{point: relay.Stored, victim: relay.Zombie})
}

func renderKills(list []killed) string {
	var parts []string
	for _, k := range list {
		parts = append(parts, strings.TrimSuffix(string(k.point)+"/"+string(k.victim)+"@"+k.at, "@"))
	}
	return strings.Join(parts, ",")
}

func parseKills(text string) (list []killed) {
	for pair := range strings.SplitSeq(text, ",") {
		point, victim, _ := strings.Cut(pair, "/")
		victim, at, _ := strings.Cut(victim, "@")
		list = append(list, killed{relay.Point(point), relay.Victim(victim), at})
	}
	return list
}

// tally counts kills by point.
type tally struct {
	mu         sync.Mutex
	n          map[relay.Point]int
	unanswered int // of those at P8
}

func (c *tally) add(k killed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[k.point]++
	if k.at == string(relay.Unanswered) {
		c.unanswered++
	}
}

// line prints the counts, and names the points with fewer than least.
func (c *tally) line(least int) (all string, few []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, p := range relay.Points() {
		parts = append(parts, fmt.Sprintf("%s %d", p, c.n[p]))
		if c.n[p] < least {
			few = append(few, string(p))
		}
		if p == relay.Acknowledging {
			parts[len(parts)-1] += fmt.Sprintf(" (%d unanswered)", c.unanswered)
		}
	}
	return strings.Join(parts, ", "), few
}

// deal gives each seed its share of the combinations, in an order of its own; with many seeds each combination comes up many times.
func deal(list []uint64, perSeed int) map[uint64][]killed {
	dealt := map[uint64][]killed{}
	var deck []killed
	rng := rand.New(rand.NewPCG(list[0], 2)) //nolint:gosec // repeatable on purpose
	for _, s := range list {
		for len(dealt[s]) < perSeed {
			if len(deck) == 0 {
				deck = combinations()
				rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
			}
			dealt[s], deck = append(dealt[s], deck[0]), deck[1:]
		}
	}
	return dealt
}

// Each seed is a schedule of kills; after it the tables equal the source's, and those of a pipeline that ran undisturbed beside.
func TestPipeline_KilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	const killsPerSeed = 6
	list := seeds(t, 8)
	for *seed == 0 && *kills == "" && len(list)*killsPerSeed < len(combinations()) { // few seeds: more of them, until every combination has had its turn
		list = append(list, list[len(list)-1]+7919)
	}
	dealt := deal(list, killsPerSeed)
	if *seed != 0 { // whatever share it had, it is run through all
		dealt[*seed] = deal(list, len(combinations()))[*seed]
	}
	if *kills != "" {
		for _, s := range list {
			dealt[s] = parseKills(*kills)
		}
	}
	count := &tally{n: map[relay.Point]int{}}
	sink := binary.Build(t, "materialize-postgres")
	if *otherOne != "" {
		sink = *otherOne
	}
	t.Run("seeds", func(t *testing.T) {
		for _, s := range list {
			t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) {
				t.Parallel() // most of the time is a back-off
				t.Logf("replay with: go test ./pipeline -run '%s' -seed %d -kills %s", t.Name(), s, renderKills(dealt[s]))
				for _, d := range runSchedule(t, sink, s, dealt[s], count) {
					t.Error(d)
				}
			})
		}
	})
	all, few := count.line(3)
	t.Logf("kills: %s", all)
	if len(few) > 0 && *seed == 0 && !t.Failed() {
		t.Errorf("the test does not bite: fewer than three kills at %s", strings.Join(few, ", "))
	}
}

// schedule is a pipeline that is killed, and one that is not, beside each other.
type schedule struct {
	*rig
	calm  *rig
	pair  *relay.Pair
	rng   *rand.Rand
	added int // columns of table mended
	rows  int
}

const mended = "CREATE TABLE mended (k int PRIMARY KEY, word text); INSERT INTO mended SELECT n, 'w' || n FROM generate_series(1, 40) n"

var listed = []string{"by_c", "by_none"}

// runSchedule returns what was different in the end.
func runSchedule(t *testing.T, sink string, seed uint64, kills []killed, count *tally) []compare.Difference {
	ctx := context.Background()
	s := &schedule{rig: newRig(t), rng: rand.New(rand.NewPCG(seed, 1)), rows: 1000} //nolint:gosec // repeatable on purpose
	if err := load.Create(ctx, s.left, "public"); err != nil {
		t.Fatal(err)
	}
	// A delta table has what a document has, and a document lacks what the log does not tell: an out-of-line value that was left alone.
	run(t, s.left, mended, "ALTER TABLE by_c REPLICA IDENTITY FULL", "DROP TABLE by_icu, by_uuid, by_numeric, by_pair")
	pause := 120 * time.Millisecond
	if len(kills) < 6 { // a schedule that has to find a fault wants something in each transaction
		pause = 20 * time.Millisecond
	}
	l, err := load.New(ctx, load.Options{DSN: s.cluster.DSN(s.source), Seed: seed, Writers: 2, Keys: 40, Pause: pause, Tables: []string{"by_int", "by_c", "by_none"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Stop() }() // it was stopped, or the test has failed
	if err := l.Fill(ctx); err != nil {
		t.Fatal(err)
	}
	s.prepare(sink)
	s.calm.start()
	// The first kill comes amid the backfill, when no key is loaded.
	if i := slices.IndexFunc(kills, func(k killed) bool { return k.point != relay.Loading }); i >= 0 {
		kills[0], kills[i] = kills[i], kills[0]
		s.disturb(kills[0], count)
		kills = kills[1:]
	} else {
		s.start()
	}
	s.awaitBackfill()
	// The calm one reads the changes as they are made when there is time for it, and else all of them in the end.
	if os.Getenv("STRESS_SEEDS") == "" {
		s.calm.stop()
	}
	l.Run()
	for _, k := range kills {
		s.disturb(k, count)
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	s.pair.Disarm()
	// A runner that is told to stop while it has lost a side says so and ends with 1.
	run(t, s.left, "INSERT INTO mended (k, word) VALUES (-1, 'the last')")
	s.until("the last change", func() bool { return one(t, s.right, "SELECT word FROM mended WHERE k = -1") == "the last" })
	s.finish()
	if s.calm.process != nil {
		s.calm.stop()
	}
	s.calm.once()
	return s.differences()
}

// prepare writes both files: the same streams into two databases.
func (s *schedule) prepare(sink string) {
	s.t.Helper()
	s.calm = newRigFrom(s.t, s.source)
	streams := []map[string]any{{"stream": "public.by_int"}, {"stream": "public.by_c", "delta_updates": true}, {"stream": "public.by_none"}, {"stream": "public.mended"}}
	for _, r := range []*rig{s.rig, s.calm} {
		r.file.Streams = streams
		r.file.Source.Config = Capture(s.cluster, s.source, map[string]any{"slotName": "slot_" + r.sink, "publicationName": "publication_" + r.sink, "backfill_chunk_size": 16})
		r.file.Sink.Connector = sink
	}
	s.pair = relay.Install(s.t, filepath.Dir(s.path), s.file.Source.Connector, sink, s.cluster.Addr())
	s.file.Source.Connector, s.file.Sink.Connector = s.pair.Source, s.pair.Sink
	s.file.Sink.Config = Materialize(s.cluster, s.pair.Address, s.sink)
	s.write()
	s.calm.file.Sink.Connector = binary.Build(s.t, "materialize-postgres")
	s.calm.write()
}

// disturb lets one kill happen, and leaves a pipeline that runs.
func (s *schedule) disturb(k killed, count *tally) {
	s.t.Helper()
	plan := relay.Plan{Point: k.point, Victim: k.victim, Nth: 1 + s.rng.IntN(2), Delay: time.Duration(s.rng.IntN(12_000)) * time.Microsecond}
	switch k.point {
	case relay.Loading, relay.Storing:
		plan.Nth = 1 + s.rng.IntN(20)
	case relay.Committing:
		switch chance := s.rng.IntN(3); { // 0: while it works
		case k.at != "":
			plan.Before = k.at
		case chance == 1:
			plan.Statement = 1 + s.rng.IntN(8)
		case chance == 2:
			plan.Before = "flow_checkpoints"
		}
	case relay.Acknowledging:
		plan.Answer = relay.Answer(k.at)
	case relay.Applying:
		plan.Statement = 1 + s.rng.IntN(6)
	case relay.Opened, relay.Reopening:
		plan.Nth = 1
	default: // once or twice a transaction
	}
	if k.victim == relay.Zombie && s.process != nil { // the relay must know it when it starts its connector
		_ = s.process.Kill()
		s.ended()
	}
	s.pair.Arm(plan)
	if s.process == nil {
		s.start()
	} else if k.point == relay.Applying || k.point == relay.Reopening {
		s.applyAnew()
	} else if k.point == relay.Opened { // somebody has to open: as after any failure
		_ = s.process.Kill()
		s.ended()
		s.start()
	}
	opens, asked := 0, time.Now()
	s.until(k.String(), func() bool {
		opens = s.pair.Opens()
		_, fired := s.pair.Fired()
		// A TRUNCATE of a table that is not read yet changes nothing, and a session that begins just then applies both changes at once.
		if !fired && (k.point == relay.Applying || k.point == relay.Reopening) && time.Since(asked) > 5*time.Second {
			s.applyAnew()
			asked = time.Now()
		}
		return fired || !s.process.Alive()
	})
	fired, ok := s.pair.Fired()
	if !ok {
		s.t.Fatalf("the pipeline has ended before %s: %s", k, lastOf(s.ended().Stderr))
	}
	if k.point == relay.Acknowledging && fired.Answered != (plan.Answer == relay.Answered) {
		s.t.Errorf("%s: it was answered: %v", k, fired.Answered)
	}
	count.add(k)
	if k.victim == relay.Runner || k.victim == relay.Zombie {
		if exit := s.ended(); exit.Signal == 0 {
			s.t.Fatalf("%s: the runner ended with code %d: %s", k, exit.Code, lastOf(exit.Stderr))
		}
		s.start()
	}
	s.until("the next session", func() bool { return s.pair.Opens() > opens })
	if k.victim == relay.Zombie {
		// A runner opens twice, the first time only to look. The zombie holds locks: what comes after may wait for it.
		if s.rng.IntN(8) > 0 {
			for waited := 0; waited < 500 && s.pair.Opens() < opens+2; waited++ {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if err := s.pair.Revive(fired); err != nil {
			s.t.Fatal(err)
		}
		s.until("the zombie's end", func() bool { return gone(fired.PID) })
	}
}

// applyAnew makes the sink apply: by a new column, or by a table that is emptied.
func (s *schedule) applyAnew() {
	s.t.Helper()
	s.rows++
	if s.rng.IntN(2) == 0 {
		s.added++
		run(s.t, s.left, fmt.Sprintf("ALTER TABLE mended ADD COLUMN c%d int", s.added), fmt.Sprintf("INSERT INTO mended (k, c%d) VALUES (%d, 1)", s.added, s.rows))
		return
	}
	run(s.t, s.left, "TRUNCATE mended", fmt.Sprintf("INSERT INTO mended (k, word) VALUES (%d, 'after')", s.rows))
}

// gone tells whether a process has ended, be it that nobody has asked for its exit code yet.
func gone(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(state, "Z")
}

// awaitBackfill waits until both sinks have the rows that were there at the start: what comes later is the same list of changes for both. Rows that came
// twice are for the comparison in the end to tell.
func (s *schedule) awaitBackfill() {
	s.t.Helper()
	for _, table := range []string{"by_int", "by_c", "by_none"} {
		want := one(s.t, s.left, "SELECT count(*)::text FROM "+table)
		for _, r := range []*rig{s.rig, s.calm} {
			r.until("the backfill of "+table, func() bool { return one(s.t, r.right, "SELECT (count(*) >= "+want+")::text FROM "+table) == "true" })
		}
	}
}

// finish stops the run, and runs once more to the end.
func (r *rig) finish() {
	r.t.Helper()
	r.stop()
	r.once()
}

func (s *schedule) differences() []compare.Difference {
	s.t.Helper()
	ctx := context.Background()
	var found []compare.Difference
	add := func(r compare.Result, err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		found = append(found, r.Differences...)
	}
	name := func(table string) compare.Name { return compare.Name{Schema: "public", Table: table} }
	for _, table := range []string{"by_int", "mended"} {
		add(compare.Table(ctx, s.left, name(table), s.right, name(table), []string{"k"}))
	}
	for _, table := range listed {
		add(compare.Changes(ctx, s.left, s.right, compare.List{Source: name(table), Sink: name(table), Key: []string{"k"}, Version: "ver", Ledger: name("ledger")}))
	}
	for _, table := range append([]string{"by_int", "mended"}, listed...) {
		add(compare.Same(ctx, s.right, name(table), s.calm.right, name(table), "_meta", "flow_document", "_meta/op"))
	}
	for _, table := range listed {
		add(compare.Same(ctx, s.right, name(table), s.calm.right, name(table), "_meta", "flow_document"))
	}
	return found
}
