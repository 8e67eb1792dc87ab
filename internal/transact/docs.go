package transact

import "fmt"

// Doc is one document to store. Its views are valid until the next Next. Its fields are those of materialize.Doc.
type Doc struct {
	Binding int
	Key     [][]byte
	Packed  []byte // nil in delta bindings
	Values  [][]byte
	JSON    []byte
	Exists  bool // it was loaded
	Delete  bool // it ends here; never in delta bindings, where a deletion is a record like others
}

// Docs walks through the documents of the transaction: by binding, in keyed ones one for each key, ascending, in delta ones every record as it came.
type Docs struct {
	c       *Combiner
	binding int
	open    bool
	merge   merge
	fold    fold
	serial  []*cursor // of a delta binding, oldest first
	doc     Doc
	views   [][]byte
}

// Docs begins to hand out. What Loaded has not got does not exist.
func (c *Combiner) Docs() *Docs {
	return &Docs{c: c, binding: -1, views: make([][]byte, len(c.views))}
}

// Next returns the next document; nil: there is none left.
func (d *Docs) Next() (*Doc, error) {
	for {
		if !d.open {
			if d.binding++; d.binding == len(d.c.plans) {
				d.binding--
				return nil, nil
			}
			if err := d.begin(); err != nil {
				return nil, err
			}
			d.open = true
		}
		doc, err := d.next()
		if doc != nil || err != nil {
			return doc, err
		}
		d.open = false
	}
}

func (d *Docs) begin() error {
	p := d.c.plans[d.binding]
	if !p.Delta {
		d.merge = merge{}
		d.fold = fold{plan: p, all: true, buffer: d.fold.buffer}
		return d.c.sources(&d.merge, d.binding, true)
	}
	d.serial = d.serial[:0]
	s := &d.c.state[d.binding]
	for _, r := range s.runs {
		d.serial = append(d.serial, &cursor{plan: p, reader: d.c.spool.read(r, d.c.readBuffer(1))})
	}
	d.serial = append(d.serial, &cursor{plan: p, area: d.c.added, places: d.c.added.lists[d.binding].places})
	return nil
}

// next returns the binding's next document.
func (d *Docs) next() (*Doc, error) {
	p := d.c.plans[d.binding]
	if p.Delta {
		return d.nextDelta(p)
	}
	f := &d.fold
	f.begin()
	asked := false
	ok, err := d.merge.group(func(r *record) error {
		asked = asked || r.flags&flagLoaded == 0
		return f.add(r)
	})
	if !ok || err != nil {
		return nil, err
	}
	if !asked {
		return nil, fmt.Errorf("the destination returned a document of stream %s whose key was not asked for", p.Stream)
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	if err := d.fill(p, &record{packed: f.packed, doc: f.doc, spans: f.spans}); err != nil {
		return nil, err
	}
	d.doc.Exists, d.doc.Delete = f.flags&flagLoaded != 0, f.flags&flagDeleted != 0
	return &d.doc, nil
}

func (d *Docs) nextDelta(p *plan) (*Doc, error) {
	for len(d.serial) > 0 {
		in := d.serial[0]
		ok, err := in.next()
		if err != nil {
			return nil, err
		}
		if ok {
			if err := d.fill(p, &in.record); err != nil {
				return nil, err
			}
			return &d.doc, nil
		}
		d.serial = d.serial[1:]
	}
	return nil, nil
}

func (d *Docs) fill(p *plan, r *record) error {
	views := d.views[:p.spans+1]
	if err := p.viewsOf(r, views); err != nil {
		return err
	}
	d.doc = Doc{Binding: d.binding, Key: views[:len(p.Key)], Packed: r.packed, Values: views[len(p.Key):p.spans]}
	if p.Document {
		d.doc.JSON = r.doc
	}
	return nil
}
