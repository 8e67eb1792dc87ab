package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// files is the folder of what the parser reads, with the programs that read it.
type files struct {
	b      *bench
	dir    string
	duckdb duckdb
	rows   int64
}

// files measures the parser beside what reads the same files: DuckDB with one thread, a loop of json.Valid, gzip in front of the parser itself, and goavro.
func (b *bench) files(ctx context.Context, r *report) (err error) {
	d, err := findDuckDB()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-files-")
	if err != nil {
		return fmt.Errorf("making a folder for the files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f := &files{b: b, dir: dir, duckdb: d, rows: b.rows * 3 / 2}
	b.progress("writing files of %s rows", grouped(f.rows))
	if err := f.write(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context, *report) error{f.csv, f.ndjson, f.gzip, f.parquet, f.avro} {
		if err := part(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) path(name string) string { return filepath.Join(f.dir, name) }

// parse runs the parser over a file, see command.run for the sink.
func (f *files) parse(ctx context.Context, name, config string, sink io.Writer) (usage, error) {
	return command{path: f.b.built.parser, args: []string{"parse", "--config", f.path(config)}, stdin: f.path(name)}.run(ctx, sink)
}

// own runs a command of this program over a file.
func (f *files) own(ctx context.Context, name, file string) (usage, error) {
	self, err := executable()
	if err != nil {
		return usage{}, err
	}
	return command{path: self, args: []string{name, f.path(file)}}.run(ctx, nil)
}

// compared measures reference and parser in turn. All write to /dev/null, as DuckDB does: whoever reads a pipe shares the cores and the caches, and would be
// measured, too. Beforehand the parser must print a document for each row.
func (f *files) compared(r *report, what, reference, file, config string, rows int64, bars bars, ctx context.Context, refer func() (usage, error)) error { //nolint:revive // the context belongs to refer
	var sink counter
	if _, err := f.parse(ctx, file, config, &sink); err != nil {
		return err
	}
	if sink.lines != rows {
		return fmt.Errorf("counting the documents of %s: %d, want %d", file, sink.lines, rows)
	}
	c, err := alternate(f.b.pairs, rows, func() (usage, error) {
		u, err := refer()
		if err == nil {
			f.b.progress("%s, reference: %s", what, u)
		}
		return u, err
	}, func() (usage, error) {
		u, err := f.parse(ctx, file, config, nil)
		if err == nil {
			f.b.progress("%s, parser: %s", what, u)
		}
		return u, err
	})
	if err != nil {
		return err
	}
	r.compared(what, reference, c, bars, comparison{})
	return nil
}

func (f *files) csv(ctx context.Context, r *report) error {
	if err := f.verifyText(ctx, "rows.csv", "csv.json", "FROM read_csv('"+f.path("rows.csv")+"', all_varchar=true)"); err != nil {
		return err
	}
	return f.compared(r, "CSV to NDJSON", "DuckDB, one thread, read_csv to JSON", "rows.csv", "csv.json", f.rows, csvBars, ctx, func() (usage, error) {
		return f.duckdb.run(ctx, "COPY (FROM read_csv('"+f.path("rows.csv")+"', all_varchar=true)) TO '/dev/null' (FORMAT json)")
	})
}

func (f *files) ndjson(ctx context.Context, r *report) error {
	if err := f.refusesBrokenLines(ctx); err != nil {
		return err
	}
	return f.compared(r, "NDJSON to NDJSON", "a loop of json.Valid over the lines", "rows.ndjson", "json.json", f.rows, ndjsonBars, ctx, func() (usage, error) {
		return f.own(ctx, validLoopCommand, "rows.ndjson")
	})
}

func (f *files) gzip(ctx context.Context, r *report) error {
	return f.compared(r, "CSV in gzip to NDJSON", `gzip -dc \| parser`, "rows.csv.gz", "csv.json", f.rows, gzipBars, ctx, func() (usage, error) {
		script := `gzip -dc "$1" | "$2" parse --config "$3"`
		return command{path: "/bin/sh", args: []string{"-c", script, "sh", f.path("rows.csv.gz"), f.b.built.parser, f.path("csv.json")}}.run(ctx, nil)
	})
}

func (f *files) parquet(ctx context.Context, r *report) error {
	from := "FROM '" + f.path("rows.parquet") + "'"
	if err := f.verifyText(ctx, "rows.parquet", "none.json", from); err != nil {
		return err
	}
	return f.compared(r, "Parquet to NDJSON", "DuckDB, one thread, to JSON", "rows.parquet", "none.json", f.rows, parquetBars, ctx, func() (usage, error) {
		return f.duckdb.run(ctx, "COPY ("+from+") TO '/dev/null' (FORMAT json)")
	})
}

func (f *files) avro(ctx context.Context, r *report) error {
	return f.compared(r, "Avro (deflate) to NDJSON", "goavro and json.Marshal", "rows.avro", "none.json", f.rows/3, avroBars, ctx, func() (usage, error) {
		return f.own(ctx, avroLoopCommand, "rows.avro")
	})
}

// refusesBrokenLines looks whether every line is validated: a mistake in the very last one must be found.
func (f *files) refusesBrokenLines(ctx context.Context) error {
	for name, line := range map[string]string{
		"a bad escape": `{"v":"\q"}`, "invalid UTF-8": "{\"v\":\"\xff\"}", "an open string": `{"v":"`, "a trailing comma": `{"v":1,}`,
	} {
		raw, err := os.ReadFile(f.path("few.ndjson"))
		if err != nil {
			return fmt.Errorf("reading the lines: %w", err)
		}
		if err := os.WriteFile(f.path("broken.ndjson"), append(raw, line+"\n"...), 0o600); err != nil {
			return fmt.Errorf("writing broken lines: %w", err)
		}
		var sink counter
		if _, err := f.parse(ctx, "broken.ndjson", "json.json", &sink); err == nil {
			return fmt.Errorf("reading NDJSON with %s in its last line: the parser has taken it", name)
		}
	}
	return nil
}

// configuration writes a file of the parser's.
func (f *files) configuration(name string, config map[string]any) error {
	raw, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(f.path(name), raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the parser's configuration: %w", err)
	}
	return nil
}
