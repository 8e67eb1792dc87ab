package parquet

import "math"

// dictionary holds the values that indexes stand for: as JSON already, or, when it is large or a value has no JSON form, as they are.
type dictionary struct {
	count int
	json  []byte
	ends  []uint32 // where each value's JSON ends, the next one's begins; nil: not rendered
	plain []byte   // as PLAIN has them
	at    []uint32 // where each value of plain begins, for those that are not all of one length
}

// booleans makes indexes of booleans.
var booleans = &dictionary{count: 2, json: []byte("falsetrue"), ends: []uint32{5, 9}}

// A dictionary up to this size is rendered: what most writers stop at, and twice it.
const renderedSize = 2 << 20

// newDictionary reads count values.
func newDictionary(l *leaf, plain []byte, count int) (*dictionary, error) {
	d := &dictionary{count: count, plain: plain}
	if l.width > 0 {
		size, ok := plainLength(max(count, 0), l.width)
		if count < 0 || !ok || size > len(plain) {
			return nil, corrupt("a dictionary of %d values of %d bytes in %d bytes", count, l.width, len(plain))
		}
	} else {
		if count < 0 || count > len(plain)/4 {
			return nil, corrupt("a dictionary of %d values in %d bytes", count, len(plain))
		}
		d.at = make([]uint32, count)
		pos := 0
		for i := range d.at {
			d.at[i] = uint32(pos)
			if len(plain)-pos < 4 || int64(le.Uint32(plain[pos:])) > int64(len(plain)-pos-4) {
				return nil, corrupt("a dictionary whose value %d goes beyond its end", i)
			}
			pos += 4 + int(le.Uint32(plain[pos:]))
		}
	}
	d.render(l)
	return d, nil
}

// render writes each value's JSON once, so that a row copies it.
func (d *dictionary) render(l *leaf) {
	if len(d.plain) > renderedSize {
		return
	}
	json := make([]byte, 0, len(d.plain)+4*d.count)
	ends := make([]uint32, d.count)
	for i := range ends {
		var ok bool
		if json, ok = l.write(json, d.value(l, uint32(i)), l); !ok || len(json) > math.MaxUint32 {
			return
		}
		ends[i] = uint32(len(json))
	}
	d.json, d.ends, d.plain, d.at = json, ends, nil, nil
}

// value is a value that was not rendered.
func (d *dictionary) value(l *leaf, i uint32) []byte {
	if l.width > 0 {
		return d.plain[int(i)*l.width : int(i+1)*l.width]
	}
	start := d.at[i]
	return d.plain[start+4 : start+4+le.Uint32(d.plain[start:])]
}

func (d *dictionary) size() int {
	return len(d.json) + len(d.plain) + 4*(len(d.ends)+len(d.at))
}
