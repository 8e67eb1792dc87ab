package transact

import "bytes"

// Key is one key to load. Its views are valid until the next Next. Its fields are those of materialize.Key.
type Key struct {
	Binding int
	Values  [][]byte // JSON values; nil: null
	Packed  []byte
}

// Keys walks through the keys to load, each once, by binding and ascending: those of keyed bindings that the destination may have.
type Keys struct {
	c       *Combiner
	binding int
	open    bool // the merge is that of binding
	merge   merge
	key     Key
	views   [][]byte
}

// Keys begins the loads.
func (c *Combiner) Keys() *Keys {
	return &Keys{c: c, binding: -1, views: make([][]byte, len(c.views))}
}

// Next returns the next key; nil: there is none left.
func (k *Keys) Next() (*Key, error) {
	for {
		if !k.open {
			if k.binding++; k.binding == len(k.c.plans) {
				k.binding--
				return nil, nil
			}
			s := &k.c.state[k.binding]
			if k.c.plans[k.binding].Delta || s.known && len(s.base) == 0 {
				continue
			}
			k.merge = merge{}
			if err := k.c.sources(&k.merge, k.binding, false); err != nil {
				return nil, err
			}
			k.open = true
		}
		p, s := k.c.plans[k.binding], &k.c.state[k.binding]
		var last record
		ok, err := k.merge.group(func(r *record) error {
			last = *r
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !ok || s.known && bytes.Compare(last.packed, s.base) > 0 {
			k.open = false
			continue
		}
		views := k.views[:p.spans+1]
		if err := p.viewsOf(&last, views); err != nil {
			return nil, err
		}
		k.key = Key{Binding: k.binding, Values: views[:len(p.Key)], Packed: last.packed}
		return &k.key, nil
	}
}
