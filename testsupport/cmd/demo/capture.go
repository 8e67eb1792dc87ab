package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/replay"
)

// settings are the connector's config; small chunks, so that there is something to interrupt.
type settings struct {
	Address  string   `json:"address"`
	User     string   `json:"user"`
	Password string   `json:"password"`
	Database string   `json:"database"`
	Advanced advanced `json:"advanced"`
}

type advanced struct {
	SlotName        string `json:"slotName"`
	PublicationName string `json:"publicationName"`
	ChunkSize       int    `json:"backfill_chunk_size"`
}

// capture is a destination and what it takes to resume: like a runner that keeps the last STATE of each stream.
type capture struct {
	path            string
	config, catalog []byte
	state           []byte
	runs, killed    int
	caughtUp        bool // a run has ended by itself
	seconds         float64
	random          *rand.Rand
	// committed takes what the resumed STATEs cover, greedy everything that was ever printed. Both must end as the tables are.
	committed, greedy *replay.Fold
}

func newCapture(ctx context.Context, path string, cluster *pgtest.Cluster) (*capture, error) {
	config, err := json.Marshal(settings{
		Address: cluster.Addr(), User: pgtest.User, Password: pgtest.Password, Database: "shop",
		Advanced: advanced{SlotName: "demo_slot", PublicationName: "demo_publication", ChunkSize: 1000},
	})
	if err != nil {
		return nil, fmt.Errorf("writing the config: %w", err)
	}
	var folded []replay.Table
	for _, table := range tables {
		folded = append(folded, replay.Table{Stream: streamOf(table), Key: []string{"id"}})
	}
	c := &capture{
		path: path, config: config, state: []byte("[]"),
		random:    rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), //nolint:gosec // any moment will do for a kill
		committed: replay.New(false, folded...), greedy: replay.New(true, folded...),
	}
	lines, _, err := c.run(ctx, binary.Command{Path: path, Args: []string{"discover", "--configured"}, Config: config}, 0)
	if err != nil {
		return nil, fmt.Errorf("discovering the tables: %w", err)
	}
	for _, line := range lines {
		if bytes.Contains(line[:min(len(line), 40)], []byte(`"streams"`)) { // log lines may be there, too
			c.catalog = line
		}
	}
	if c.catalog == nil {
		return nil, fmt.Errorf("discovering the tables: no catalog among %d lines", len(lines))
	}
	return c, nil
}

func streamOf(table string) string { return "public." + table }

// killAndResume runs the capture until it was killed five times: in the backfill as long as that lasts, and at least once among changes alone.
func (c *capture) killAndResume(ctx context.Context, t *trade) error {
	const most = 30
	for c.killed < kills {
		if c.runs == most {
			return fmt.Errorf("killing the capture: only %d of %d times in %d runs, it always ended before", c.killed, kills, most)
		}
		if err := t.await(ctx, 200); err != nil {
			return err
		}
		if err := c.read(ctx, c.killPoint()); err != nil {
			return err
		}
	}
	return nil
}

// killPoint is the number of records after which the next run is killed, 0: it may end.
func (c *capture) killPoint() int {
	switch {
	case c.caughtUp: // fewer than the changes that were waited for
		return 10 + c.random.IntN(150)
	case c.killed == kills-1:
		return 0
	default: // 5 to 10 % of the rows, then 10 to 20 %, and so on
		share := 0.05 * float64(c.killed+1) * (1 + c.random.Float64())
		return int(share * (customers + orders + items))
	}
}

// await waits until the shop has done so many more transactions, so that there is something to capture.
func (t *trade) await(ctx context.Context, transactions int64) error {
	goal := t.Transactions() + transactions
	for deadline := time.Now().Add(30 * time.Second); t.Transactions() < goal; {
		if time.Now().After(deadline) {
			return errors.New("waiting for the shop's writer: no change in 30 s")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// finish runs the capture to its end.
func (c *capture) finish(ctx context.Context) error { return c.read(ctx, 0) }

// read runs the capture once from the last STATE, and kills it after so many records; 0: lets it end.
func (c *capture) read(ctx context.Context, killAfter int) error {
	command := binary.Command{Path: c.path, Args: []string{"read"}, Config: c.config, Catalog: c.catalog, State: c.state}
	lines, exit, err := c.run(ctx, command, killAfter)
	if err != nil {
		return err
	}
	var run replay.Run
	for _, line := range lines {
		if _, err := run.Line(line); err != nil {
			return err
		}
	}
	for _, fold := range []*replay.Fold{c.committed, c.greedy} {
		if run.States() == 0 {
			err = fold.Discard(c.runs, &run)
		} else {
			err = fold.Add(c.runs, &run, run.States()-1)
		}
		if err != nil {
			return err
		}
	}
	if c.state, err = run.StateFile(c.state, run.States()-1); err != nil {
		return err
	}
	c.runs++
	c.seconds += exit.Wall.Seconds()
	how := "ended by itself"
	if exit.Signal != 0 {
		c.killed++
		how = "killed by SIGKILL"
	} else {
		c.caughtUp = true
	}
	fmt.Printf("run %d: %s after %s records and %s STATEs, %s records after the last STATE of all (%.1f s)\n",
		c.runs, how, grouped(int64(run.Records())), grouped(int64(run.States())), grouped(int64(run.RecordsAfterState())), exit.Wall.Seconds())
	return nil
}

// run starts a command and returns its lines. The lines are only counted while it runs: decoding them here would slow it down.
func (c *capture) run(ctx context.Context, command binary.Command, killAfter int) ([][]byte, binary.Exit, error) {
	p, err := binary.Start(command)
	if err != nil {
		return nil, binary.Exit{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() }) // it is gone at the latest when we are
	defer stop()
	defer p.Close() //nolint:errcheck // everything was read
	var lines [][]byte
	records := 0
	for {
		var line []byte
		if line, err = p.Next(); errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, binary.Exit{}, fmt.Errorf("reading what the connector prints: %w", err)
		}
		lines = append(lines, line)
		if bytes.Contains(line[:min(len(line), 40)], []byte(`"RECORD"`)) {
			if records++; records == killAfter {
				if err = p.Kill(); err != nil {
					return nil, binary.Exit{}, err
				}
			}
		}
	}
	exit, err := p.Wait(time.Minute)
	switch {
	case ctx.Err() != nil:
		return nil, exit, ctx.Err()
	case err != nil:
		return nil, exit, err
	case exit.Signal != 0 && killAfter > 0 && records >= killAfter: // as it should be
	case exit.Code != 0:
		return nil, exit, fmt.Errorf("the connector ended with code %d: %s%s", exit.Code, complaints(lines), exit.Stderr)
	}
	return lines, exit, nil
}

// complaints gathers the sentences of TRACE ERRORs.
func complaints(lines [][]byte) string {
	var run replay.Run
	var text string
	for _, line := range lines {
		if m, err := run.Line(line); err == nil && m.Trace != nil && m.Trace.Type == "ERROR" {
			text += m.Trace.Message + "\n"
		}
	}
	return text
}
