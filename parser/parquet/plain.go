package parquet

import (
	"encoding/binary"
	"math/bits"
)

// expander brings encodings to the form that PLAIN has, in memory of at most limit bytes.
type expander struct{ limit int }

// deltas appends the numbers of a DELTA_BINARY_PACKED sequence, width bytes each (4 or 8), and returns what follows it.
func (e expander) deltas(dst, src []byte, width int) (out, rest []byte, err error) {
	d := deltaReader{src: src}
	blockSize, perBlock, total := d.uvarint(), d.uvarint(), d.uvarint()
	value := uint64(d.varint())
	if d.short {
		return nil, nil, corrupt("a delta sequence ends early")
	}
	if perBlock == 0 || blockSize == 0 || blockSize > 1<<20 || blockSize%perBlock != 0 || blockSize/perBlock%8 != 0 {
		return nil, nil, corrupt("a delta sequence of blocks of %d values in %d parts", blockSize, perBlock)
	}
	if total > uint64(e.limit/width) {
		return nil, nil, tooLarge("a delta sequence of %d values takes more than %d bytes", total, e.limit)
	}
	if total == 0 {
		return dst, d.src, nil
	}
	// Sums wrap, as they did when the deltas were made.
	put := func() {
		if width == 4 {
			dst = le.AppendUint32(dst, uint32(value))
		} else {
			dst = le.AppendUint64(dst, value)
		}
	}
	put()
	miniSize := int(blockSize / perBlock)
	for left := int(total) - 1; left > 0; {
		least := uint64(d.varint())
		widths := d.take(int(perBlock))
		if d.short {
			return nil, nil, corrupt("a delta sequence ends early")
		}
		for _, w := range widths {
			if left == 0 {
				break
			}
			if w > 64 {
				return nil, nil, corrupt("deltas of %d bits", w)
			}
			n := min(miniSize, left)
			left -= n
			packed := d.upTo(miniSize * int(w) / 8)
			if len(packed)*8 < n*int(w) {
				return nil, nil, corrupt("a delta sequence ends early")
			}
			if w == 0 {
				for range n {
					value += least
					put()
				}
				continue
			}
			for i := range n {
				value += least + bitsAt(packed, i*int(w), int(w))
				put()
			}
		}
	}
	return dst, d.src, nil
}

// bitsAt reads a number of at most 64 bits.
func bitsAt(packed []byte, bit, width int) uint64 {
	at, shift := bit>>3, bit&7
	var word [9]byte
	var low uint64
	var high byte
	if at+9 <= len(packed) {
		low, high = le.Uint64(packed[at:]), packed[at+8]
	} else {
		copy(word[:], packed[at:])
		low, high = le.Uint64(word[:]), word[8]
	}
	v := low>>shift | uint64(high)<<1<<(63-shift)
	return v & (^uint64(0) >> (64 - width))
}

// deltaReader takes numbers from src; short says that there were too few bytes.
type deltaReader struct {
	src   []byte
	short bool
}

func (d *deltaReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.short = true
		return 0
	}
	d.src = d.src[n:]
	return v
}

func (d *deltaReader) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *deltaReader) take(n int) []byte {
	if n > len(d.src) {
		d.short = true
		return nil
	}
	return d.upTo(n)
}

func (d *deltaReader) upTo(n int) []byte {
	n = min(n, len(d.src))
	taken := d.src[:n]
	d.src = d.src[n:]
	return taken
}

// lengths reads a DELTA_BINARY_PACKED sequence of lengths.
func (e expander) lengths(src []byte) (lengths, rest []byte, err error) {
	lengths, rest, err = e.deltas(nil, src, 4)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(lengths); i += 4 {
		if n := int32(le.Uint32(lengths[i:])); n < 0 {
			return nil, nil, corrupt("a length of %d", n)
		}
	}
	return lengths, rest, nil
}

// deltaLengths appends the values of DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func (e expander) deltaLengths(dst, src []byte) ([]byte, error) {
	lengths, src, err := e.lengths(src)
	if err != nil {
		return nil, err
	}
	if len(lengths)+len(src) > e.limit {
		return nil, tooLarge("its values take more than %d bytes", e.limit)
	}
	for i := 0; i < len(lengths); i += 4 {
		n := int(le.Uint32(lengths[i:]))
		if n > len(src) {
			return nil, corrupt("a value of %d bytes where %d are left", n, len(src))
		}
		dst = append(append(dst, lengths[i:i+4]...), src[:n]...)
		src = src[n:]
	}
	return dst, nil
}

// deltaBytes appends the values of DELTA_BYTE_ARRAY: how much each shares with the one before, how long the rest is, all rests. Width is that of values of one length, else 0.
func (e expander) deltaBytes(dst, src []byte, width int) ([]byte, error) {
	shared, src, err := e.lengths(src)
	if err != nil {
		return nil, err
	}
	rests, src, err := e.lengths(src)
	if err != nil {
		return nil, err
	}
	if len(shared) != len(rests) {
		return nil, corrupt("%d prefixes for %d suffixes", len(shared)/4, len(rests)/4)
	}
	before := len(dst) // where the value before begins and ends
	end := before
	for i := 0; i < len(shared); i += 4 {
		prefix, rest := int(le.Uint32(shared[i:])), int(le.Uint32(rests[i:]))
		if prefix > end-before || rest > len(src) {
			return nil, corrupt("a value that shares %d bytes of %d and has %d more of %d", prefix, end-before, rest, len(src))
		}
		if len(dst)+4+prefix+rest > e.limit {
			return nil, tooLarge("its values take more than %d bytes", e.limit)
		}
		if width == 0 {
			dst = le.AppendUint32(dst, uint32(prefix+rest))
		} else if prefix+rest != width {
			return nil, corrupt("a value of %d bytes instead of %d", prefix+rest, width)
		}
		start := len(dst)
		dst = append(append(dst, dst[before:before+prefix]...), src[:rest]...)
		src = src[rest:]
		before, end = start, len(dst)
	}
	return dst, nil
}

// split appends the values of BYTE_STREAM_SPLIT: all first bytes, then all second bytes, and so on.
func split(dst, src []byte, width int) ([]byte, error) {
	n := len(src) / width
	if n*width != len(src) {
		return nil, corrupt("%d bytes are no number of values of %d", len(src), width)
	}
	start := len(dst)
	dst = append(dst, src...)
	to := dst[start:]
	switch width {
	case 4:
		a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:]
		for i := range n {
			le.PutUint32(to[4*i:], uint32(a[i])|uint32(b[i])<<8|uint32(c[i])<<16|uint32(d[i])<<24)
		}
	default:
		for k := range width {
			from := src[k*n : (k+1)*n]
			for i, b := range from {
				to[i*width+k] = b
			}
		}
	}
	return dst, nil
}

// plainLength is how many bytes n values of one width take; false: more than an int holds.
func plainLength(n, width int) (int, bool) {
	high, low := bits.Mul64(uint64(n), uint64(width))
	return int(low), high == 0 && low < 1<<62
}
