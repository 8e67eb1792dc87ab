// Command bench measures the connectors for PostgreSQL, and the pipeline between them, beside public references, on private servers with PostgreSQL 15: a
// backfill beside psql's COPY, changes of the log beside pg_recvlogical, `write` of new rows beside psql's COPY and of rows that are there beside batches of
// updates, a pipeline beside two psql, the parser beside DuckDB and others, source-s3 beside one request after another, and memory with ten times the rows and with one transaction of a million rows. It prints a table with a bar for
// each figure, writes docs/benchmarks.md after a whole run, and ends with 1 when a bar is missed.
//
//	make bench                  everything
//	make bench PART=backfill    one part: backfill, log, write, updates, pipeline, memory, files or bucket; writes no file
//
// It needs the programs in bin (make build) and an otherwise idle machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
)

// sizes are what a run measures. A benchmark document is only written for the standard ones.
type sizes struct {
	rows        int64 // rows of the backfill, of what is written, and of the pipeline
	chunk       int   // rows of one query of the connector
	changes     int64 // row changes of the log, in all
	pairs       int   // measurements of reference and subject, alternating
	memoryRows  int64 // rows of the backfill whose memory is measured
	memoryInOne int64 // rows of the one transaction whose memory is measured
}

var standard = sizes{rows: 1_000_000, chunk: 50_000, changes: 500_000, pairs: 3, memoryRows: 10_000_000, memoryInOne: 1_000_000}

func main() {
	if isOwn, err := ownCommand(os.Args[1:]); isOwn {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	s := standard
	part := flag.String("part", os.Getenv("PART"), "only this part: backfill, log, write, updates, pipeline, memory, files or bucket")
	flag.Int64Var(&s.rows, "rows", s.rows, "rows that are timed in all parts but the log")
	flag.Int64Var(&s.changes, "changes", s.changes, "row changes of the timed log, a multiple of 2000")
	flag.IntVar(&s.pairs, "pairs", s.pairs, "measurements of reference and subject")
	flag.Int64Var(&s.memoryRows, "memory-rows", s.memoryRows, "rows of the backfill whose memory is measured")
	flag.Int64Var(&s.memoryInOne, "memory-transaction", s.memoryInOne, "rows of the one transaction whose memory is measured")
	folder := flag.String("bin", "", "folder of the programs, to measure others than those of make build")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, *part, *folder, s)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench: stopped:", err)
		os.Exit(1)
	case !passed:
		fmt.Println("bench: FAIL")
		os.Exit(1)
	}
	fmt.Println("bench: pass")
}

// run measures, prints and writes; it returns whether every bar was met.
func run(ctx context.Context, part, folder string, s sizes) (passed bool, err error) {
	names := []string{"backfill", "log", "write", "updates", "pipeline", "memory", "files", "bucket"}
	if part != "" {
		if !slices.Contains(names, part) {
			return false, fmt.Errorf("choosing a part: there is no %q, only %v", part, names)
		}
		names = []string{part}
	}
	if s.changes%(2*transactionChanges) != 0 || s.changes <= 0 || s.rows <= 0 || s.pairs <= 0 {
		return false, fmt.Errorf("choosing sizes: changes are a multiple of %d, and nothing is 0", 2*transactionChanges)
	}
	programs, root, err := findPrograms(folder)
	if err != nil {
		return false, err
	}
	m, err := thisMachine(root)
	if err != nil {
		return false, err
	}
	if m.busy() {
		fmt.Printf("the machine is not idle (load average %s): the times below mean little\n", m.load)
	}
	b, err := newBench(programs, s, printProgress)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if m.server, err = b.version(ctx); err != nil {
		return false, err
	}
	parts := map[string]func(context.Context, *report) error{
		"backfill": b.backfill, "log": b.log, "write": b.write, "updates": b.updates, "pipeline": b.pipeline, "memory": b.memory,
		"files": b.files, "bucket": b.bucket,
	}
	r := &report{machine: m, settings: b.settings(), sizes: s}
	begun := time.Now()
	for _, name := range names {
		if err = parts[name](ctx, r); err != nil {
			return false, fmt.Errorf("measuring the %s: %w", name, err)
		}
	}
	fmt.Printf("\n%s\n%.0f s in all\n", r.text(), time.Since(begun).Seconds())
	if part == "" && folder == "" && s == standard {
		path := filepath.Join(root, "docs", "benchmarks.md")
		if err = os.WriteFile(path, []byte(r.markdown()), 0o644); err != nil { //nolint:gosec // a document
			return false, fmt.Errorf("writing the figures: %w", err)
		}
		fmt.Println("written to docs/benchmarks.md")
	}
	return r.passed(), nil
}

// programs are the paths of what is measured.
type programs struct{ source, sink, runner, parser, bucket string }

// Names of what is measured.
const (
	subjectName = "source-postgres"
	sinkName    = "materialize-postgres"
	runnerName  = "pipeline"
	parserName  = "parser"
	bucketName  = "source-s3"
)

// findPrograms returns what is in a folder, "": what make build has put into the clone, and the clone.
func findPrograms(folder string) (p programs, root string, err error) {
	if root, err = binary.ModuleRoot(); err != nil {
		return p, "", err
	}
	if folder == "" {
		folder = filepath.Join(root, "bin")
	}
	for name, into := range map[string]*string{subjectName: &p.source, sinkName: &p.sink, runnerName: &p.runner, parserName: &p.parser, bucketName: &p.bucket} {
		*into = filepath.Join(folder, name)
		if info, err := os.Stat(*into); err != nil || info.IsDir() {
			return p, "", fmt.Errorf("finding %s: it is not at %s: run make build", name, *into)
		}
	}
	return p, root, nil
}

// ownCommand does what this program is started for by itself: references whose CPU time is to be a process's own.
func ownCommand(args []string) (is bool, err error) {
	if len(args) == 0 {
		return false, nil
	}
	switch args[0] {
	case plainLoopCommand:
		return true, plainLoop(args[1:], os.Stdout)
	case validLoopCommand:
		return true, validLoop(args[1:])
	case avroLoopCommand:
		return true, avroLoop(args[1:], os.Stdout)
	case batchCommand:
		return true, batchUpdates(args[1:], os.Stdin)
	}
	return false, nil
}
