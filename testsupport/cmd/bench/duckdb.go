package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// duckdb is DuckDB's package for Python, which make bench installs (testsupport/setup.sh --bench).
type duckdb struct{ python string }

func findDuckDB() (duckdb, error) {
	cache := os.Getenv("CONNECTORS_CACHE")
	if cache == "" {
		cache = "/var/cache/estuary-connectors"
	}
	d := duckdb{python: filepath.Join(cache, "bench", "bin", "python")}
	if _, err := os.Stat(d.python); err != nil {
		return d, fmt.Errorf("finding DuckDB: there is no %s: run make bench, or testsupport/setup.sh --bench", d.python)
	}
	return d, nil
}

// duckdbScript runs statements with one thread and tells what they took by themselves, without the start of Python.
const duckdbScript = `
import duckdb, json, resource, sys, time
con = duckdb.connect()
con.execute("SET threads = 1")
con.execute("SET enable_progress_bar = false")  # it would be printed among the answer by a query of seconds
def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime
before, begun = cpu(), time.monotonic()
for sql in sys.argv[1:]:
    con.execute(sql)
print(json.dumps({"wall": time.monotonic() - begun, "cpu": cpu() - before}))
`

// run executes statements. The time is theirs, the memory the process's.
func (d duckdb) run(ctx context.Context, statements ...string) (usage, error) {
	var told struct{ Wall, CPU float64 }
	lines := &splitter{line: func(line []byte) error { return json.Unmarshal(line, &told) }}
	u, err := execute(ctx, d.python, append([]string{"-c", duckdbScript}, statements...), nil, lines)
	if err != nil {
		return u, err
	}
	if told.CPU <= 0 {
		return u, fmt.Errorf("asking DuckDB what it took: no answer")
	}
	u.wall, u.cpu = time.Duration(told.Wall*float64(time.Second)), time.Duration(told.CPU*float64(time.Second))
	return u, nil
}
