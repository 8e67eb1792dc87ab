package sweep

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

const machine = "internal/filesource/sweep/machine.go"

// faults are rules of the sweep, each broken by one changed line or, the look-back, by the configuration.
var faults = []struct {
	name, old, replacement string
	lookback               string
	bucketOnly             bool
}{
	{name: "no look-back", lookback: "0s"},
	{
		name: "seen holds keys, not versions", lookback: usualLookback,
		old: `if !ok || e.version != keyrange.Sum64(o.Version) {`, replacement: `if !ok {`,
	},
	{
		name: "since moves inside a sweep", lookback: usualLookback,
		old: `m.s.path, m.s.version, m.s.at = o.Key, "", ""`, replacement: `m.s.path, m.s.version, m.s.at = o.Key, "", ""; if b := m.bound(); b.After(m.s.since) { m.s.since = b }`,
		bucketOnly: true, // files of a directory are never older than the look-back: nobody can set their ctime
	},
	{
		name: "the cursor is dropped", lookback: usualLookback,
		old: `return m.s.path, m.s.version, m.s.at, true`, replacement: `return m.s.path, m.s.version, "", true`,
	},
}

// TestSweep_FaultsAreFound proves that the lives of the same seeds bite.
func TestSweep_FaultsAreFound(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var path string
			if f.old == "" {
				path = binary.Build(t, "source-s3")
			} else {
				path = binary.BuildChanged(t, "source-s3", machine, f.old, f.replacement)
			}
			for _, s := range seeds() {
				t.Run(fmt.Sprintf("bucket, seed %d", s), func(t *testing.T) { found(t, inBucket, path, s, f.lookback) })
				if full() && !f.bucketOnly {
					t.Run(fmt.Sprintf("directory, seed %d", s), func(t *testing.T) { found(t, inDirectory, path, s, f.lookback) })
				}
			}
		})
	}
}

func found(t *testing.T, in setting, path string, seed uint64, lookback string) {
	began := time.Now()
	l := in(t, path, seed, lookback)
	err := l.live()
	if _, ok := errors.AsType[*wrong](err); !ok {
		t.Errorf("the fault is not found: %v; %s", err, replayed(t, seed))
	}
	t.Logf("%s, %d runs: %v", time.Since(began).Round(time.Millisecond), l.runs, err)
}
