package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/testsupport/fixture"
)

// pipelineSlot is not the one of the source alone.
const pipelineSlot = "bench_pipeline"

// pipeline measures a pipeline that copies a table from one database into another, root document left out, beside one psql that copies out and another
// that copies into a table with the same columns and primary key.
func (b *bench) pipeline(ctx context.Context, r *report) (err error) {
	const database = "bench_pipeline"
	if err = b.openDatabase(ctx, database, b.rows); err != nil {
		return err
	}
	c, err := b.newCopying(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err = c.measured(ctx, b.rows, c.fresh()...); err != nil {
		return err
	}
	if err = c.lake.equals(ctx, database, b.rows); err != nil {
		return err
	}
	lineBytes, err := b.lineBytes(ctx, database)
	if err != nil {
		return err
	}
	loop := &loop{b: b, database: database, lineBytes: lineBytes, comparison: comparison{units: b.rows}}
	measured, err := alternate(b.pairs, b.rows,
		func() (usage, error) { return c.reference(ctx) },
		func() (usage, error) { return c.measured(ctx, b.rows, c.fresh()...) },
		func() error { return loop.run(ctx) })
	if err != nil {
		return err
	}
	r.compared("pipeline", "psql COPY TO | psql COPY FROM", measured, pipelineBars, loop.comparison)
	for _, child := range childrenOfPipeline {
		r.remembered(fmt.Sprintf("pipeline of %s, the %s", grouped(b.rows), child.what), measured.peakOf(child.name), child.bar)
	}
	return errors.Join(c.drop(ctx), b.dropDatabase(ctx, database))
}

// lineBytes is how long the line of a row is in the source's output.
func (b *bench) lineBytes(ctx context.Context, database string) (n int64, err error) {
	s, err := b.newSubject(ctx, database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var sink counter
	if err = b.prepare(ctx, database); err != nil {
		return 0, err
	}
	if _, err = s.read(ctx, &sink); err != nil {
		return 0, err
	}
	if sink.lines < b.rows {
		return 0, fmt.Errorf("reading the table: %d lines of %d rows", sink.lines, b.rows)
	}
	return sink.bytes / sink.lines, b.prepare(ctx, database)
}

// childrenOfPipeline by the name that Linux keeps of a program.
var childrenOfPipeline = []struct {
	name, what string
	bar        int64
}{
	{commandName(subjectName), "source", memoryBar},
	{commandName(sinkName), "sink", sinkMemoryBar},
}

func commandName(program string) string {
	const kept = 15
	return program[:min(len(program), kept)]
}

// pipelineMemory notes the peaks of all three processes of a run.
func (r *report) pipelineMemory(what string, u usage) {
	r.remembered("pipeline of "+what+", the runner", u.peak, memoryBar)
	for _, child := range childrenOfPipeline {
		r.remembered("pipeline of "+what+", the "+child.what, u.children[child.name], child.bar)
	}
}

// copying is a pipeline from a database into another.
type copying struct {
	b        *bench
	database string
	lake     *lake
}

func (b *bench) newCopying(ctx context.Context, database string) (*copying, error) {
	l, err := b.newLake(ctx, database+"_sink")
	if err != nil {
		return nil, err
	}
	c := &copying{b: b, database: database, lake: l}
	// JSON is YAML.
	file, err := json.Marshal(map[string]any{
		"source":  map[string]any{"connector": b.built.source, "config": sourceSettings(b, database, pipelineSlot)},
		"sink":    map[string]any{"connector": b.built.sink, "config": l.config()},
		"streams": []map[string]any{{"stream": table, "root_document": false}},
	})
	if err == nil {
		err = os.WriteFile(l.file("copy.yaml"), file, 0o600)
	}
	if err == nil {
		err = l.in(ctx, l.database, func(conn *pgx.Conn) error { // an empty table of the reference's own
			if err := execAll(ctx, conn, "CREATE SCHEMA reference"); err != nil {
				return err
			}
			return fixture.CreateWide(ctx, conn, twin, 0)
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the pipeline: %w", err), l.close())
	}
	return c, nil
}

func (c *copying) close() error { return c.lake.close() }

func (c *copying) drop(ctx context.Context) error { return c.lake.drop(ctx) }

// fresh are the statements after which the sink's database has nothing of the pipeline.
func (c *copying) fresh() []string { return c.lake.empty() }

// measured takes one timed run until the pipeline has caught up. With statements, the pipeline starts from nothing: they empty the sink.
func (c *copying) measured(ctx context.Context, rows int64, fresh ...string) (usage, error) {
	if err := c.lake.awaitIdle(ctx, c.lake.database); err != nil {
		return usage{}, err
	}
	var drop []string
	if fresh != nil {
		drop = []string{dropSlots("slot_name = '" + pipelineSlot + "'")}
		if err := os.Remove(c.lake.file("copy.state")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return usage{}, fmt.Errorf("removing the pipeline's store: %w", err)
		}
		if err := c.lake.prepare(ctx, c.lake.database, fresh...); err != nil {
			return usage{}, err
		}
	}
	u, err := c.b.measured(ctx, runnerName, c.database, expected{}, func(sink *counter) (usage, error) {
		return command{path: c.b.built.runner, args: []string{"run", "--once", c.lake.file("copy.yaml")}, family: true}.run(ctx, sink)
	}, drop...)
	return u, errors.Join(err, c.lake.holds(ctx, table, "true", rows))
}

// reference takes one timed run of the two psql.
func (c *copying) reference(ctx context.Context) (usage, error) {
	if err := c.lake.prepare(ctx, c.lake.database, "TRUNCATE "+twin); err != nil {
		return usage{}, err
	}
	u, err := c.b.measured(ctx, "psql | psql", c.database, expected{}, func(*counter) (usage, error) {
		return runPipe(ctx, c.b.psql(c.database, "COPY "+table+" TO STDOUT"), c.lake.psql(c.lake.database, "COPY "+twin+" FROM STDIN"))
	})
	return u, errors.Join(err, c.lake.holds(ctx, twin, "true", c.b.rows))
}
