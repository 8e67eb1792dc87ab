package materialize

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/transact"
	"github.com/estuary/connectors/protocol"
)

// committer runs the transactions that the writer hands over, one at a time.
type committer struct {
	inv    *invocation
	tr     Transactor
	loader Loader // nil: there is nothing to load
	tables []*table
	keys   []keyState
}

// keyState is what is known of the keys in a table.
type keyState struct {
	greatest []byte // packed; nil: there is none
	known    bool   // no key is greater than that
	upsert   bool   // nothing is loaded: the destination finds by itself whether a document is there
}

// transaction is what is committed as one.
type transaction struct {
	docs       *transact.Combiner
	checkpoint []byte // a member for each table whose checkpoint changes
	replace    []int  // tables that take the place of the old ones
	echo       []byte // lines for stdout, once all is durable
}

func (inv *invocation) newCommitter(tr Transactor, opened Opened, tables []*table) (*committer, error) {
	c := &committer{inv: inv, tr: tr, tables: tables, keys: make([]keyState, len(tables))}
	if err := remembered(opened, tables); err != nil {
		return nil, err
	}
	c.loader, _ = tr.(Loader)
	upserter, _ := tr.(Upserter)
	_, replacer := tr.(Replacer)
	for i, t := range tables {
		k := &c.keys[i]
		k.known = t.binding.Replace || slices.Contains(opened.NewTables, i)
		k.upsert = !t.binding.DeltaUpdates && t.reducer == nil && upserter != nil && upserter.Upserts(i)
		switch {
		case t.binding.Replace && !replacer:
			return nil, command.Problem(fmt.Sprintf("%s cannot replace a table as a whole, as stream %s asks for", inv.connector.name, t.name()),
				"choose another destination_sync_mode than overwrite, or leave the generations out of the catalog")
		case !t.binding.DeltaUpdates && c.loader == nil && !k.upsert:
			return nil, command.Problem(fmt.Sprintf("%s reads no documents back, so stream %s cannot have one for each key", inv.connector.name, t.name()),
				"choose the destination_sync_mode append")
		}
	}
	return c, nil
}

// commit makes a transaction durable and prints the STATEs that it covers. A panic is an error like another.
func (c *committer) commit(ctx context.Context, t *transaction) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = command.Panicked(r)
		}
	}()
	for i, k := range c.keys {
		t.docs.SetMaxKey(i, k.greatest, k.known)
	}
	if err := c.load(ctx, t.docs); err != nil {
		return err
	}
	if err := c.store(ctx, t.docs); err != nil {
		return err
	}
	for _, binding := range t.replace {
		replacer := c.tr.(Replacer) // newCommitter has asked
		if err := replacer.Replace(ctx, binding); err != nil {
			return err
		}
	}
	if _, err := c.tr.Commit(ctx, t.checkpoint); err != nil {
		return err
	}
	// Nobody keeps a state for `write`: what a patch describes is done before the STATEs go out, and comes again from the source if it is not.
	if _, err := c.tr.Acknowledge(ctx, nil); err != nil {
		return err
	}
	for i := range c.keys {
		if k := &c.keys[i]; k.known {
			k.greatest = append(k.greatest[:0], t.docs.MaxKey(i)...)
		}
	}
	if len(t.echo) == 0 {
		return nil
	}
	return c.inv.Print(t.echo)
}

// load asks for the documents that are there already.
func (c *committer) load(ctx context.Context, docs *transact.Combiner) error {
	keys := docs.Keys()
	next := func() (*Key, error) {
		for {
			k, err := keys.Next()
			if k == nil || err != nil || !c.keys[k.Binding].upsert {
				return (*Key)(k), err
			}
		}
	}
	first, broken := next()
	if first == nil {
		return broken
	}
	whole := false
	err := c.loader.Load(ctx, NewKeyIter(func() (k *Key, _ error) {
		if k, first = first, nil; k == nil && broken == nil && !whole {
			k, broken = next()
			whole = k == nil && broken == nil
		}
		return k, broken
	}), docs.Loaded)
	return c.ending(err, broken, whole, "Load")
}

// store hands the documents over.
func (c *committer) store(ctx context.Context, in *transact.Combiner) error {
	docs := in.Docs()
	var broken error
	whole := false
	err := c.tr.Store(ctx, NewDocIter(func() (*Doc, error) {
		if broken != nil || whole {
			return nil, broken
		}
		var d *transact.Doc
		if d, broken = docs.Next(); d == nil {
			whole = broken == nil
			return nil, broken
		}
		if k := &c.keys[d.Binding]; k.upsert {
			d.Exists = !k.known || bytes.Compare(d.Packed, k.greatest) <= 0
		}
		return (*Doc)(d), nil
	}))
	return c.ending(err, broken, whole, "Store")
}

// ending is the error of a phase: what the iterator met counts before what the transactor made of it.
func (c *committer) ending(err, broken error, whole bool, method string) error {
	switch {
	case broken != nil:
		return broken
	case err != nil:
		return err
	case !whole:
		return &protocol.Problem{Kind: protocol.System, Summary: fmt.Sprintf("%s has a bug: %s returned before it took everything", c.inv.connector.name, method)}
	}
	return nil
}
