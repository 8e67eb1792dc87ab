package main

import (
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// binding is a table that rows go to, with the statements that do it, made once a session.
type binding struct {
	index    int
	stream   string // the collection, for messages
	stateKey string
	owner    string // of the table's checkpoint under `write`
	target   *target
	delta    bool
	backfill uint32 // how often it has started over
	// hardDelete: rows of deleted documents go.
	hardDelete bool
	// replace: the rows go to a table that takes the place of the one that readers see.
	replace bool
	// missing: the table is not there; apply has to make it.
	missing bool
	// lacks: the table has no column for this field; apply has to add it.
	lacks string
	// unique: the table itself keeps keys unique, so that a COPY into it fails rather than double a row.
	unique bool

	columns []sqlsink.Column // as documents have them: keys, values, the root document
	keys    int
	// encoders belong to columns.
	encoders []*encoder
	// binary: rows may go in binary form. One that cannot makes those after it, in its transaction, go in text form.
	binary   bool
	document bool // the last column is the root document
	builder  *builder

	// made are the temporary tables that this session has.
	made map[tempTable]bool
	// used are those that hold rows in this transaction.
	used map[tempTable]bool
	// mustStage: in this transaction a new key was there already, so rows no longer go straight into the table.
	mustStage bool
}

// tempTable is one of the temporary tables of a binding. They are emptied by each commit, not dropped: catalogs would bloat (bug materializations 86).
type tempTable string

const (
	tempKeys tempTable = "keys" // keys to load, keys to delete
	tempRows tempTable = "rows" // rows that replace others
	tempGone tempTable = "gone" // rows of deleted documents, which replace others but are not inserted
)

func (s *sink) newBinding(index int, b *materialize.Binding, g *target, live *sqlsink.Live) (*binding, error) {
	n := &binding{
		index: index, stream: b.Collection.Name, stateKey: b.StateKey, owner: writeOwner([]string{g.name.schema, g.name.table}), target: g,
		delta: b.DeltaUpdates, backfill: b.Backfill, hardDelete: s.config.HardDelete && !b.DeltaUpdates, replace: b.Replace, missing: live == nil,
		columns: g.want.Columns, keys: len(b.Fields.Keys), document: b.Fields.Document != "", made: map[tempTable]bool{}, used: map[tempTable]bool{},
	}
	if n.missing {
		return n, nil
	}
	if live.Kind != "" {
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%s is %s", g.name, live.Kind), Fix: "use another table's name"}
	}
	liveTypes := make([]string, len(n.columns))
	var keyNames []string
	for i, c := range n.columns {
		l := live.Column(c.Name)
		if l == nil {
			n.lacks = c.Field
			return n, nil
		}
		liveTypes[i] = l.Type
		n.encoders = append(n.encoders, newEncoder(c, l.Type, g.name.String(), s.config.Advanced.OnNul == "refuse"))
		if i < n.keys {
			keyNames = append(keyNames, c.Name)
		}
	}
	n.binary = !slices.ContainsFunc(n.encoders, func(e *encoder) bool { return e.binary == nil })
	n.unique = !n.delta && live.UniqueBy(keyNames)
	var err error
	if !n.delta && !n.document {
		n.builder, err = newBuilder(n.columns, liveTypes)
	}
	return n, err
}
