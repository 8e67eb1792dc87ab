package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/sqlcapture"
)

// fencePrefix marks our logical messages among the application's.
const fencePrefix = "estuary.connectors.fence"

// fences places fences and recognises them. A fence is a transactional logical message: it commits after everything that committed before, needs no
// table and no right, and is delivered even on an idle server. Where the log may not be written, or before version 14, it is a position.
type fences struct {
	byPosition bool
	nonce      string

	mu      sync.Mutex
	last    sqlcapture.FenceID
	waiting []positionFence // ascending
}

type positionFence struct {
	id  sqlcapture.FenceID
	lsn uint64
}

func newFences(byPosition bool) (*fences, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("making a name for fences: %w", err)
	}
	return &fences{byPosition: byPosition, nonce: hex.EncodeToString(b[:])}, nil
}

// place puts a fence into the log through conn, whose commits wait for no standby.
func (f *fences) place(ctx context.Context, conn *pgx.Conn) (sqlcapture.FenceID, error) {
	f.mu.Lock()
	f.last++
	id := f.last
	f.mu.Unlock()
	if !f.byPosition {
		_, err := conn.Exec(ctx, `SELECT pg_logical_emit_message(true, $1::text, $2::text)`, fencePrefix, f.nonce+":"+strconv.FormatUint(uint64(id), 10))
		return id, err
	}
	// Asynchronous commits are visible before they are flushed: only the insert position is above everything that a snapshot has seen.
	var text string
	if err := conn.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text`).Scan(&text); err != nil {
		return 0, err
	}
	lsn, err := parseSlotLSN(text)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	f.waiting = append(f.waiting, positionFence{id, skipPageHeader(lsn)})
	f.mu.Unlock()
	return id, nil
}

// skipPageHeader moves a position that stands just behind a page's header back to the page's start: on an idle server the insert position points
// there, while the flush position and keepalives stay at the start, so a fence at it would never be reached.
func skipPageHeader(lsn uint64) uint64 {
	const page = 8192
	if rest := lsn % page; rest == 24 || rest == 40 { // the short and the long header
		return lsn - rest
	}
	return lsn
}

// passed returns the position fences at or below end.
func (f *fences) passed(end uint64) []sqlcapture.FenceID {
	if !f.byPosition {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []sqlcapture.FenceID
	for len(f.waiting) > 0 && f.waiting[0].lsn <= end {
		ids = append(ids, f.waiting[0].id)
		f.waiting = f.waiting[1:]
	}
	return ids
}

// pending tells whether a position fence waits.
func (f *fences) pending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting) > 0
}

// ours tells whether a logical message of pgoutput (flags, position, then the prefix) carries our prefix, without decoding it.
func (f *fences) ours(payload []byte) bool {
	const head = 1 + 1 + 8
	return len(payload) > head+len(fencePrefix) && payload[head+len(fencePrefix)] == 0 && bytes.HasPrefix(payload[head:], []byte(fencePrefix))
}

// parse reads a message's content; ok is false for a fence of another process.
func (f *fences) parse(content []byte) (id sqlcapture.FenceID, ok bool) {
	rest, ok := bytes.CutPrefix(content, []byte(f.nonce+":"))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(string(rest), 10, 64)
	return sqlcapture.FenceID(n), err == nil
}
