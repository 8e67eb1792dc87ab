package pgoutput

import (
	"errors"
	"fmt"

	"github.com/estuary/connectors/sqlcapture"
)

// Decoder decodes the messages of one replication session, in order. A new session needs a new Decoder: the server describes its relations again. The zero
// value is ready to use.
type Decoder struct {
	relations map[uint32]*Relation
	last      *Relation // most changes are of the same relation as the one before
}

// Relation returns the relation as it was last described, nil when it was not.
func (d *Decoder) Relation(oid uint32) *Relation {
	if d.last != nil && d.last.OID == oid {
		return d.last
	}
	r := d.relations[oid]
	if r != nil {
		d.last = r
	}
	return r
}

// Decode decodes payload into m. Rows are appended to arena, the rest of whose capacity must be unused, and the arena is returned as append would: the
// rows of a batch share memory, and those decoded before stay valid when it grows. Values, Prefix and Content are views into payload.
//
// Every message counts: one of an unknown kind is an error, since what it stands for could be rows.
func (d *Decoder) Decode(payload []byte, m *Message, arena []sqlcapture.Value) ([]sqlcapture.Value, error) {
	m.reset()
	if len(payload) == 0 {
		return arena, errors.New("decoding a message of the log: it is empty")
	}
	m.Kind = Kind(payload[0])
	r := reader{p: payload[1:]}
	switch m.Kind {
	case Insert, Update, Delete:
		return d.change(&r, m, arena)
	case Begin:
		m.FinalLSN, m.CommitTime, m.Xid = r.u64(), r.micros(), r.u32()
	case Commit:
		r.u8() // flags, none of which is defined
		m.FinalLSN, m.EndLSN, m.CommitTime = r.u64(), r.u64(), r.micros()
	case Origin:
		m.LSN, m.Name = r.u64(), string(r.text())
	case Describe:
		return arena, d.describe(&r, m)
	case Type:
		m.TypeOID, m.TypeNamespace, m.Name = r.u32(), namespace(&r), string(r.text())
	case Truncate:
		return arena, d.truncate(&r, m)
	case Logical:
		m.Transactional = r.u8()&1 != 0
		m.LSN, m.Prefix = r.u64(), r.text()
		m.Content = r.take(int(r.u32()))
	default:
		return arena, fmt.Errorf("decoding a message of the log: its kind %v (byte 0x%02x) is not known", m.Kind, payload[0])
	}
	return arena, r.end(m.Kind)
}

// namespace reads a schema's name. The server leaves that of the built-in schema empty.
func namespace(r *reader) string {
	if b := r.text(); len(b) > 0 || r.bad {
		return string(b)
	}
	return "pg_catalog"
}

// describe decodes a relation message and remembers the relation.
func (d *Decoder) describe(r *reader, m *Message) error {
	rel := &Relation{OID: r.u32(), Namespace: namespace(r), Name: string(r.text()), Identity: Identity(r.u8())}
	n := r.u16()
	// A column takes at least 10 bytes: a message cannot make us reserve more than a few times its own size.
	rel.Columns = make([]Column, 0, min(n, len(r.p)/10))
	for i := 0; i < n && !r.bad; i++ {
		c := Column{Key: r.u8()&1 != 0}
		c.Name, c.TypeOID, c.TypeMod = string(r.text()), r.u32(), int32(r.u32())
		rel.Columns = append(rel.Columns, c)
	}
	if err := r.end(Describe); err != nil {
		return err
	}
	if d.relations == nil {
		d.relations = make(map[uint32]*Relation)
	}
	d.relations[rel.OID] = rel
	d.last = rel
	m.Relation = rel
	return nil
}

// truncate decodes a truncate message.
func (d *Decoder) truncate(r *reader, m *Message) error {
	n := int(r.u32())
	options := r.u8()
	m.Cascade, m.RestartIdentity = options&1 != 0, options&2 != 0
	r.bad = r.bad || n*4 > len(r.p)
	if r.bad || n*4 != len(r.p) {
		return r.end(Truncate)
	}
	for range n {
		rel, err := d.known(r.u32(), Truncate)
		if err != nil {
			return err
		}
		m.Truncated = append(m.Truncated, rel)
	}
	return nil
}

// known returns a relation that a message refers to.
func (d *Decoder) known(oid uint32, k Kind) (*Relation, error) {
	if rel := d.Relation(oid); rel != nil {
		return rel, nil
	}
	return nil, fmt.Errorf("decoding a %v message of the log: the table with OID %d was not described before", k, oid)
}
