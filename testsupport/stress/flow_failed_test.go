package stress

import (
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/watch"
)

// All streams share a position, and the one that failed must not go on from where the others got to: what it refused would be passed over in silence.
func TestFlow_AFailedStreamGoesOnWhereItFailed(t *testing.T) {
	task, cluster, database := smallFlow(t, map[string]any{"on_truncate": "fail"})
	run := func(code int) *session {
		t.Helper()
		tail := false
		s := task.connect(-1).openCapture(&tail)
		for acknowledged := 0; s.process.Alive(); time.Sleep(5 * time.Millisecond) {
			if n := s.checkpointCount(); n > acknowledged {
				s.acknowledge(n - acknowledged)
				acknowledged = n
			}
		}
		exit := s.Finished()
		if exit.Code != code {
			t.Fatalf("the run ended with code %d, want %d\n%s", exit.Code, code, watch.Last(exit.Stderr))
		}
		// The others' acknowledgements may have let the server forget the TRUNCATE.
		if code == 1 && !strings.Contains(exit.Stderr, "table public.a was emptied by TRUNCATE") && !strings.Contains(exit.Stderr, "the changes of table public.a after ") {
			t.Fatalf("the run does not say what is lost:\n%s", watch.Last(exit.Stderr))
		}
		s.commit(len(s.checkpoints))
		return s
	}
	run(0)
	exec(t, cluster, database, "TRUNCATE a; INSERT INTO a SELECT n, 2 FROM generate_series(1, 20) n")
	for range 2 {
		change(t, cluster, database)
		s := run(1)
		for _, d := range s.docs {
			if d.binding == 0 {
				t.Errorf("a change of the failed stream was emitted: %s", d.doc)
			}
		}
		if at := position(t, task.state); at == 0 || len(s.docs) == 0 {
			t.Errorf("the other stream did not go on: %d documents, position %X", len(s.docs), at)
		}
	}
	advanced := task.config["advanced"].(map[string]any) //nolint:forcetypeassert // connection makes it
	advanced["on_truncate"], advanced["on_gap"] = "warn", "rebackfill"
	run(0)
	change(t, cluster, database)
	run(0)
	compareSmall(t, cluster, database, task.fold)
}
