package jsontext

import (
	"bytes"
	"encoding/binary"
)

// names are those of the value before, in their order. Most values of a stream have the same ones, and comparing is cheaper than looking for a name's end.
type names struct {
	list    []knownName
	at      int  // of list, the one that comes next
	skipped bool // one of the list is not in the value
	other   bool // one of the value is not in the list, or was not
	others  int  // values in a row of which that was so
	learn   bool // the others of this value come into the list
	whole   bool // the list is just the names of the last value that was whole
	changed bool // it has changed since
}

// knownName is a name as it is written before its value, with quotes and colon. Only of ASCII without escapes is nothing else to be said, and only that is known.
type knownName struct {
	first, mask uint64 // its first eight bytes, and which of them belong to it
	last        uint64 // its last eight, if it has more
	text        []byte // empty: not known
}

// A value is learned from when one before it was like those before, and now and then: what always differs is not worth it.
const (
	learnAfter = 16
	learnEvery = 64
)

// begin is called before a value, and again when it was cut.
func (k *names) begin() {
	k.at, k.skipped, k.other = 0, false, false
	k.learn = k.others < learnAfter || k.others%learnEvery == 0
}

// same is called behind a whole value. It tells whether its names, in their order, are those of the last value that was whole.
func (k *names) same() bool {
	if k.other {
		k.others++
	} else {
		k.others = 0
	}
	if k.other && k.learn {
		k.list = k.list[:k.at]
	}
	whole := k.at == len(k.list) && !k.skipped && (!k.other || k.learn)
	same := k.whole && whole && !k.changed
	k.whole, k.changed = whole, false
	return same
}

// next returns the place behind the colon if the name at b[i] is the one that comes next, or the one after that, else −1.
func (k *names) next(b []byte, i int) int {
	x := binary.LittleEndian.Uint64(b[i:])
	for try := k.at; try < len(k.list) && try < k.at+2; try++ {
		e := &k.list[try]
		n := len(e.text)
		if (x^e.first)&e.mask != 0 || n == 0 {
			continue
		}
		if n <= 8 || i+n <= len(b) && binary.LittleEndian.Uint64(b[i+n-8:]) == e.last && (n <= 16 || bytes.Equal(b[i+8:i+n-8], e.text[8:n-8])) {
			k.skipped = k.skipped || try > k.at
			k.at = try + 1
			return i + n
		}
	}
	k.other = true
	return -1
}

// add makes a name the one that comes next in the values after this one. It is written as text, which is ASCII or not.
func (k *names) add(text []byte, ascii bool) {
	if !k.learn {
		return
	}
	if k.at == len(k.list) {
		k.list = append(k.list, knownName{})
	}
	k.changed = true
	e := &k.list[k.at]
	k.at++
	e.text = append(e.text[:0], text...)
	if !ascii || bytes.IndexByte(text, '\\') >= 0 {
		e.text, e.mask = e.text[:0], ^uint64(0)
		return
	}
	var first [8]byte
	n := copy(first[:], text)
	e.first, e.mask = binary.LittleEndian.Uint64(first[:]), ^uint64(0)>>(64-8*n)
	if n == 8 {
		e.last = binary.LittleEndian.Uint64(text[len(text)-8:])
	}
}
