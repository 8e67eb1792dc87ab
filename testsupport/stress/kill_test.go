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

const kills = 20

func killAndResume(t *testing.T, cluster *pgtest.Cluster, seed uint64, withStandby bool) {
	t.Logf("replay with: go test ./stress -run '%s' -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable on purpose
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	database := cluster.NewDatabase(t)
	conn, err := pgx.Connect(ctx, cluster.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := load.Create(ctx, conn, "public"); err != nil {
		t.Fatal(err)
	}
	l, err := load.New(ctx, load.Options{DSN: cluster.DSN(database), Schema: "public", Seed: seed, Keys: 120, Pause: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Fill(ctx); err != nil {
		t.Fatal(err)
	}
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
	life := func(n int) *capture {
		slot := fmt.Sprintf("stress_%d_%s_%d", cluster.Port, database, n)
		return newCapture(path, "by_*", func(int) map[string]any {
			return map[string]any{
				"address": cluster.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": database,
				"advanced": map[string]any{"slotName": slot, "backfill_chunk_size": 1 + rng.IntN(64)},
			}
		}, foldTables()...)
	}
	c := life(0)
	before, began := l.Changes(), time.Now()
	for range kills {
		if err := c.killed(rng, 1+rng.IntN(300), 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: the kills are done", time.Since(began).Round(time.Second))
	// Further captures back-fill from the beginning while the writers go on, until enough events were judged inside windows.
	lives := []*capture{c}
	contained, newer := 0, 0
	for len(lives) == 1 || (contained < 50 || newer < 50) && len(lives) < 12 {
		another := life(len(lives))
		lives = append(lives, another)
		if err := another.caughtUp(rng); err != nil {
			t.Fatal(err)
		}
		contained, newer = 0, 0
		for _, x := range lives {
			contained, newer = contained+x.bites.contained, newer+x.bites.newer
		}
	}
	during := l.Changes() - before
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
	b := c.bites
	t.Logf("%s: %d captures, %d changes meanwhile; alive at %d kills, chunk rows after the last STATE at %d, resumed %d times from an earlier STATE; "+
		"%d events contained in a chunk, %d emitted inside a window; %d transactions seen before they were visible, %d as a STATE was due; %+v",
		time.Since(began).Round(time.Second), len(lives), during, b.alive, b.chunkAfter, b.earlier, contained, newer, len(b.invisible), len(b.invisibleAtDue), c.fold.Stats)
	atLeast := func(what string, got, want int) {
		if got < want {
			t.Errorf("the test does not bite: %s: %d, want at least %d", what, got, want)
		}
	}
	atLeast("kills of a living process", b.alive, kills)
	atLeast("changes committed during the backfill", int(during), 1000)
	atLeast("events dropped as contained", contained, 50)
	atLeast("events emitted inside a window", newer, 50)
	atLeast("kills with rows of a chunk after the last STATE", b.chunkAfter, 10)
	if withStandby {
		atLeast("transactions in the log before they were visible", len(b.invisible), 20)
		atLeast("of them as a STATE was due", len(b.invisibleAtDue), 3)
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
