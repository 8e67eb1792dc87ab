package avro

import (
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/parser/internal/compress"
)

// Position is a place between two records of a file.
type Position struct {
	Byte  int64 // of the block in the file
	Block int64 // blocks before it, for errors; 0 = it is the first, or that is not known
	Index int   // records of the block before the place
}

// File reads an object container file, record by record. It is not safe for concurrent use.
type File struct {
	record
	in     *input
	header *header
	codec  codec
	start  int64  // of the block
	number int64  // of the block, from 1
	packed []byte // the block as it was read
	block  []byte // the block, decompressed
	count  int64  // of its records
	index  int64  // of the record that is next
	at     int    // of that record in block
	skip   int    // records of the first block that were read before
	failed error
}

// NewFile reads the header of a file and its schema. Its errors are *Error, those of Parse, and those of the reader.
func NewFile(r io.Reader, limits Limits) (*File, error) {
	limits = limits.withDefaults()
	in := newInput(r, 0)
	h, err := readHeader(in, limits)
	if err != nil {
		return nil, err
	}
	s, err := Parse(h.schema)
	if err != nil {
		return nil, err
	}
	c, err := newCodec(h.codec, limits)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	return &File{record: newRecord(s, limits), in: in, header: h, codec: c, start: in.at}, nil
}

// ResumeFile goes on in a file whose header has been read, at a place that Position has told; the first byte of r is the one at Position.Byte. The given
// file must not be used any more.
func ResumeFile(f *File, r io.Reader, at Position) (*File, error) {
	if at.Byte < f.header.end || at.Index < 0 || at.Block < 0 {
		return nil, fmt.Errorf("resuming an Avro file: %+v is no place in it", at)
	}
	return &File{
		record: newRecord(f.schema, f.limits), in: newInput(r, at.Byte), header: f.header, codec: f.codec,
		start: at.Byte, number: at.Block, skip: at.Index,
	}, nil
}

// Codec returns the name of the codec of its blocks.
func (f *File) Codec() string {
	if f.header.codec == "" {
		return "null"
	}
	return f.header.codec
}

// Position returns the place behind the record that Next went to last.
func (f *File) Position() Position {
	switch {
	case f.count > 0 && f.index < f.count:
		return Position{Byte: f.start, Block: f.number - 1, Index: int(f.index)}
	case f.count > 0:
		return Position{Byte: f.in.at, Block: f.number}
	}
	return Position{Byte: f.start, Block: f.number, Index: f.skip}
}

// Next goes to the next record. It returns io.EOF behind the last one; other errors are *Error and those of the reader, and final.
func (f *File) Next() error {
	if f.failed == nil {
		f.failed = f.next()
	}
	return f.failed
}

func (f *File) next() error {
	for f.index == f.count {
		if err := f.readBlock(); err != nil {
			return err
		}
		for ; f.skip > 0; f.skip-- {
			if f.index == f.count {
				return f.fault(fmt.Sprintf("the place to go on from is %d records behind the block's last, so the file is another one", f.skip), false)
			}
			if err := f.cut(); err != nil {
				return err
			}
		}
	}
	return f.cut()
}

// cut goes to the record that is next in the block.
func (f *File) cut() error {
	w := walk{b: f.block, i: f.at, limits: f.limits}
	spans, ok := f.schema.cut(&w, f.spans)
	f.spans = spans
	if !ok {
		return f.fault(fmt.Sprintf("record %d of %d: %s", f.index+1, f.count, w.reason), w.fault == faultLimit)
	}
	if rest := len(f.block) - w.i; rest > 0 && f.index+1 == f.count {
		return f.fault(fmt.Sprintf("%d bytes follow the last of %d records", rest, f.count), false)
	}
	f.datum, f.made, f.at = f.block, 0, w.i
	f.index++
	return nil
}

func (f *File) fault(reason string, limit bool) error {
	return &Error{Byte: f.start, Block: f.number, Reason: reason, Limit: limit}
}

// readBlock reads and decompresses the next block: the number of its records, its size, its bytes, the marker.
func (f *File) readBlock() error {
	start := f.in.at
	count, err := f.in.long()
	if ended(err) {
		return io.EOF
	}
	// From here on Position is that of this block.
	f.start, f.block, f.count, f.index, f.at = start, f.block[:0], 0, 0, 0
	number := f.number + 1
	if err != nil {
		return failing(err, start, number, "a block")
	}
	size, err := f.in.long()
	if err != nil {
		return failing(err, start, number, "a block")
	}
	limit := int64(f.limits.Block)
	switch {
	case count < 0 || size < 0:
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("it declares %d records and %d bytes", count, size)}
	case size > limit+limit/64: // what cannot be compressed grows a little
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("it declares %d bytes; at most %d are allowed", size, limit), Limit: true}
	}
	if f.packed, err = f.in.read(f.packed[:0], int(size)); err != nil {
		return failing(err, start, number, "a block")
	}
	var marker [16]byte
	end, err := f.in.read(marker[:0], len(marker))
	if err != nil {
		return failing(err, start, number, "a block")
	}
	if string(end) != string(f.header.sync[:]) {
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("the marker behind it, at byte %d, is not the file's: the block is broken", f.in.at-int64(len(marker)))}
	}
	return f.unpack(start, number, count)
}

func (f *File) unpack(start, number, count int64) error {
	var err error
	f.block, err = f.codec.decompress(f.block, f.packed, f.limits.Block)
	switch {
	case errors.Is(err, errTooLarge):
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("it holds more than %d bytes", f.limits.Block), Limit: true}
	case err != nil:
		var limit *compress.Error
		return &Error{
			Byte: start, Block: number, Reason: fmt.Sprintf("decompressing %d bytes with %s: %v", len(f.packed), f.Codec(), err),
			Limit: errors.As(err, &limit) && limit.Limit,
		}
	case count == 0 && len(f.block) > 0:
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("%d bytes follow the last of 0 records", len(f.block))}
	case f.schema.root.constant != nil && count > int64(f.limits.Block):
		return &Error{Byte: start, Block: number, Reason: fmt.Sprintf("it declares %d records without content; at most %d are allowed", count, f.limits.Block), Limit: true}
	}
	f.number, f.count = number, count
	return nil
}
