package main

import (
	"fmt"
	"strings"
)

const intro = `# Benchmarks

Written by ` + "`make bench`" + `. Reference and subject run in turn (A B A B A B) on a private PostgreSQL, the ratio is the median of the neighbouring ratios, and the times shown are medians. A time is
from the process's start to its exit; CPU is user and system of the connector's own process; memory is its VmHWM. Output goes through a pipe to a reader that counts lines. One more run, which is
not timed, is compared with the table: number of records of each kind, one checksum for each column, the whole ` + "`_meta`" + ` in each document.

`

const how = `## How

- **Backfill**: ` + "`source-postgres read`" + ` of one table of 13 columns (bigint key, int, 2 text, numeric, 2 timestamptz, text[], jsonb, bool, float8, uuid, text note; ` + "`testsupport/fixture`" + `), which makes its
  slot and reads the log meanwhile, beside ` + "`psql -c \"%s\"`" + `.
- **Log**: 40 %% inserts, 40 %% updates, 20 %% deletes, mixed; half of them in transactions of 1,000, half in a single one. ` + "`source-postgres read --state`" + ` from a STATE of before, beside
  ` + "`pg_recvlogical --start -o proto_version=1 -o publication_names=… --endpos=LSN -f FILE`" + `, which is told not to wait for the disk (` + "`--fsync-interval=0`" + `). Each run has a copy of the same slot, so all begin at the same
  position; the messages of the file are counted and are the changes that the connector printed.
- **Memory**: also with ten times the rows, and with one transaction of a million rows.
- Between the runs: slots dropped, CHECKPOINT. The table is vacuumed after it is filled and lies in shared_buffers.
`

// markdown is the whole of docs/benchmarks.md.
func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	m := r.machine
	for _, fact := range [][2]string{
		{"date", m.date},
		{"commit", m.commit},
		{"machine", fmt.Sprintf("%s, %d cores, %s, Linux %s; load average %s at the start", m.cpu, m.cores, m.memory, m.kernel, m.load)},
		{"server", "PostgreSQL " + m.server + ": " + r.settings},
		{"connector", fmt.Sprintf("source-postgres, backfill_chunk_size %s", grouped(int64(r.sizes.chunk)))},
	} {
		fmt.Fprintf(&b, "- %s: %s\n", fact[0], fact[1])
	}
	b.WriteString("\n## source-postgres\n\n")
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range r.rows() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	if scale := r.scale(); scale != "" {
		fmt.Fprintf(&b, "\n%s\n", scale)
	}
	b.WriteString("\nEach run:\n\n")
	for _, line := range r.runs() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	fmt.Fprintf(&b, "\n"+how, copyJSON)
	return b.String()
}
