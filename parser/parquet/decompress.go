package parquet

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs are the compressions that are read. LZO and the LZ4 of Hadoop's frames are not: nobody writes them any more.
var codecs = []format.CompressionCodec{
	format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw,
}

// decompressor keeps what a codec needs from page to page.
type decompressor struct {
	input  bytes.Reader
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// run decompresses src into all of dst. More or less than fits is an error, found without keeping what is too much.
func (d *decompressor) run(codec format.CompressionCodec, dst, src []byte) (err error) {
	if len(dst) == 0 {
		return nil // some writers compress nothing to nothing
	}
	doing := "decompressing " + codec.String()
	defer recovered(&err, doing)
	switch codec {
	case format.Uncompressed:
		if len(src) != len(dst) {
			err = errSize
		}
		copy(dst, src)
	case format.Snappy:
		err = d.snappy(dst, src)
	case format.Gzip:
		err = d.inflate(dst, src)
	case format.Brotli:
		d.input.Reset(src)
		if d.brotli == nil {
			d.brotli = brotli.NewReader(&d.input)
		} else if err = d.brotli.Reset(&d.input); err != nil {
			break
		}
		err = fill(d.brotli, dst)
	case format.Zstd:
		err = d.unzstd(dst, src)
	case format.Lz4Raw:
		var n int
		if n, err = lz4.UncompressBlock(src, dst); err == nil && n != len(dst) {
			err = errSize
		}
	default:
		return unsupported("compression %s", codec)
	}
	if err != nil {
		return &problem{kind: Corrupt, reason: doing, err: err}
	}
	return nil
}

var errSize = errors.New("its size is not the one that its header declares")

// fill reads all of dst, and then the end.
func fill(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errSize
		}
		return err
	}
	var more [1]byte
	switch _, err := io.ReadFull(r, more[:]); {
	case err == nil:
		return errSize
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

func (d *decompressor) snappy(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return errSize
	}
	_, err = snappy.Decode(dst, src)
	return err
}

func (d *decompressor) inflate(dst, src []byte) error {
	d.input.Reset(src)
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	if err := d.gzip.Reset(&d.input); err != nil {
		return err
	}
	return fill(d.gzip, dst)
}

func (d *decompressor) unzstd(dst, src []byte) error {
	if d.zstd == nil {
		// It decodes into the room of dst and no further.
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(out) != len(dst) {
		err = errSize
	}
	return err
}

// close lets the codecs go.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}
