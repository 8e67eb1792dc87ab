package main

import (
	"fmt"
	"strings"
)

const intro = `# Benchmarks

Written by ` + "`make bench`" + `. Reference and subject run in turn (A B A B A B) on private servers, one to read from and one to write to; the ratio is the median of the neighbouring ratios, and the times shown are medians. A time is
from the process's start to its exit; CPU is user and system of the connector's own process, for the pipeline of all three; memory is VmHWM. A source's output goes through a pipe to a reader that
counts lines. One more run, which is not timed, is compared: a source's with the table (number of records of each kind, one checksum for each column, the whole ` + "`_meta`" + ` in each document), a
sink's with the source, row by row and column by column; after each timed one the rows are counted.

`

const how = `## How

- **Backfill**: ` + "`source-postgres read`" + ` of one table of 13 columns (bigint key, int, 2 text, numeric, 2 timestamptz, text[], jsonb, bool, float8, uuid, text note; ` + "`testsupport/fixture`" + `), which makes its
  slot and reads the log meanwhile, beside ` + "`psql -c \"%s\"`" + `.
- **Log**: 40 %% inserts, 40 %% updates, 20 %% deletes, mixed; half of them in transactions of 1,000, half in a single one. ` + "`source-postgres read --state`" + ` from a STATE of before, beside
  ` + "`pg_recvlogical --start -o proto_version=1 -o publication_names=… --endpos=LSN -f FILE`" + `, which is told not to wait for the disk (` + "`--fsync-interval=0`" + `). Each run has a copy of the same slot, so all begin at the same
  position; the messages of the file are counted and are the changes that the connector printed.
- **Write**: ` + "`materialize-postgres write < FILE`" + ` of what ` + "`source-postgres read`" + ` has printed of that table, into a database without tables, beside ` + "`psql -c \"COPY … FROM STDIN\" < FILE`" + ` of
  the rows that were written, into a table LIKE the one that ` + "`write`" + ` has made, primary key and the column flow_document included.
- **Updates**: the same with five columns of each row changed, into a table that has all rows already, beside a program that updates the same rows, every column of them, in pgx batches of 5,000 updates,
  one transaction each. Both begin with a table that was just filled in the order of the keys and vacuumed.
- **Pipeline**: ` + "`pipeline run --once`" + `, from nothing until it has caught up, flow_document left out, beside ` + "`psql -c \"COPY … TO STDOUT\" | psql -c \"COPY … FROM STDIN\"`" + ` into a table with the columns and
  the primary key of the source's.
- **Files**: the parser reads files of 15 columns: CSV (3 quoted text columns, one with doubled quotes; 7 columns typed by a schema), the same in gzip, NDJSON, Parquet as DuckDB writes it, Avro with deflate. DuckDB is the
  package of PyPI with one thread, ` + "`COPY (FROM read_csv(…, all_varchar=true)) TO '/dev/null' (FORMAT json)`" + `, its time without the start of Python. Every value's text is compared with DuckDB's, and documents
  are counted, beforehand: what is measured writes to /dev/null, on both sides.
- **Bucket**: ` + "`source-s3 read`" + ` beside the same client listing and getting one object after another; the service is a part of the bench's process and takes 5 ms for each request, or sends 50 MB/s over each
  connection. The loop gets 1,000 of the objects, and its time is taken twenty times. Records come in the order of the keys.
- **Memory**: also with ten times the rows, and with one transaction of a million rows.
- Between the runs: slots dropped, CHECKPOINT. The source's table is vacuumed after it is filled and lies in shared_buffers.
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
		{"source-postgres", fmt.Sprintf("backfill_chunk_size %s", grouped(int64(r.sizes.chunk)))},
	} {
		fmt.Fprintf(&b, "- %s: %s\n", fact[0], fact[1])
	}
	b.WriteString("\n## Figures\n\n")
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range r.rows() {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`) // of a shell pipe
		}
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
