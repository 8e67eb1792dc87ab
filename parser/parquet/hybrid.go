package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// hybrid reads small numbers in runs and bit-packed groups of eight (Encodings.md, "RLE / Bit-Packing Hybrid"): levels, indexes into dictionaries, booleans. It hands out
// as many as it is asked for, so that a run of 2^31 takes no memory.
type hybrid struct {
	data  []byte // what follows the current run
	width int    // bits of a number, at most 32

	left   int    // numbers of the current run still to come
	value  uint32 // they are all this, or
	packed []byte // packed in this
	bit    int    // from this bit on
}

// levelWidth is the number of bits that hold the levels 0 to greatest.
func levelWidth(greatest int) int { return bits.Len(uint(greatest)) }

func (h *hybrid) reset(data []byte, width int) {
	*h = hybrid{data: data, width: width}
	if width == 0 {
		h.left = math.MaxInt // all are 0
	}
}

// resetPacked makes h read count numbers that are packed without a header, as PLAIN does with booleans.
func (h *hybrid) resetPacked(data []byte, width int) {
	*h = hybrid{width: width, packed: data, left: len(data) * 8 / width}
}

var errRunsEnd = corrupt("its levels or indexes end early")

// run reads the header of the next run.
func (h *hybrid) run() error {
	header, n := binary.Uvarint(h.data)
	if n <= 0 {
		return errRunsEnd
	}
	h.data = h.data[n:]
	count := int(min(header>>1, math.MaxInt32))
	if header&1 == 0 {
		size := (h.width + 7) / 8
		if size > len(h.data) {
			return errRunsEnd
		}
		h.value = 0
		for i, b := range h.data[:size] {
			h.value |= uint32(b) << (8 * i)
		}
		h.data, h.left, h.packed = h.data[size:], count, nil
		return nil
	}
	// The last group of a page may be cut short by its writer.
	size := min(count*h.width, len(h.data))
	h.packed, h.data, h.bit = h.data[:size], h.data[size:], 0
	h.left = min(count*8, size*8/h.width)
	return nil
}

// same returns the next number if the next n are all equal, and takes them.
func (h *hybrid) same(n int) (uint32, bool, error) {
	for h.left == 0 {
		if err := h.run(); err != nil {
			return 0, false, err
		}
	}
	if h.packed != nil || h.left < n {
		return 0, false, nil
	}
	h.left -= n
	return h.value, true, nil
}

// levels fills dst with numbers of at most eight bits.
func (h *hybrid) levels(dst []uint8) error {
	for len(dst) > 0 {
		for h.left == 0 {
			if err := h.run(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		switch {
		case h.packed == nil:
			value := uint8(h.value)
			for i := range dst[:n] {
				dst[i] = value
			}
		case h.width == 1:
			unpackBits(dst[:n], h.packed, h.bit)
		default:
			unpack(dst[:n], h.packed, h.bit, h.width)
		}
		h.bit += n * h.width
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// indexes fills dst.
func (h *hybrid) indexes(dst []uint32) error {
	for len(dst) > 0 {
		for h.left == 0 {
			if err := h.run(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if h.packed == nil {
			for i := range dst[:n] {
				dst[i] = h.value
			}
		} else {
			unpack(dst[:n], h.packed, h.bit, h.width)
		}
		h.bit += n * h.width
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// unpack reads numbers of width bits, at most 32, from a bit on. The numbers are inside packed.
func unpack[T uint8 | uint32](dst []T, packed []byte, bit, width int) {
	mask := uint64(1)<<width - 1
	i := 0
	for ; i < len(dst); i++ {
		at := bit >> 3
		if at+8 > len(packed) {
			break
		}
		dst[i] = T(le.Uint64(packed[at:]) >> (bit & 7) & mask)
		bit += width
	}
	for ; i < len(dst); i++ {
		var word [8]byte
		copy(word[:], packed[bit>>3:])
		dst[i] = T(le.Uint64(word[:]) >> (bit & 7) & mask)
		bit += width
	}
}

// unpackBits is unpack for single bits: eight at a time.
func unpackBits(dst []uint8, packed []byte, bit int) {
	i := 0
	for ; i < len(dst) && bit&7 != 0; i++ {
		dst[i] = packed[bit>>3] >> (bit & 7) & 1
		bit++
	}
	for ; i+8 <= len(dst); i += 8 {
		b := uint64(packed[bit>>3])
		// Seven bits spread by multiplication, one to a byte; the eighth would carry into its neighbour and goes alone.
		low := b & 0x7f * 0x0002040810204081 & 0x0001010101010101
		le.PutUint64(dst[i:], low|b>>7<<56)
		bit += 8
	}
	for ; i < len(dst); i++ {
		dst[i] = packed[bit>>3] >> (bit & 7) & 1
		bit++
	}
}
