package simdb

import (
	"fmt"
	"strings"

	"github.com/estuary/connectors/sqlcapture"
)

// Kind is the kind of a table's key.
type Kind uint8

// The kinds of keys.
const (
	// Ordered keys are integers: the engine may compare them.
	Ordered Kind = iota
	// Locale keys are texts which the database sorts without regard to case, so their byte order is not its order.
	Locale
	// Keyless tables are read in one chunk.
	Keyless
	// Paged tables have no key and are read range by range.
	Paged
)

// HasKey tells whether tables of this kind have a key.
func (k Kind) HasKey() bool { return k == Ordered || k == Locale }

// TableSpec is a table of a program.
type TableSpec struct {
	Name sqlcapture.TableName
	Kind Kind
	// Full is REPLICA IDENTITY FULL: the log holds the whole old row. Tables without a key always have it.
	Full bool
	// Rows is the number of rows (keys 0 to Rows-1) that exist before anything else happens.
	Rows int
}

// OpKind is the kind of a statement.
type OpKind uint8

// The kinds of statements.
const (
	// Put inserts the key, or updates its row if it has one.
	Put OpKind = iota
	// PutLong is Put that writes the long (TOASTed) column, too.
	PutLong
	// Delete deletes the row, if there is one.
	Delete
	// Move changes the key of a row, if it exists and the new key is free; else it is Put.
	Move
	// Truncate empties the table.
	Truncate
	// Recreate drops the table and creates it again, empty.
	Recreate
)

// Op is a statement on one row of a table.
type Op struct {
	Kind    OpKind
	Table   int // index of the World's table
	Key, To int
}

// Program is a transaction: its statements, then commit or rollback.
type Program struct {
	Ops      []Op
	Rollback bool
}

// String renders the program in one line.
func (p Program) String() string {
	var b strings.Builder
	for _, o := range p.Ops {
		switch o.Kind {
		case Put:
			fmt.Fprintf(&b, "put %d/%d; ", o.Table, o.Key)
		case PutLong:
			fmt.Fprintf(&b, "putlong %d/%d; ", o.Table, o.Key)
		case Delete:
			fmt.Fprintf(&b, "delete %d/%d; ", o.Table, o.Key)
		case Move:
			fmt.Fprintf(&b, "move %d/%d→%d; ", o.Table, o.Key, o.To)
		case Truncate:
			fmt.Fprintf(&b, "truncate %d; ", o.Table)
		case Recreate:
			fmt.Fprintf(&b, "recreate %d; ", o.Table)
		}
	}
	if p.Rollback {
		return b.String() + "rollback"
	}
	return b.String() + "commit"
}

// Config is what stays the same in one exploration.
type Config struct {
	Tables   []TableSpec
	Programs []Program
	// FirstXID is the first transaction's id, with its epoch in the upper half.
	FirstXID uint64
	// AllTables: the publication is FOR ALL TABLES, else tables are in the log from Catalog.Publish on.
	AllTables bool
	// EmptyCommits: transactions without changes of published tables are in the log all the same.
	EmptyCommits bool
	// LooseMore: Chunk.More is true when a chunk ends exactly at its limit, though no row is left.
	LooseMore bool
	// Timeouts: a chunk may end early, as after a statement timeout.
	Timeouts bool
	// FenceWaits: placing a fence makes the log durable up to it.
	FenceWaits bool
}

// Chooser makes the choices of a schedule.
type Chooser interface {
	// Choose returns a number below n, which is above 1.
	Choose(n int, c Choice) int
}

// Choice says what a choice is about, so that a Chooser can weigh it.
type Choice uint8

// The kinds of choices.
const (
	// ChooseStep: 0 goes on with the engine, others take a step of the world and choose again.
	ChooseStep Choice = iota
	// ChooseStepOrKill is the same, and the last one kills the run.
	ChooseStepOrKill
	// ChooseForced: one step of the world, since the caller waits for one.
	ChooseForced
	// ChooseBatch: how much of the log is handed out: 0 everything, 1 one transaction, 2 one event.
	ChooseBatch
	// ChoosePace: 1 lets 300 ms pass, so that a checkpoint is due.
	ChoosePace
	// ChooseCut: 1 ends the chunk early.
	ChooseCut
	// ChooseRun is the explorer's: what the next run is like.
	ChooseRun
)
