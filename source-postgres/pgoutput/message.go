package pgoutput

import (
	"strconv"

	"github.com/estuary/connectors/sqlcapture"
)

// Kind is the kind of a Message: the message's first byte.
type Kind byte

// The kinds that protocol version 1 has. Later versions add kinds for streamed and two-phase transactions, which a server sends only when asked for.
const (
	Begin    Kind = 'B'
	Commit   Kind = 'C'
	Origin   Kind = 'O'
	Describe Kind = 'R' // a relation is described, or described anew
	Type     Kind = 'Y'
	Insert   Kind = 'I'
	Update   Kind = 'U'
	Delete   Kind = 'D'
	Truncate Kind = 'T'
	Logical  Kind = 'M' // pg_logical_emit_message
)

// String names the kind for people.
func (k Kind) String() string {
	switch k {
	case Begin:
		return "begin"
	case Commit:
		return "commit"
	case Origin:
		return "origin"
	case Describe:
		return "relation"
	case Type:
		return "type"
	case Insert:
		return "insert"
	case Update:
		return "update"
	case Delete:
		return "delete"
	case Truncate:
		return "truncate"
	case Logical:
		return "message"
	}
	return strconv.QuoteRune(rune(k))
}

// OldKind tells what an old row holds.
type OldKind byte

// The kinds of old rows.
const (
	NoOld   OldKind = 0
	OldKey  OldKind = 'K' // the columns of the replica identity; all others are Absent
	OldFull OldKind = 'O' // every column (REPLICA IDENTITY FULL)
)

// Message is a decoded message. Which fields are set depends on its Kind; the others are zero.
type Message struct {
	Kind Kind

	// Xid is the transaction's 32-bit id (Begin).
	Xid uint32
	// FinalLSN is the position of the transaction's commit record (Begin, Commit).
	FinalLSN uint64
	// EndLSN is the end of the commit record: the position to resume from (Commit).
	EndLSN uint64
	// CommitTime in microseconds since 1970 (Begin, Commit).
	CommitTime int64

	// Relation of the row or of the description (Describe, Insert, Update, Delete).
	Relation *Relation
	// OldKind tells whether there is an old row (Update, Delete).
	OldKind OldKind
	// Old and New have a value for each of Relation.Columns. Old is nil when there is no old row, New is nil for Delete.
	Old, New []sqlcapture.Value

	// Truncated lists the emptied relations (Truncate). It is reused by the next Decode into the same Message.
	Truncated []*Relation
	// Cascade and RestartIdentity are the options of the TRUNCATE.
	Cascade, RestartIdentity bool

	// Transactional: the message is part of a transaction, and comes between its Begin and Commit (Logical).
	Transactional bool
	// LSN of the message (Logical), or of the commit at the origin (Origin).
	LSN uint64
	// Prefix and Content of the message (Logical): views into the payload.
	Prefix, Content []byte

	// TypeOID and TypeNamespace, with Name: a type that is not built in (Type). For a domain a server sends the base type's name.
	TypeOID       uint32
	TypeNamespace string
	// Name of the type or of the origin (Type, Origin).
	Name string
}

// reset zeroes everything but reusable memory.
func (m *Message) reset() {
	truncated := m.Truncated[:0]
	*m = Message{Truncated: truncated}
}

// Identity is a table's REPLICA IDENTITY setting.
type Identity byte

// The replica identities.
const (
	IdentityDefault Identity = 'd' // the primary key
	IdentityNothing Identity = 'n'
	IdentityFull    Identity = 'f'
	IdentityIndex   Identity = 'i'
)

// Relation is a table as the log described it. It is never changed: a new description is a new Relation.
type Relation struct {
	OID uint32
	// Namespace is the schema.
	Namespace, Name string
	Identity        Identity
	Columns         []Column
}

// String is the table's name for people.
func (r *Relation) String() string { return r.Namespace + "." + r.Name }

// Column of a Relation.
type Column struct {
	Name string
	// TypeOID and TypeMod identify the type (pg_attribute.atttypid and atttypmod).
	TypeOID uint32
	TypeMod int32
	// Key: the column is part of the replica identity (all columns of IDENTITY FULL are).
	Key bool
}
