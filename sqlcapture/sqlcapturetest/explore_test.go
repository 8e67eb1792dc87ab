package sqlcapturetest

import (
	"flag"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

var (
	scheduleFlag = flag.String("schedule", "", "run exactly this schedule, as a failing test printed it")
	shapeFlag    = flag.String("shape", "", "explore this shape only; see shapes")
	fromFlag     = flag.Uint64("from", 1, "the first seed")
	seedsFlag    = flag.Uint64("seeds", 0, "how many seeds to explore; 0: STRESS_SEEDS, or a few")
	ignoreFlag   = flag.String("ignore", "", "invariants, by name and comma, whose break is no failure")
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard) // a killed run warns of much
	os.Exit(m.Run())
}

// shapes are the families of scenarios that the tests explore.
var shapes = []struct {
	name  string
	shape Shape
}{
	{"deletes", Shape{Deletes: true, Small: true, MoreKills: true}},
	{"mixed", Shape{}},
	{"small", Shape{Small: true}},
	{"resets", Shape{Resets: true}},
	{"kills", Shape{MoreKills: true}},
	{"plain", Shape{Plain: true, MoreKills: true, MinTables: 3}},
}

// seeds is the number of seeds for a test: n, or STRESS_SEEDS.
func seeds(t *testing.T, n uint64) uint64 {
	if *seedsFlag > 0 {
		return *seedsFlag
	}
	if text := os.Getenv("STRESS_SEEDS"); text != "" {
		m, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("reading STRESS_SEEDS: %v", err)
		}
		return m
	}
	return n
}

func TestExplore(t *testing.T) {
	for _, x := range shapes {
		if *shapeFlag != "" && *shapeFlag != x.name {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			x.shape.Ignore = *ignoreFlag
			if *scheduleFlag != "" {
				replay(t, x.shape)
				return
			}
			n := seeds(t, 400)
			var total Stats
			start := time.Now()
			for seed := *fromFlag; seed < *fromFlag+n; seed++ {
				bad, stats := Try(seed, x.shape)
				total.add(stats)
				if bad != nil {
					short := Shrink(bad, x.shape, 3000)
					t.Fatalf("-shape=%s -schedule=%s\n%v", x.name, short.Schedule, short)
				}
			}
			t.Logf("seeds %d to %d in %s: %+v", *fromFlag, *fromFlag+n-1, time.Since(start).Round(time.Millisecond), total)
		})
	}
}

func replay(t *testing.T, shape Shape) {
	sched, err := ParseSchedule(*scheduleFlag)
	if err != nil {
		t.Fatal(err)
	}
	if err := Replay(sched, shape, t.Logf); err != nil {
		t.Fatalf("-shape=%s -schedule=%s\n%v", *shapeFlag, sched, &Result{sched, err, NewScenario(sched.Seed, shape)})
	}
}
