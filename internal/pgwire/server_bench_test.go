package pgwire

import (
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"
)

// cpu is what the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchmarkTable creates a table in the shape of the project's speed figures: 13 columns, one of them NULL now and then.
const benchmarkTable = `CREATE TABLE bench (id bigint PRIMARY KEY, n int, a text, b text, num numeric, t1 timestamptz, t2 timestamptz, tags text[], doc jsonb,
	ok bool, f float8, u uuid, note text)`

func benchmarkRows(from, n int) string {
	return fmt.Sprintf(`INSERT INTO bench SELECT i, i %% 1000, 'customer ' || i, 'some text of a middling length, as people write it', i * 7 + 0.45, now(), now(),
		ARRAY['red','green','light blue'], '{"a": 1, "tags": ["x", "y"], "ok": true}', true, i + 0.25, gen_random_uuid(), CASE WHEN i %% 3 > 0 THEN 'note ' || i END
		FROM generate_series(%d, %d) i`, from, from+n-1)
}

// The client's whole work for a row up to its values: system calls, wake-ups, framing, splitting.
func BenchmarkServerCopy(b *testing.B) {
	const rows = 100_000
	c := connect(b, servers.Cluster(b, 15).NewDatabase(b), nil)
	mustExec(b, c, benchmarkTable)
	mustExec(b, c, benchmarkRows(1, rows))
	begun, n := cpu(), 0
	for b.Loop() {
		r, err := c.CopyOut(b.Context(), "COPY bench TO STDOUT")
		if err != nil {
			b.Fatal(err)
		}
		var fields [][]byte
		for {
			if fields, err = r.Next(fields); err != nil {
				break
			}
			n++
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
	if n != b.N*rows {
		b.Fatalf("got %d rows", n)
	}
	b.ReportMetric(float64(cpu()-begun)/float64(n), "cpu-ns/row")
	b.ReportMetric(float64(b.Elapsed())/float64(n), "ns/row")
}

// The client's whole work for a change up to the plugin's message.
func BenchmarkServerLog(b *testing.B) {
	const changes = 100_000
	db := servers.Cluster(b, 15).NewDatabase(b)
	w := connect(b, db, nil)
	mustExec(b, w, benchmarkTable)
	s := replicate(b, db, StreamOptions{})
	mustExec(b, w, benchmarkRows(1, changes))
	begun, n, wall := cpu(), 0, time.Now()
	for b.Loop() {
		var hold Hold
		for done := false; !done; {
			m, err := s.Next(-1)
			if err != nil {
				b.Fatal(err)
			}
			if m.Kind == XLogData {
				n++
				done = m.Payload[0] == 'C'
			}
			if !s.Buffered() {
				hold.Release()
				s.Detach(&hold)
			}
		}
		hold.Release()
		if b.N > 1 {
			b.Fatal("run this with -benchtime 1x: the log is read once")
		}
	}
	b.ReportMetric(float64(cpu()-begun)/float64(n), "cpu-ns/change")

	b.ReportMetric(float64(time.Since(wall))/float64(n), "ns/change")
}
