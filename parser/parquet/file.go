package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// File is an open file: its schema and where its pages lie. Several Rows may read it at once if the io.ReaderAt allows that.
type File struct {
	r      io.ReaderAt
	size   int64
	limits Limits
	root   *node
	leaves []*leaf
	groups []group

	javaWriter bool // the file is one of parquet-mr
}

// group is a row group.
type group struct {
	rows   int64
	chunks []chunk // one for each leaf
}

// chunk is where a column's pages of one row group lie.
type chunk struct {
	start, end int64
	values     int64 // nulls included
	codec      format.CompressionCodec
}

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
	tailSize       = 8        // length of the footer, magic
	firstRead      = 64 << 10 // most footers fit
)

// Open reads the footer of a file of size bytes. Errors are *Error.
func Open(r io.ReaderAt, size int64, limits Limits) (*File, error) {
	f := &File{r: r, size: size, limits: limits.withDefaults()}
	if err := f.open(); err != nil {
		return nil, located(err, "", -1, -1)
	}
	return f, nil
}

func (f *File) open() error {
	footer, err := f.readFooter()
	if err != nil {
		return err
	}
	n, err := checkThrift(footer, f.limits.Memory)
	if err != nil {
		var p *problem
		if errors.As(err, &p) {
			return err
		}
		return &problem{kind: Corrupt, reason: "checking the footer", err: err}
	}
	meta, err := decodeFooter(footer[:n])
	if err != nil {
		return err
	}
	// A plain footer that is signed is followed by nonce and tag (Encryption.md).
	if meta.EncryptionAlgorithm.Value != nil || n == len(footer)-28 {
		return unsupported("it is encrypted, at least in part")
	}
	if n != len(footer) {
		return corrupt("the footer has %d bytes behind its end", len(footer)-n)
	}
	if err := f.readSchema(meta.Schema); err != nil {
		return err
	}
	return f.readGroups(meta)
}

// readFooter gets the bytes of the footer.
func (f *File) readFooter() ([]byte, error) {
	if f.size < int64(len(magic)+tailSize) {
		return nil, corrupt("%d bytes are too few for a Parquet file", f.size)
	}
	tail := make([]byte, min(f.size, firstRead))
	if err := readAt(f.r, tail, f.size-int64(len(tail))); err != nil {
		return nil, err
	}
	last := tail[len(tail)-tailSize:]
	switch string(last[4:]) {
	case magic:
	case encryptedMagic:
		return nil, unsupported("its footer is encrypted")
	default:
		return nil, corrupt("it ends with %q instead of PAR1: not a Parquet file, or cut short", last[4:])
	}
	length := int64(binary.LittleEndian.Uint32(last))
	if length > f.size-int64(len(magic)+tailSize) {
		return nil, corrupt("its footer claims %d bytes of a file of %d", length, f.size)
	}
	if length > int64(f.limits.Footer) {
		return nil, tooLarge("its footer of %d bytes exceeds %d", length, f.limits.Footer)
	}
	if length <= int64(len(tail)-tailSize) {
		return tail[len(tail)-tailSize-int(length) : len(tail)-tailSize], nil
	}
	footer := make([]byte, length)
	return footer, readAt(f.r, footer, f.size-tailSize-length)
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return &problem{kind: IO, reason: fmt.Sprintf("reading %d bytes at %d", len(b), at), err: err}
}

func decodeFooter(b []byte) (meta *format.FileMetaData, err error) {
	defer recovered(&err, "decoding the footer")
	meta = new(format.FileMetaData)
	if err = thrift.Unmarshal(new(thrift.CompactProtocol), b, meta); err != nil {
		return nil, &problem{kind: Corrupt, reason: "decoding the footer", err: err}
	}
	return meta, nil
}

func (f *File) readGroups(meta *format.FileMetaData) error {
	f.javaWriter = strings.HasPrefix(meta.CreatedBy, "parquet-mr")
	f.groups = make([]group, len(meta.RowGroups))
	chunks := make([]chunk, len(meta.RowGroups)*len(f.leaves))
	var total int64
	for i := range meta.RowGroups {
		from := &meta.RowGroups[i]
		if from.NumRows < 0 || total+from.NumRows < total {
			return corrupt("row group %d claims %d rows", i, from.NumRows)
		}
		if len(from.Columns) != len(f.leaves) {
			return corrupt("row group %d has %d columns, the schema %d", i, len(from.Columns), len(f.leaves))
		}
		total += from.NumRows
		to := &f.groups[i]
		to.rows, to.chunks = from.NumRows, chunks[i*len(f.leaves):(i+1)*len(f.leaves)]
		for j := range from.Columns {
			var err error
			if to.chunks[j], err = f.chunk(f.leaves[j], &from.Columns[j], from.NumRows); err != nil {
				return located(err, f.leaves[j].path, i, -1)
			}
		}
	}
	if total != meta.NumRows {
		return corrupt("its row groups have %d rows, its footer claims %d", total, meta.NumRows)
	}
	return nil
}

func (f *File) chunk(l *leaf, from *format.ColumnChunk, rows int64) (chunk, error) {
	meta := &from.MetaData
	switch {
	case from.CryptoMetadata.Value != nil || len(from.EncryptedColumnMetadata) > 0:
		return chunk{}, unsupported("it is encrypted")
	case from.FilePath != "":
		return chunk{}, unsupported("it lies in another file, %q", from.FilePath)
	case meta.Type != l.physical:
		return chunk{}, corrupt("it holds %s, the schema says %s", meta.Type, l.physical)
	case meta.NumValues < 0 || l.maxRep == 0 && meta.NumValues != rows || meta.NumValues < rows:
		return chunk{}, corrupt("it has %d values for %d rows", meta.NumValues, rows)
	case !slices.Contains(codecs, meta.Codec):
		return chunk{}, unsupported("compression %s", meta.Codec)
	}
	c := chunk{start: meta.DataPageOffset, values: meta.NumValues, codec: meta.Codec}
	if at := meta.DictionaryPageOffset; at > 0 && at < c.start {
		c.start = at
	}
	last := f.size - tailSize
	if c.values > 0 && (c.start < int64(len(magic)) || c.start >= last || meta.TotalCompressedSize <= 0 || meta.TotalCompressedSize > last-c.start) {
		return chunk{}, corrupt("its %d bytes at %d are not inside the file of %d", meta.TotalCompressedSize, c.start, f.size)
	}
	c.end = c.start + meta.TotalCompressedSize
	if f.javaWriter {
		// Its old versions left the header of the dictionary's page out of the sum (PARQUET-816); the number of values says when a chunk ends.
		c.end = min(c.end+100, last)
	}
	return c, nil
}

// Fields are the names of the top-level fields, in the order of the schema. No name is there twice.
func (f *File) Fields() []string {
	names := make([]string, len(f.root.children))
	for i, child := range f.root.children {
		names[i] = child.name
	}
	return names
}

// Groups is the number of row groups; some may have no rows.
func (f *File) Groups() int { return len(f.groups) }

// NumRows is the number of rows of all row groups.
func (f *File) NumRows() int64 {
	var n int64
	for i := range f.groups {
		n += f.groups[i].rows
	}
	return n
}
