package proto

import (
	"bytes"
	"slices"
)

// entry is an entry of a map: its key as JSON, in the keys of the decoder, and its value.
type entry struct {
	start, end int
	value      chain
}

// appendMap appends a map as an object, its keys in the order of their bytes. Of entries with one key the last counts.
func (d *Decoder) appendMap(dst []byte, f *field, c chain) ([]byte, error) {
	entries, keys, outer := len(d.entries), len(d.keys), frame{lists: len(d.lists), found: len(d.found), merge: len(d.merged)}
	key, value := &f.message.fields[0], &f.message.fields[1]
	for i := c.first; i >= 0; i = d.found[i].next {
		in, err := d.open(f.message, d.found[i].bytes)
		if err != nil {
			return dst, err
		}
		d.depth--
		e := entry{start: len(d.keys), value: d.lists[in.lists+1]}
		if d.keys, err = d.appendKey(d.keys, key, d.lists[in.lists]); err != nil {
			return dst, err
		}
		e.end = len(d.keys)
		d.entries = append(d.entries, e)
	}
	sorted := d.entries[entries:]
	compare := func(a, b entry) int { return bytes.Compare(d.keys[a.start:a.end], d.keys[b.start:b.end]) }
	slices.SortStableFunc(sorted, compare)
	dst = append(dst, '{')
	for i := range sorted {
		e := d.entries[entries+i]
		if i+1 < len(sorted) && compare(e, d.entries[entries+i+1]) == 0 {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(dst, d.keys[e.start:e.end]...), ':')
		var err error
		if dst, err = d.appendMapValue(dst, value, e.value); err != nil {
			return dst, err
		}
		if len(dst)-d.start > d.limits.Document {
			return dst, d.failed("the document takes more than %d bytes", d.limits.Document)
		}
	}
	d.entries, d.keys = d.entries[:entries], d.keys[:keys]
	d.depth++
	d.close(outer)
	return append(dst, '}'), nil
}

// appendKey appends a key, a string of what it is.
func (d *Decoder) appendKey(dst []byte, f *field, c chain) ([]byte, error) {
	before := len(dst)
	dst = append(dst, '"')
	dst, err := d.appendSingle(dst, f, c)
	if err != nil {
		return dst, err
	}
	if dst[before+1] == '"' { // it was a string already
		return append(dst[:before], dst[before+1:]...), nil
	}
	return append(dst, '"'), nil
}

// appendMapValue appends a value. One that is not there is the default, that of messages is the empty one.
func (d *Decoder) appendMapValue(dst []byte, f *field, c chain) ([]byte, error) {
	if c.first < 0 && f.message != nil {
		return d.appendMessage(dst, f.message, nil)
	}
	return d.appendSingle(dst, f, c)
}
