package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/estuary/connectors/parser/internal/compress"
)

// codec decompresses blocks into dst[:0]. It returns errTooLarge when there is more than limit.
type codec interface {
	decompress(dst, block []byte, limit int) ([]byte, error)
}

// errTooLarge tells that a block is larger than its limit once it is decompressed.
var errTooLarge = errors.New("the block is too large")

// newCodec makes what the attribute avro.codec names.
func newCodec(name string, limits Limits) (codec, error) {
	switch name {
	case "", "null":
		return stored{}, nil
	case "deflate":
		return &deflate{}, nil
	case "snappy":
		return snappyCodec{}, nil
	case "bzip2":
		return streamed(compress.Bzip2), nil
	case "xz":
		return streamed(compress.XZ), nil
	case "zstandard":
		return newZstandard(limits)
	}
	return nil, fmt.Errorf("the codec %q is not supported: null, deflate, snappy, bzip2, xz and zstandard are", name)
}

type stored struct{}

func (stored) decompress(dst, block []byte, limit int) ([]byte, error) {
	if len(block) > limit {
		return dst, errTooLarge
	}
	return append(dst[:0], block...), nil
}

// deflate is raw deflate. What follows its end is ignored: some writers leave a part of zlib's checksum there.
type deflate struct {
	in bytes.Reader
	r  io.ReadCloser
}

func (d *deflate) decompress(dst, block []byte, limit int) ([]byte, error) {
	d.in.Reset(block)
	if d.r == nil {
		d.r = flate.NewReader(&d.in)
	} else if err := d.r.(flate.Resetter).Reset(&d.in, nil); err != nil {
		return dst, err
	}
	return readTo(dst[:0], d.r, limit)
}

// snappyCodec is snappy's block format and four bytes with the CRC-32 of what is in it.
type snappyCodec struct{}

func (snappyCodec) decompress(dst, block []byte, limit int) ([]byte, error) {
	if len(block) < 4 {
		return dst, io.ErrUnexpectedEOF
	}
	block, sum := block[:len(block)-4], binary.BigEndian.Uint32(block[len(block)-4:])
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return dst, errCorrupt
	}
	if n > limit {
		return dst, errTooLarge
	}
	dst, err = snappy.Decode(slices.Grow(dst[:0], n)[:n], block)
	switch {
	case err != nil:
		return dst, errCorrupt
	case crc32.ChecksumIEEE(dst) != sum:
		return dst, errors.New("the checksum does not match the content")
	}
	return dst, nil
}

var errCorrupt = errors.New("corrupt input")

// streamed is a codec that is used as files are compressed, with the limits that compress has for them.
type streamed compress.Format

func (s streamed) decompress(dst, block []byte, limit int) ([]byte, error) {
	r := compress.Member(compress.Format(s), bytes.NewReader(block))
	defer r.Close()
	return readTo(dst[:0], r, limit)
}

type zstandard struct{ decoder *zstd.Decoder }

func newZstandard(limits Limits) (zstandard, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderMaxMemory(uint64(limits.Block)))
	return zstandard{decoder}, err
}

func (z zstandard) decompress(dst, block []byte, limit int) ([]byte, error) {
	dst, err := z.decoder.DecodeAll(block, dst[:0])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) || len(dst) > limit {
		err = errTooLarge
	}
	return dst, err
}

// readTo appends all of r to dst, up to the limit.
func readTo(dst []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, max(len(dst), 64<<10))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > limit:
			return dst, errTooLarge
		case ended(err):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
