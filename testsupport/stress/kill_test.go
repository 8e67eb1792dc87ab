package stress

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/load"
	"github.com/estuary/connectors/testsupport/replay"
	"github.com/estuary/connectors/testsupport/standby"
)

var (
	servers pgtest.Shared
	seed    = flag.Uint64("seed", 0, "run this seed only")
)

func TestMain(m *testing.M) { servers.Run(m) }

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

func TestCapture_KilledAndResumedAddsUpToTheTables(t *testing.T) {
	for _, s := range seeds(t, 1) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { killAndResume(t, servers.Cluster(t, 15), s, false) })
	}
}

func TestCapture_KilledAndResumedWithASynchronousStandbyThatComesAndGoes(t *testing.T) {
	// A cluster of its own: the setting concerns every database.
	for _, s := range seeds(t, 1) {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { killAndResume(t, pgtest.Start(t, pgtest.Options{}), s, true) })
	}
}

// loaded makes and fills the tables of a load, which is stopped at the test's end.
func loaded(ctx context.Context, t *testing.T, o load.Options) (*pgx.Conn, *load.Load) {
	t.Helper()
	conn, err := pgx.Connect(ctx, o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if err := load.Create(ctx, conn, o.Schema); err != nil {
		t.Fatal(err)
	}
	l, err := load.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Stop() }) // it was stopped, or the test has failed
	if err := l.Fill(ctx); err != nil {
		t.Fatal(err)
	}
	return conn, l
}

const (
	kills          = 20
	wantChunkAfter = 10   // kills with rows of a chunk after the last STATE
	wantDuring     = 1000 // changes committed while the tables were back-filled
)

func killAndResume(t *testing.T, cluster *pgtest.Cluster, seed uint64, withStandby bool) {
	t.Logf("replay with: go test ./stress -run '%s' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	database := cluster.NewDatabase(t)
	conn, l := loaded(ctx, t, load.Options{DSN: cluster.DSN(database), Schema: "public", Seed: seed, Keys: 120, Pause: 4 * time.Millisecond})
	l.Run()
	var toggles sync.WaitGroup
	toggling, stopToggling := context.WithCancel(ctx)
	defer stopToggling()
	if withStandby {
		toggles.Go(func() {
			if n, err := standby.Toggle(toggling, cluster, seed, time.Second, 700*time.Millisecond); err != nil || n == 0 {
				t.Errorf("toggled the standby %d times: %v", n, err)
			}
		})
	}
	path := binary.Build(t, "source-postgres")
	life := func(n, least int) *capture {
		slot := fmt.Sprintf("stress_%d_%s_%d", cluster.Port, database, n)
		return newCapture(path, "by_*", l.Changes, func(int) map[string]any {
			return map[string]any{
				"address": cluster.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": database,
				"advanced": map[string]any{"slotName": slot, "backfill_chunk_size": least + rng.IntN(64)},
			}
		}, foldTables()...)
	}
	c := life(0, 1)
	began := time.Now()
	for range kills {
		if err := c.killed(rng, 1+rng.IntN(300), 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: the kills are done", time.Since(began).Round(time.Second))
	// Further captures back-fill from the beginning while the writers go on, until the counts below are reached: how much of a life's kills hit its
	// backfill, and how many events come inside its windows, is up to the machine.
	lives, total := []*capture{c}, c.bites
	for len(lives) == 1 || total.few(withStandby) && time.Since(began) < 5*time.Minute {
		another := life(len(lives), 24) // of fewer rows few changes are contained
		lives = append(lives, another)
		for n := 0; n < 5 && total.chunkAfter+another.bites.chunkAfter < wantChunkAfter; n++ {
			if err := another.killed(rng, 1+rng.IntN(100), 20*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if err := another.caughtUp(rng); err != nil {
			t.Fatal(err)
		}
		total.add(another.bites)
	}
	stopToggling()
	toggles.Wait()
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, x := range lives {
		if err := x.caughtUp(nil); err != nil {
			t.Fatal(err)
		}
		x.check(ctx, t, conn)
	}
	t.Logf("%s: %d captures, %d changes during their backfills; alive at %d kills, chunk rows after the last STATE at %d, resumed %d times from an earlier STATE; "+
		"%d events contained in a chunk, %d emitted inside a window; %d transactions seen before they were visible, %d as a STATE was due; %+v",
		time.Since(began).Round(time.Second), len(lives), total.during, total.alive, total.chunkAfter, total.earlier, total.contained, total.newer,
		len(total.invisible), len(total.invisibleAtDue), c.fold.Stats)
	if total.alive < kills || total.few(withStandby) {
		t.Errorf("the test does not bite: %d kills of a living process (want %d), %d changes during the backfills (want %d), %d events contained and %d newer (want 50 each), "+
			"%d kills with rows of a chunk after the last STATE (want %d), %d transactions in the log before they were visible (want 20 with a standby), %d of them as a STATE was due (want 3)",
			total.alive, kills, total.during, wantDuring, total.contained, total.newer, total.chunkAfter, wantChunkAfter, len(total.invisible), len(total.invisibleAtDue))
	}
}

func foldTables() []replay.Table {
	var list []replay.Table
	for _, t := range load.Tables {
		list = append(list, replay.Table{Stream: "public." + t.Name, Key: t.Key, Keyless: t.Keyless, Version: "ver"})
	}
	return list
}

// check compares both destinations with the server.
func (c *capture) check(ctx context.Context, t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for name, f := range map[string]*replay.Fold{"a destination that drops what no STATE covers": c.fold, "a destination that keeps everything": c.keepsAll} {
		if err := f.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, table := range load.Tables {
			if table.Keyless && f.KeepsAll {
				continue // without a key, what a killed run printed again cannot be told from another row
			}
			differences, _, err := replay.Compare(ctx, conn, "public", table.Name, f, "public."+table.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range differences {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}
