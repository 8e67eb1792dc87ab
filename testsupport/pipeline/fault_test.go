package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/relay"
)

// faults are single changed lines of the sink, with kills that show them.
var faults = []struct{ name, file, old, changed, kills string }{
	{
		name: "the checkpoint in a transaction of its own", file: "materialize-postgres/transactor.go",
		old: "err := t.checkpoints.Store(ctx, c, text)", changed: `_ = t.session.run(ctx, "COMMIT"); err := t.checkpoints.Store(ctx, c, text)`,
		kills: "P5/runner@flow_checkpoints,P5/sink@flow_checkpoints,P5/runner@flow_checkpoints,P5/sink@flow_checkpoints",
	},
	{
		name: "no fence", file: "internal/sqlsink/fence.go",
		old:     "WHERE materialization = $1 AND key_begin = $2 AND key_end = $3 AND fence = $4`, k.Table),",
		changed: "WHERE materialization = $1 AND key_begin = $2 AND key_end = $3 AND $4::bigint IS NOT NULL`, k.Table),",
		kills:   "P4/zombie,P4/zombie,P4/zombie,P4/zombie",
	},
}

var differs = regexp.MustCompile(`table public\.\w+, key .*: the source has.*|table public\.\w+, key .* in the s(ource|ink).*`)

// The schedules bite: with a fault in the sink they find a difference, and none without.
func TestPipeline_SchedulesFindFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			t.Parallel() // most of the time is compiling, and a back-off
			sink := binary.BuildChanged(t, "materialize-postgres", f.file, f.old, f.changed)
			for n := uint64(1); n <= 8; n++ { // what a kill leaves half done may be nothing that shows
				found := play(t, n, f.kills, sink)
				if found == "" {
					t.Logf("seed %d passes in spite of the fault", n)
					continue
				}
				t.Logf("seed %d: %.300s", n, found)
				for _, without := range runSchedule(t, binary.Build(t, "materialize-postgres"), n, parseKills(f.kills), &tally{n: map[relay.Point]int{}}) {
					t.Errorf("seed %d with %s finds a difference without the fault, too: %s", n, f.kills, without)
				}
				return
			}
			t.Errorf("nothing is different after %s", f.kills)
		})
	}
}

// play runs a schedule in a process of its own and returns the first difference that it found.
func play(t *testing.T, seed uint64, kills, sink string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPipeline_KilledAtEveryPoint$", fmt.Sprintf("-seed=%d", seed), "-kills="+kills, "-sink="+sink)
	out, err := cmd.CombinedOutput()
	found := differs.Find(out)
	if err != nil && found == nil {
		t.Logf("seed %d failed otherwise: %s", seed, lastOf(string(out)))
	}
	return string(found)
}
