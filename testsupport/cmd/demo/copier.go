package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/pipeline"
)

// Who is killed, in turn.
const (
	theRunner = "runner"
	theSource = "source"
	theSink   = "sink"
)

// copier runs the pipeline, kills it, and starts it again.
type copier struct {
	programs string // folder
	dir      string // of the pipeline's file and its store
	file     string
	source   *pgx.Conn
	sink     *pgx.Conn
	process  *binary.Process // nil: it does not run
	started  time.Time
	kills    int
	seconds  float64 // that the pipeline has run
}

func newCopier(programs string, cluster *pgtest.Cluster, source, sink *pgx.Conn) (*copier, error) {
	dir, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the pipeline: %w", err)
	}
	c := &copier{programs: programs, dir: dir, file: filepath.Join(dir, "shop.yaml"), source: source, sink: sink}
	file := pipeline.File{
		// Small chunks, so that there is something to interrupt.
		Source:  pipeline.Side{Connector: "source-postgres", Config: pipeline.Capture(cluster, shopName, map[string]any{"backfill_chunk_size": 1000})},
		Sink:    pipeline.Side{Connector: "materialize-postgres", Config: pipeline.Materialize(cluster, "", lakeName)},
		Streams: pipeline.Streams("public.*"),
	}
	if err := file.Write(c.file); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

// close ends what an error has left running.
func (c *copier) close() error {
	var err error
	if c.process != nil {
		err = c.process.Kill()
		_, waitErr := c.process.Wait(time.Minute)
		err = errors.Join(err, waitErr)
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

func (c *copier) start(args ...string) error {
	var err error
	c.process, err = binary.Start(binary.Command{Path: filepath.Join(c.programs, "pipeline"), Args: append([]string{"run", c.file}, args...)})
	c.started = time.Now()
	return err
}

// ended waits for the end of the process.
func (c *copier) ended() (binary.Exit, error) {
	exit, err := c.process.Wait(time.Minute)
	c.process = nil
	c.seconds += exit.Wall.Seconds()
	return exit, err
}

// killAndResume kills everybody once while the rows that are there are copied, and once more while nothing but changes come.
func (c *copier) killAndResume(ctx context.Context, t *trade) error {
	if err := c.start(); err != nil {
		return err
	}
	for i, who := range []string{theRunner, theSource, theSink} {
		if err := c.awaitRows(ctx, int64(1+2*i)*(customers+orders+items)/8); err != nil {
			return err
		}
		if err := c.kill(ctx, who, "while the existing rows were copied"); err != nil {
			return err
		}
	}
	if err := c.awaitAll(ctx); err != nil {
		return err
	}
	for _, who := range []string{theRunner, theSource, theSink} {
		if err := t.await(ctx, 200); err != nil {
			return err
		}
		if err := c.kill(ctx, who, "among changes"); err != nil {
			return err
		}
		if err := c.awaitChange(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finish lets the pipeline stop, and run to the end once more.
func (c *copier) finish(ctx context.Context) error {
	if err := c.process.Signal(os.Interrupt); err != nil {
		return err
	}
	if exit, err := c.ended(); err != nil || exit.Code != 0 {
		return errors.Join(err, fmt.Errorf("the pipeline was asked to stop and ended with code %d: %s", exit.Code, exit.Stderr))
	}
	if err := c.start("--once"); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.process.Kill() }) // it is gone at the latest when we are
	defer stop()
	if exit, err := c.ended(); err != nil || exit.Code != 0 {
		return errors.Join(ctx.Err(), err, fmt.Errorf("the last run ended with code %d: %s", exit.Code, exit.Stderr))
	}
	return nil
}

// kill sends SIGKILL to one of the three, and starts the runner again when it was that one; the runner itself starts the others.
func (c *copier) kill(ctx context.Context, who, when string) error {
	pid := c.process.PID()
	if who != theRunner {
		var err error
		if pid, err = childOf(ctx, pid, map[string]string{theSource: "source-postgres", theSink: "materialize-postgres"}[who]); err != nil {
			return err
		}
	}
	copied, err := c.rows(ctx, c.sink)
	if err != nil {
		return err
	}
	if err = syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing the %s, pid %d: %w", who, pid, err)
	}
	c.kills++
	fmt.Printf("kill %d: SIGKILL to the %s %s, %s rows are in the copy (%.1f s)\n", c.kills, who, when, grouped(copied), time.Since(c.started).Seconds())
	if who != theRunner {
		return nil
	}
	if _, err = c.ended(); err != nil {
		return err
	}
	return c.start()
}

// childOf finds a child by its program's name; a runner that has just lost a side starts it again after a second.
func childOf(ctx context.Context, parent int, name string) (int, error) {
	for deadline := time.Now().Add(30 * time.Second); ; {
		if pid, err := pipeline.Child(parent, name); err != nil || pid != 0 {
			return pid, err
		}
		if err := pause(ctx, deadline, "waiting for the "+name+" of the pipeline"); err != nil {
			return 0, err
		}
	}
}

// pause sleeps a little; after the deadline it is an error.
func pause(ctx context.Context, deadline time.Time, what string) error {
	if time.Now().After(deadline) {
		return errors.New(what + ": it takes too long")
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

// await asks the copy again and again.
func (c *copier) await(ctx context.Context, what string, ok func() (bool, error)) error {
	for deadline := time.Now().Add(time.Minute); ; {
		done, err := ok()
		if err != nil || done {
			return err
		}
		if !c.process.Alive() {
			exit, err := c.ended()
			return errors.Join(err, fmt.Errorf("%s: the pipeline ended with code %d: %s", what, exit.Code, exit.Stderr))
		}
		if err := pause(ctx, deadline, what); err != nil {
			return err
		}
	}
}

// rows counts what one side has.
func (c *copier) rows(ctx context.Context, conn *pgx.Conn) (total int64, err error) {
	for _, table := range tables {
		n, err := number(ctx, conn, "SELECT count(*) FROM "+table)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// number runs a query; without the table that it needs it is 0.
func number(ctx context.Context, conn *pgx.Conn, sql string) (n int64, err error) {
	err = conn.QueryRow(ctx, sql).Scan(&n)
	var state interface{ SQLState() string }
	if errors.As(err, &state) && state.SQLState() == "42P01" {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("running %.60q: %w", sql, err)
	}
	return n, nil
}

func (c *copier) awaitRows(ctx context.Context, rows int64) error {
	return c.await(ctx, fmt.Sprintf("waiting for %d rows in the copy", rows), func() (bool, error) {
		n, err := c.rows(ctx, c.sink)
		return n >= rows, err
	})
}

// awaitAll waits until the copy has about as many rows as the shop: the backfill is over, and a few changes are on their way.
func (c *copier) awaitAll(ctx context.Context) error {
	const onTheirWay = 500
	return c.await(ctx, "waiting for the end of the backfill", func() (bool, error) {
		copied, err := c.rows(ctx, c.sink)
		if err != nil {
			return false, err
		}
		there, err := c.rows(ctx, c.source)
		return copied >= there-onTheirWay, err
	})
}

// awaitChange waits until something was committed after this moment: whoever was killed is back.
func (c *copier) awaitChange(ctx context.Context) error {
	const newest = "SELECT coalesce(max((_meta->'source'->>'ts_ms')::bigint), 0) FROM orders"
	before, err := number(ctx, c.sink, newest)
	if err != nil {
		return err
	}
	return c.await(ctx, "waiting for changes after a kill", func() (bool, error) {
		n, err := number(ctx, c.sink, newest)
		return n > before, err
	})
}
