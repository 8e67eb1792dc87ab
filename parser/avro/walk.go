package avro

import (
	"encoding/binary"
	"fmt"
)

// walk is a way through the bytes of a datum, for skipping values (skip.go) and for writing them (append.go). Its methods return false when they cannot go
// on, and leave the reason in fault.
type walk struct {
	b      []byte
	i      int
	depth  int
	limits Limits
	fault  fault
	reason string
	value  string // of a faultValue
	end    int    // len of dst at which the JSON of a value is too large
}

// fault is the kind of what is wrong.
type fault uint8

const (
	none       fault = iota
	faultShort       // the bytes end inside the datum
	faultData        // no writer writes such bytes
	faultLimit
	faultValue // it has no JSON form
)

func (w *walk) fail(f fault, format string, args ...any) bool {
	w.fault, w.reason = f, fmt.Sprintf(format, args...)
	return false
}

// short tells that n bytes from here on are needed and not there.
func (w *walk) short(n int) bool {
	return w.fail(faultShort, "a value needs %d bytes, of which only %d are there", n, len(w.b)-w.i)
}

// long reads an int or a long: seven bits a byte, least significant first, zigzag.
func (w *walk) long() (int64, bool) {
	if w.i < len(w.b) {
		if c := w.b[w.i]; c < 0x80 {
			w.i++
			return int64(c>>1) ^ -int64(c&1), true
		}
	}
	v, n := binary.Uvarint(w.b[w.i:])
	if n <= 0 {
		if n == 0 && len(w.b)-w.i < binary.MaxVarintLen64 {
			return 0, w.short(len(w.b) - w.i + 1)
		}
		return 0, w.fail(faultData, "an integer has more than 64 bits")
	}
	w.i += n
	return int64(v>>1) ^ -int64(v&1), true
}

// bytes reads a length and so many bytes.
func (w *walk) bytes() ([]byte, bool) {
	n, ok := w.long()
	if !ok {
		return nil, false
	}
	if uint64(n) > uint64(len(w.b)-w.i) {
		switch {
		case n < 0:
			return nil, w.fail(faultData, "a string has the length %d", n)
		case n > int64(w.limits.Value):
			return nil, w.fail(faultLimit, "a string declares %d bytes; at most %d are allowed", n, w.limits.Value)
		}
		return nil, w.short(int(n))
	}
	w.i += int(n)
	return w.b[w.i-int(n) : w.i], true
}

// fixed reads n bytes.
func (w *walk) fixed(n int) ([]byte, bool) {
	if n > len(w.b)-w.i {
		return nil, w.short(n)
	}
	w.i += n
	return w.b[w.i-n : w.i], true
}

// branch reads which type of a union follows.
func (w *walk) branch(n *node) (*node, bool) {
	k, ok := w.long()
	if !ok {
		return nil, false
	}
	if uint64(k) >= uint64(len(n.branches)) {
		return nil, w.fail(faultData, "a union of %d types names the type %d", len(n.branches), k)
	}
	return n.branches[k], true
}

// symbol reads a value of an enum.
func (w *walk) symbol(n *node) ([]byte, bool) {
	k, ok := w.long()
	if !ok {
		return nil, false
	}
	if uint64(k) >= uint64(len(n.quoted)) {
		return nil, w.fail(faultData, "the enum %s of %d symbols names the symbol %d", n.name, len(n.quoted), k)
	}
	return n.quoted[k], true
}

// items reads the count of the next block of an array or a map; 0 ends it.
func (w *walk) items(n *node) (int64, bool) {
	count, ok := w.long()
	if !ok {
		return 0, false
	}
	if count < 0 {
		// The block's size in bytes follows, for readers that skip it. It says nothing that the items do not.
		count = -count
		size, ok := w.long()
		if !ok {
			return 0, false
		}
		if count < 0 || size < 0 {
			return 0, w.fail(faultData, "%s has a block of %d items and %d bytes", n.describe(), count, size)
		}
	}
	// Each item takes a byte at least, but those of a map a key, too; items of an array may be without content.
	if n.kind == kindArray && n.item.constant != nil {
		if count > int64(w.limits.Value/(len(n.item.constant)+1)) {
			return 0, w.fail(faultLimit, "an array declares %d items without content, more than %d bytes of JSON", count, w.limits.Value)
		}
	}
	return count, true
}

// enter goes into a record, an array or a map; leave goes out.
func (w *walk) enter() bool {
	if w.depth >= w.limits.Depth {
		return w.fail(faultLimit, "more than %d records, arrays and maps stand inside each other", w.limits.Depth)
	}
	w.depth++
	return true
}

func (w *walk) leave() { w.depth-- }
