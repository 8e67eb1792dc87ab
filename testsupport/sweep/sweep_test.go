package sweep

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

var seed = flag.Uint64("seed", 0, "run this seed only")

// mostSeeds bounds the seeds of a process: at length each takes minutes.
const mostSeeds = 10

// seeds returns the seeds to run: the given one, else as many as STRESS_SEEDS says, up to mostSeeds, else one. All tests of a process get the same.
var seeds = sync.OnceValue(func() []uint64 {
	if *seed != 0 {
		return []uint64{*seed}
	}
	list := make([]uint64, 1)
	if n, err := strconv.Atoi(os.Getenv("STRESS_SEEDS")); err == nil && n > 0 {
		list = make([]uint64, min(n, mostSeeds))
	}
	for i := range list {
		list[i] = uint64(time.Now().UnixNano()) + uint64(i)*7919
	}
	return list
})

// full tells whether everything is done at length.
func full() bool { return os.Getenv("STRESS_SEEDS") != "" }

// sizes is how much a life is about, over both stores.
func sizes() size {
	if full() {
		return size{
			files: 500, big: 50, inside: 100, each: 10, halves: 10, patience: 20 * time.Minute,
			kinds: map[kind]int{added: 20, replaced: 50, deleted: 20, hourBack: 20, slow: 10, pair: 10},
		}
	}
	return size{
		files: 48, big: 6, inside: 14, each: 2, halves: 1, patience: 5 * time.Minute,
		kinds: map[kind]int{added: 2, replaced: 3, deleted: 2, hourBack: 1, slow: 1, pair: 1},
	}
}

func TestSweep_DirectoryKilledAtEveryState(t *testing.T) {
	t.Parallel()
	for _, s := range seeds() {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { alive(t, inDirectory, s) })
	}
}

func TestSweep_BucketKilledAndResumedFromAnyState(t *testing.T) {
	t.Parallel()
	for _, s := range seeds() {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { alive(t, inBucket, s) })
	}
}

// setting is a store and how a life goes on over it.
type setting func(t *testing.T, path string, seed uint64, lookback string) *life

func inDirectory(t *testing.T, path string, seed uint64, lookback string) *life {
	l := newLife(t, path, newDirectory(t), sizes(), seed, lookback)
	l.everyState = true
	return l
}

func inBucket(t *testing.T, path string, seed uint64, lookback string) *life {
	z := sizes()
	z.kinds[twin] = z.kinds[pair] // the clock waits for it
	if full() {
		z.huge = 1
	}
	return newLife(t, path, newBucket(t), z, seed, lookback)
}

func alive(t *testing.T, in setting, seed uint64) {
	t.Log(replayed(t, seed))
	began := time.Now()
	l := in(t, binary.Build(t, "source-s3"), seed, usualLookback)
	if err := l.live(); err != nil {
		t.Error(err)
	}
	t.Logf("%s: %s", time.Since(began).Round(time.Second), l)
	if lacks := l.lacks(); lacks != "" {
		t.Errorf("the test does not bite: %s", lacks)
	}
}

// usualLookback is the default.
const usualLookback = "72h"

// replayed says how to run a test with this seed again.
func replayed(t *testing.T, seed uint64) string {
	length := ""
	if full() {
		length = "STRESS_SEEDS=1 "
	}
	return fmt.Sprintf("replay with: %sgo test ./sweep -run '%s' -seed %d", length, t.Name(), seed)
}
