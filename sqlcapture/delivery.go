package sqlcapture

import (
	"context"
	"fmt"
	"slices"
)

// followedBy tells whether nothing was missed between d and now: one entry was there all the time. What does not tell, or another publication, is
// taken as it is. Entries that were exchanged in one transaction (a publication of tables that became one FOR ALL TABLES) leave nothing out, and count
// as a gap all the same: they look like those that were exchanged one after the other.
func (d *Delivery) followedBy(now *Delivery) bool {
	return d == nil || d.By != now.By || slices.ContainsFunc(d.Entries, func(entry string) bool { return slices.Contains(now.Entries, entry) })
}

func (d *Delivery) equal(other *Delivery) bool {
	return d != nil && other != nil && d.By == other.By && slices.Equal(d.Entries, other.Entries)
}

// missPublished acts on streams whose tables the log does not deliver any more, or did not for a while. At the start it comes before they are published
// again, so that a run that fails for it fails again.
func (e *engine) missPublished(ctx context.Context) error {
	var streams []*stream
	for _, s := range e.streams {
		if (s.phase == backfill || s.phase == active) && (s.given != nil || !s.unpublished) {
			streams = append(streams, s)
		}
	}
	if len(streams) == 0 {
		return nil
	}
	until := e.position
	deliveries, err := e.db.Catalog.Deliveries(ctx, namesOf(streams))
	if err != nil {
		return fmt.Errorf("looking up whether the log delivers the tables: %w", err)
	}
	missed := map[*stream]string{}
	for _, s := range streams {
		switch now := deliveries[s.name]; {
		case now == nil:
			missed[s] = "it was taken out of the publication"
		case !s.delivery.followedBy(now):
			missed[s] = "it was taken out of the publication and put back since"
		case !s.delivery.equal(now):
			s.delivery, s.dirty, e.clean = now, true, false
		}
	}
	if err := e.actOnMissed(ctx, missed); err != nil {
		return err
	}
	e.delivered = until
	return nil
}

// actOnMissed leaves tables alone that have been replaced or dropped since they were looked at: the next look sees to that.
func (e *engine) actOnMissed(ctx context.Context, missed map[*stream]string) error {
	if len(missed) == 0 {
		return nil
	}
	var names []TableName
	for s := range missed {
		names = append(names, s.name)
	}
	tables, err := e.db.Catalog.Tables(ctx, names)
	if err != nil {
		return fmt.Errorf("looking up the tables that the log does not deliver: %w", err)
	}
	same := map[TableName]bool{}
	for _, t := range tables {
		if s := e.byName[t.TableName]; s != nil {
			same[t.TableName] = s.replacedBy(t) == ""
		}
	}
	for _, s := range e.streams { // in order, so that messages are, too
		why := missed[s]
		if why == "" || !same[s.name] {
			continue
		}
		after := e.delivered
		if after == nil {
			after = s.given
		}
		if err := e.lost(s, fmt.Sprintf("the changes of table %s after %s are lost: %s", s.name, after, why)); err != nil {
			return err
		}
	}
	return nil
}

// noteDeliveries keeps how streams are delivered that were just published. What another stream was delivered by before is still to be compared.
func (e *engine) noteDeliveries(ctx context.Context, streams []*stream) error {
	deliveries, err := e.db.Catalog.Deliveries(ctx, namesOf(streams))
	if err != nil {
		return fmt.Errorf("looking up how the log delivers the tables: %w", err)
	}
	for _, s := range streams {
		s.unpublished = false
		if now := deliveries[s.name]; now != nil && (s.delivery == nil || s.phase == pending) && !s.delivery.equal(now) {
			s.delivery, s.dirty = now, true
		}
	}
	return nil
}
