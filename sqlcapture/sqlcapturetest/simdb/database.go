package simdb

import "github.com/estuary/connectors/sqlcapture"

// Database returns the roles for one reader, which owns the slot with this name. If it does not exist, it is copied from parent, unless that is empty.
func (w *World) Database(slot, parent string) sqlcapture.Database {
	s := scanner{w}
	return sqlcapture.Database{
		Catalog: catalog{w}, Scanner: s, Opener: opener{w, slot, parent}, Source: encoder{}, Filler: s, Barrier: barrier{w},
		ParsePosition: ParsePosition,
	}
}

// Confirmed returns the highest position that the slot's reader confirmed; 0: there is no slot.
func (w *World) Confirmed(slot string) int64 {
	if s := w.slots[slot]; s != nil {
		return s.highest
	}
	return 0
}

var (
	_ sqlcapture.Catalog       = catalog{}
	_ sqlcapture.Scanner       = scanner{}
	_ sqlcapture.Filler        = scanner{}
	_ sqlcapture.Barrier       = barrier{}
	_ sqlcapture.Opener        = opener{}
	_ sqlcapture.SourceEncoder = encoder{}
	_ sqlcapture.Log           = (*reader)(nil)
	_ sqlcapture.Chunk         = (*chunk)(nil)
	_ sqlcapture.Snapshot      = (*snapshot)(nil)
)
