package sqlcapture

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// Database gathers the roles that an SQL database plays for the engine. The engine calls them from one goroutine, one call at a time.
type Database struct {
	Catalog Catalog
	Scanner Scanner
	Opener  Opener
	Source  SourceEncoder
	Filler  Filler  // optional: databases whose log leaves out unchanged values
	Barrier Barrier // optional: the gate before a first chunk
	Monitor Monitor // optional
	// ParsePosition reads what Position.MarshalJSON wrote.
	ParsePosition func(json.RawMessage) (Position, error)
}

// Position is a place in the log at a transaction boundary. Everything that committed before it is covered by a checkpoint that holds it.
type Position interface {
	json.Marshaler
	// Compare orders positions of one server: negative when the receiver is older.
	Compare(Position) int
	String() string
}

// TableName names a table, in the database's own case.
type TableName struct{ Schema, Name string }

// Table is a table as it was described at one moment: by the catalog, by a chunk's transaction, or by the log. It is never changed afterwards.
type Table struct {
	TableName
	// Identity differs when another table has taken the name (dropped and re-created, swapped in by a rename).
	Identity string
	// Leaves differs when rows may have come or gone without a log entry (partitions attached, detached, re-created). The log leaves it empty.
	Leaves  string
	Columns []Column
	// Key lists the key columns by name, in order; nil: keyless. In a description by the log: those by which it identifies rows, in any order; nil: it
	// does not say.
	Key []string
	// Unique lists further choices of columns that no two rows share. The log leaves it nil.
	Unique [][]string
	// EstimatedRows is for progress only; 0: unknown.
	EstimatedRows int64
	// Native is the database's own description.
	Native any
}

// Column is a column of a Table and how its values are rendered. Scan and log use the same functions, so that they cannot disagree.
type Column struct {
	Name string
	// Type is the database's name of the type, for descriptions and for noticing that it changed.
	Type    string
	NotNull bool
	// Schema of a value that is not NULL.
	Schema protocol.Schema
	// AppendJSON appends the JSON form of a value in the database's wire text. Never called for NULL. It may change value's bytes.
	AppendJSON func(dst, value []byte) ([]byte, error)
	// AppendKey appends the value's rowkey element; nil: this type cannot be part of a key.
	AppendKey func(dst, value []byte) ([]byte, error)
	// Ordered: the byte order of AppendKey's elements is the database's order of the values (ORDER BY and comparison).
	Ordered bool
	// Collation names the order of the values where Type alone does not say. The log leaves it empty.
	Collation string
	// Filled: rows that were there before the column may hold another value than NULL in it, by a default or by how it is generated. The log does not say.
	Filled bool
}

// Value is a column's value in wire text. nil is NULL; see also Absent.
type Value = []byte

var absent = []byte{0}

// Absent stands for a value that the log did not send (an unchanged TOASTed value, a column that is not part of the replica identity).
func Absent() Value { return absent }

// IsAbsent tells whether v is Absent.
func IsAbsent(v Value) bool { return len(v) == 1 && &v[0] == &absent[0] }

// Catalog describes tables.
type Catalog interface {
	// Tables describes the named tables as they are now; one that does not exist is left out. nil names: everything that discovery offers.
	Tables(ctx context.Context, names []TableName) ([]*Table, error)
	// Marks returns for each of the tables that exists a text that differs when another table has taken the name, or its key may have changed. It is
	// asked about once a minute, so it has to be cheap for thousands of tables.
	Marks(ctx context.Context, names []TableName) (map[TableName]string, error)
	// Deliveries tells how the log delivers the tables' changes now; those that it does not deliver are left out. It is asked about as often as Marks.
	Deliveries(ctx context.Context, names []TableName) (map[TableName]*Delivery, error)
	// Publish makes the log deliver these tables' changes from now on (adds them to a publication), or returns joined *protocol.Problem, each of
	// which may be a *TableProblem. Called before Opener.Open, and again
	// when a table has come back.
	Publish(ctx context.Context, names []TableName) error
}

// Delivery is how the log delivers a table's changes. It is kept in the stream's state.
type Delivery struct {
	// By names what delivers them (the publication).
	By string `json:"by"`
	// Entries are the table's in there, sorted, by names that never come again: an entry that was removed and made anew is another one.
	Entries []string `json:"entries"`
}

// TableProblem is a problem that concerns one table only: the other streams go on.
type TableProblem struct {
	Table   TableName
	Problem *protocol.Problem
}

// Error returns the problem's sentence.
func (p *TableProblem) Error() string { return p.Problem.Error() }

// Unwrap returns the problem.
func (p *TableProblem) Unwrap() error { return p.Problem }

// ScanRequest asks for one chunk.
type ScanRequest struct {
	Table TableName
	// Key columns by name, nil: keyless.
	Key []string
	// After is the key (or, keyless, Chunk.Progress) that the last chunk ended with; nil: from the start.
	After rowkey.Key
	// Until is the greatest key to read, as Chunk.Until of the first chunk gave it; nil on the first chunk.
	Until rowkey.Key
	// Limit in rows.
	Limit int
}

// Scanner reads chunks of tables.
type Scanner interface {
	// Scan locks the table against TRUNCATE, DROP and rewriting ALTER, then opens a snapshot, then starts to read. The lock comes before the snapshot.
	// ErrLocked: the lock was not had in time, try later. ErrNoTable: it is gone. ErrKeyLost: see there.
	Scan(ctx context.Context, req ScanRequest) (Chunk, error)
	// Visible returns those of txns that a snapshot taken now does not see yet, and, for a log line, who holds them up.
	Visible(ctx context.Context, txns []TxnID) (waiting []TxnID, who string, err error)
}

// Chunk is a part of a table in one snapshot.
type Chunk interface {
	// Table describes the table inside the chunk's transaction. Rows follow its Columns.
	Table() *Table
	// Snapshot is known before the first row.
	Snapshot() Snapshot
	// Next returns the next row, in key order (keyless: any); io.EOF at the end. The row is valid until the next call.
	Next() ([]Value, error)
	// More tells, after io.EOF, whether rows may be left after the last one.
	More() bool
	// Progress is ScanRequest.After of the next chunk, for keyless tables.
	Progress() rowkey.Key
	// Until is the greatest key of the table in this snapshot, when req.Until was nil; nil: the table is empty or keyless.
	Until() rowkey.Key
	// Restarted: After meant nothing any more (a keyless table was rewritten), so this chunk starts from the beginning.
	Restarted() bool
	// Close ends the chunk's transaction.
	Close() error
}

// Snapshot says which transactions a chunk has seen.
type Snapshot interface {
	Contains(txn *Txn) bool
}

// TxnID identifies a transaction to Scanner.Visible (PostgreSQL: the 32-bit top-level xid).
type TxnID uint64

// Txn is a committed transaction of the log.
type Txn struct {
	ID TxnID
	// Commit is a position inside the transaction's commit: at or above every checkpoint position that does not cover it, below every one that does.
	Commit Position
	// Time of the commit, microseconds since 1970; 0: unknown.
	TimeMicros int64
	// Final and PrevEnd are the log's integers for _meta.source.loc: of this commit, and of the end of the commit before it.
	Final, PrevEnd uint64
}

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds of events.
const (
	// EventTable describes a table before its first row event, and again when it changed. Event.Table is new.
	EventTable EventKind = iota
	// EventInsert, EventUpdate and EventDelete are row changes inside Event.Txn.
	EventInsert
	EventUpdate
	EventDelete
	// EventTruncate empties Event.Table inside Event.Txn.
	EventTruncate
	// EventCommit ends Event.Txn; Event.Position is the position that covers it.
	EventCommit
	// EventProgress moves the position outside any transaction: nothing of ours is in the log up to Event.Position.
	EventProgress
	// EventFence: the fence with Event.Fence is reached. Always outside transactions. Event.Position covers the fence itself; nil: unknown.
	EventFence
)

// Event is one entry of the log.
type Event struct {
	Kind  EventKind
	Table *Table
	Txn   *Txn
	// Before is the old row as far as the log has it (others Absent), nil: none. After is the new row; nil for deletes.
	Before, After []Value
	// LSN is the log's integer for this event.
	LSN uint64
	// Row is the index of the change among its table's changes in the transaction.
	Row int64
	// Bytes is the event's size in the log, for pacing checkpoints.
	Bytes int
	// Position: see EventCommit, EventProgress and EventFence.
	Position Position
	Fence    FenceID
}

// Events is a batch; its memory is given back with Release, after which no value of it may be used. Tables, transactions and positions stay valid.
type Events struct {
	List []Event
	// Drained: the log had nothing more to hand out at that moment.
	Drained bool
	Release func()
}

// FenceID names a fence.
type FenceID uint64

// Log is the open log.
type Log interface {
	// Next returns the next events, waiting up to wait for the first. An empty batch (List is empty, Drained is true) means that nothing came.
	Next(ctx context.Context, wait time.Duration) (Events, error)
	// Fence puts a fence into the log. Its EventFence comes after everything that committed before the call.
	Fence(ctx context.Context) (FenceID, error)
	// Confirm tells the server that everything up to p is durable and may be forgotten.
	Confirm(p Position)
	Close() error
}

// Opener opens the log.
type Opener interface {
	// Earliest returns the oldest position that the log can still be opened at, nil when nothing was ever reserved (no slot). lost is a sentence for
	// people when a reservation is unusable (invalidated by the server) and so every position is gone.
	Earliest(ctx context.Context) (earliest Position, lost string, err error)
	// Open reserves the log (creates the slot) if need be and opens it at from; nil: at the earliest position. It returns the position really used.
	Open(ctx context.Context, from Position) (Log, Position, error)
}

// SourceEncoder renders the members of a document's _meta.source.
type SourceEncoder interface {
	// AppendEvent appends the JSON object for an event; t is the stream's table.
	AppendEvent(dst []byte, e *Event) []byte
	// AppendRow appends the JSON object for the n-th row (from 0) of a table's backfill.
	AppendRow(dst []byte, t *Table, n int64) []byte
	// Schema is the schema of these objects.
	Schema() protocol.Schema
}

// Filler reads single values again.
type Filler interface {
	// Fill returns the values of the columns cols (by name) for each key, in order, as a snapshot taken now sees them; nil for a row that is gone, Absent for
	// a column that is. A *TableProblem fails its stream alone.
	Fill(ctx context.Context, t TableName, keyColumns []string, keys []rowkey.Key, cols []string) ([][]Value, error)
}

// Barrier is the gate before a first chunk (sql-cdc §4.2): transactions that began before the log was reserved, or before a table was published, and
// are still running would be in neither the log nor the chunk.
type Barrier interface {
	// Raise returns a mark that Settled reaches once every transaction that runs now has ended.
	Raise(ctx context.Context) (uint64, error)
	// Settled tells whether it is reached, and, for a log line, what is waited for.
	Settled(ctx context.Context, mark uint64) (ok bool, who string, err error)
}

// Monitor looks after the log's health; the engine calls it about once a minute.
type Monitor interface {
	Report(ctx context.Context, at Position)
}

// Errors of Scanner.Scan that the engine acts on; a *TableProblem fails its stream alone, any other error ends the run.
var (
	// ErrLocked: the table's lock was not had in time. The log goes on and the table is tried again after the next checkpoint.
	ErrLocked = errors.New("the table is locked")
	// ErrNoTable: the table does not exist (any more).
	ErrNoTable = errors.New("the table does not exist")
	// ErrKeyLost: the keys that the last chunk ended with are no values of the key's type any more (an enum's value was renamed).
	ErrKeyLost = errors.New("the keys that were read last mean nothing any more")
)
