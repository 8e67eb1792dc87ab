package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"
)

// bumpers change many small tables (k int, ver bigint, word text), each its own keys. ver grows by one with every change of a key, deletions included,
// and is negative in what is rolled back.
type bumpers struct {
	tables  []string
	changes []atomic.Int64 // committed, by table
	stop    chan struct{}
	wait    sync.WaitGroup
	mu      sync.Mutex
	err     error
}

const (
	bumperCount = 3
	bumperKeys  = 8 // of each bumper in each table
)

// startBumpers makes the tables, fills half of the keys, and starts to change them. They end with the test at the latest.
func startBumpers(t *testing.T, dsn string, seed uint64, tables []string) *bumpers {
	t.Helper()
	ctx := context.Background()
	b := &bumpers{tables: tables, changes: make([]atomic.Int64, len(tables)), stop: make(chan struct{})}
	var conns []*pgx.Conn
	for range bumperCount {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	var sql strings.Builder
	for _, table := range tables {
		fmt.Fprintf(&sql, "CREATE TABLE %s (k int PRIMARY KEY, ver bigint NOT NULL, word text);\n", table)
		fmt.Fprintf(&sql, "INSERT INTO %s SELECT n, 1, 'filled' FROM generate_series(0, %d, 2) n;\n", table, bumperCount*bumperKeys-1)
	}
	if _, err := conns[0].Exec(ctx, sql.String()); err != nil {
		t.Fatal(err)
	}
	for i, conn := range conns {
		w := &bumper{all: b, index: i, conn: conn, rng: rand.New(rand.NewPCG(seed, uint64(i)+100))} //nolint:gosec // repeatable on purpose
		for range tables {
			rows := make([]bumped, bumperKeys)
			for k := range rows {
				if (k*bumperCount+i)%2 == 0 {
					rows[k] = bumped{1, true}
				}
			}
			w.rows = append(w.rows, rows)
		}
		b.wait.Go(func() {
			if err := w.run(ctx); err != nil {
				b.mu.Lock()
				b.err = errors.Join(b.err, fmt.Errorf("writer %d: %w", i, err))
				b.mu.Unlock()
			}
			_ = conn.Close(ctx) // everything is committed
		})
	}
	t.Cleanup(func() { _ = b.end() })
	return b
}

// end stops the writers after their transactions, and returns what went wrong.
func (b *bumpers) end() error {
	b.mu.Lock()
	select {
	case <-b.stop:
	default:
		close(b.stop)
	}
	b.mu.Unlock()
	b.wait.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// touchAll waits until every table has been changed since.
func (b *bumpers) touchAll(t *testing.T) {
	t.Helper()
	since := make([]int64, len(b.tables))
	for i := range since {
		since[i] = b.changes[i].Load()
	}
	until(t, "a change in every table", func() bool {
		for i := range since {
			if b.changes[i].Load() == since[i] {
				return false
			}
		}
		return true
	})
}

type bumped struct {
	ver   int64
	alive bool
}

type bumper struct {
	all   *bumpers
	index int
	conn  *pgx.Conn
	rng   *rand.Rand
	rows  [][]bumped
}

func (w *bumper) run(ctx context.Context) error {
	for {
		select {
		case <-w.all.stop:
			return nil
		case <-time.After(time.Duration(w.rng.IntN(6)) * time.Millisecond):
		}
		if err := w.transaction(ctx); err != nil {
			return err
		}
	}
}

func (w *bumper) transaction(ctx context.Context) error {
	doomed := w.rng.IntN(10) == 0
	tx, err := w.conn.Begin(ctx)
	if err != nil {
		return err
	}
	after := map[[2]int]bumped{}
	for range 1 + w.rng.IntN(8) {
		at := [2]int{w.rng.IntN(len(w.rows)), w.rng.IntN(bumperKeys)}
		row, again := after[at]
		if !again {
			row = w.rows[at[0]][at[1]]
		}
		row.ver++
		ver, table, key := row.ver, w.all.tables[at[0]], at[1]*bumperCount+w.index
		if doomed {
			ver = -ver
		}
		sql := fmt.Sprintf("UPDATE %s SET ver = %d, word = 'w%d' WHERE k = %d", table, ver, w.rng.IntN(1000), key)
		switch {
		case !row.alive:
			sql = fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, NULL)", table, key, ver)
			row.alive = true
		case w.rng.IntN(4) == 0:
			sql = fmt.Sprintf("DELETE FROM %s WHERE k = %d", table, key)
			row.alive = false
		}
		if tag, err := tx.Exec(ctx, sql); err != nil || tag.RowsAffected() != 1 {
			return errors.Join(fmt.Errorf("%s: %d rows: %w", sql, tag.RowsAffected(), err), tx.Rollback(ctx))
		}
		after[at] = row
	}
	if doomed {
		return tx.Rollback(ctx)
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	for at, row := range after {
		w.rows[at[0]][at[1]] = row
		w.all.changes[at[0]].Add(1)
	}
	return nil
}
