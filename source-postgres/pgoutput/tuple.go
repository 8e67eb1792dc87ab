package pgoutput

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/estuary/connectors/sqlcapture"
)

// change decodes an insert, update or delete message.
func (d *Decoder) change(r *reader, m *Message, arena []sqlcapture.Value) ([]sqlcapture.Value, error) {
	oid := r.u32()
	if r.bad {
		return arena, r.end(m.Kind)
	}
	rel, err := d.known(oid, m.Kind)
	if err != nil {
		return arena, err
	}
	m.Relation = rel

	marker := r.u8()
	if m.Kind != Insert && (marker == byte(OldKey) || marker == byte(OldFull)) {
		m.OldKind = OldKind(marker)
		if arena, m.Old, err = tuple(r, rel, m.OldKind == OldKey, arena); err != nil {
			return arena, changeError(m, err)
		}
		marker = 'N'
		if m.Kind == Update {
			marker = r.u8()
		}
	} else if m.Kind == Delete && !r.bad {
		return arena, changeError(m, fmt.Errorf("the old row is of kind %q", marker))
	}
	if m.Kind != Delete {
		if marker != 'N' && !r.bad {
			return arena, changeError(m, fmt.Errorf("the new row is of kind %q", marker))
		}
		if arena, m.New, err = tuple(r, rel, false, arena); err != nil {
			return arena, changeError(m, err)
		}
	}
	if err := r.end(m.Kind); err != nil {
		return arena, fmt.Errorf("table %v: %w", rel, err)
	}
	return arena, nil
}

func changeError(m *Message, err error) error {
	return fmt.Errorf("decoding a %v message of the log for table %v: %w", m.Kind, m.Relation, err)
}

var errCutOff = errors.New("it is cut off")

// tuple decodes one row and appends it to arena. key: only the columns of the replica identity were sent.
//
// In a key row the server writes "null" for what it does not send. No column of such an identity can be NULL (a primary key's and a USING INDEX index's
// columns are NOT NULL), so every null of a key row means "not sent", whatever the relation's key flags say; and what has a value was sent.
func tuple(r *reader, rel *Relation, key bool, arena []sqlcapture.Value) (grown, row []sqlcapture.Value, err error) {
	n := r.u16()
	if r.bad {
		return arena, nil, errCutOff
	}
	if n != len(rel.Columns) {
		return arena, nil, fmt.Errorf("the row has %d columns and the table was described with %d", n, len(rel.Columns))
	}
	if cap(arena)-len(arena) < n {
		// New memory in place of a copy: the rows before keep theirs.
		arena = make([]sqlcapture.Value, 0, max(2*cap(arena), n, minArena))
	}
	start := len(arena)
	row = arena[start : start+n : start+n]
	p := r.p
	for i := range row {
		if len(p) == 0 {
			return arena, nil, errCutOff
		}
		kind := p[0]
		p = p[1:]
		switch kind {
		case 't':
			if len(p) < 4 {
				return arena, nil, errCutOff
			}
			size := uint64(binary.BigEndian.Uint32(p))
			p = p[4:]
			if size > uint64(len(p)) {
				return arena, nil, errCutOff
			}
			row[i] = p[:size:size]
			p = p[size:]
		case 'n':
			row[i] = nil
			if key {
				row[i] = sqlcapture.Absent()
			}
		case 'u':
			row[i] = sqlcapture.Absent()
		case 'b':
			return arena, nil, fmt.Errorf("column %s was sent in binary form, which was not asked for", rel.Columns[i].Name)
		default:
			return arena, nil, fmt.Errorf("column %s is of kind %q, which is not known", rel.Columns[i].Name, kind)
		}
	}
	r.p = p
	return arena[: start+n : cap(arena)], row, nil
}

// minArena values are reserved when there is no arena yet.
const minArena = 256
