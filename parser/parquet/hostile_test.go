package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// memoryOf runs f and returns what it allocated in all.
func memoryOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// refused reads a file that must end in one error of a kind, having allocated little.
func refused(t *testing.T, name string, data []byte, kind Kind, want string) {
	t.Helper()
	var err error
	used := memoryOf(func() { _, err = rowsOf(t, data) })
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != kind || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want an error of kind %d: %s", name, err, kind, want)
	}
	if used > 8<<20 {
		t.Errorf("%s: took %d bytes", name, used)
	}
}

func header(edit func(*format.PageHeader)) func(craftedPage) craftedPage {
	return func(p craftedPage) craftedPage {
		edit(&p.header)
		return p
	}
}

func TestPage_ThatLies(t *testing.T) {
	i32, text := leafOf("c", format.Int32, must), leafOf("c", format.ByteArray, must)
	plain := pageV1(required(2), 0, 0, format.Plain, int32s(1, 2))
	maybe := pageV1([]level{{0, 1}, {0, 1}}, 0, 1, format.Plain, int32s(1, 2))
	two := pageV2(required(2), 0, 0, format.Plain, int32s(1, 2))
	dictionary := func(encoding format.Encoding, count int32, body []byte) craftedPage {
		p := craftedPage{body: body, header: format.PageHeader{Type: format.DictionaryPage}}
		p.header.DictionaryPageHeader.Valid = true
		p.header.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: count, Encoding: encoding}
		return p
	}
	indexed := func(body ...byte) craftedPage { return pageV1(required(2), 0, 0, format.RLEDictionary, body) }
	encoded := func(e format.Encoding, body []byte) craftedPage { return pageV1(required(2), 0, 0, e, body) }
	uvarints := func(values ...uint64) []byte {
		var b []byte
		for _, v := range values {
			b = binary.AppendUvarint(b, v)
		}
		return b
	}
	for _, test := range []struct {
		name   string
		column format.SchemaElement
		pages  []craftedPage
		kind   Kind
		want   string
	}{
		{"2^31-1 bytes", i32, []craftedPage{header(func(h *format.PageHeader) { h.CompressedPageSize = math.MaxInt32 })(plain)}, Limit, "declares 2147483647 bytes, 8 uncompressed; at most 67108864 are allowed"},
		{"2^31-1 bytes uncompressed", i32, []craftedPage{header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })(plain)}, Limit, "declares 8 bytes, 2147483647 uncompressed"},
		{"2^31-1 bytes, version 2", i32, []craftedPage{header(func(h *format.PageHeader) { h.UncompressedPageSize = math.MaxInt32 })(two)}, Limit, "2147483647 uncompressed"},
		{"negative sizes", i32, []craftedPage{header(func(h *format.PageHeader) { h.CompressedPageSize = -1 })(plain)}, Corrupt, "declares -1 bytes"},
		{"64 MiB that are not there", i32, []craftedPage{header(func(h *format.PageHeader) { h.CompressedPageSize = 64 << 20 })(plain)}, Corrupt, "go beyond the end of the column chunk"},
		{"more uncompressed than there is", i32, []craftedPage{header(func(h *format.PageHeader) { h.UncompressedPageSize = 9 })(plain)}, Corrupt, "its size is not the one that its header declares"},
		{"2^31-1 values", i32, []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = math.MaxInt32 })(plain)}, Corrupt, "a page of 2147483647 values"},
		{"negative values", i32, []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeader.V.NumValues = -1 })(plain)}, Corrupt, "a page of -1 values"},
		{"more rows than values", i32, []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeaderV2.V.NumRows = 3; h.DataPageHeaderV2.V.NumValues = 3 })(two)}, Corrupt, "a page of 3 values"},
		{"too few pages", i32, []craftedPage{pageV1(required(1), 0, 0, format.Plain, int32s(1))}, Corrupt, "reading a page header: structure ends early"},
		{"too few values", i32, []craftedPage{pageV1(required(2), 0, 0, format.Plain, int32s(1))}, Corrupt, "its values end early"},
		{"a count beyond the page", text, []craftedPage{encoded(format.Plain, []byte{255, 255, 255, 255, 1})}, Corrupt, "its values end early"},
		{"no header of its own", i32, []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeader.Valid = false })(plain)}, Corrupt, "without its header"},
		{"an unknown page type", i32, []craftedPage{header(func(h *format.PageHeader) { h.Type = 9 })(plain)}, Corrupt, "unknown type 9"},
		{"a wrong checksum", i32, []craftedPage{header(func(h *format.PageHeader) { h.CRC = 1 })(plain)}, Corrupt, "its header says 00000001"},
		{"levels beyond the page", leafOf("c", format.Int32, optional), []craftedPage{plain}, Corrupt, "its levels or indexes end early"},
		{"levels of an old encoding", leafOf("c", format.Int32, optional), []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked })(maybe)}, Unsupported, "levels encoded as BIT_PACKED"},
		{"levels of version 2 beyond the page", i32, []craftedPage{header(func(h *format.PageHeader) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1 << 30 })(two)}, Corrupt, "levels of 0 and 1073741824 bytes"},
		{"a level that is too high", leafOf("c", format.Int32, optional), []craftedPage{pageV1([]level{{0, 1}, {0, 7}}, 0, 1, format.Plain, int32s(1, 2))}, Corrupt, "definition level of 7"},
		{"an index without a dictionary", i32, []craftedPage{indexed(1, 2<<1, 0)}, Corrupt, "indexes without a dictionary"},
		{"an index beyond the dictionary", i32, []craftedPage{dictionary(format.Plain, 1, int32s(7)), indexed(1, 2<<1, 1)}, Corrupt, "index 1 into a dictionary of 1 values"},
		{"indexes of 33 bits", i32, []craftedPage{dictionary(format.Plain, 1, int32s(7)), indexed(33, 2<<1, 1)}, Corrupt, "indexes of 33 bits"},
		{"two dictionaries", i32, []craftedPage{dictionary(format.Plain, 1, int32s(7)), dictionary(format.Plain, 1, int32s(7)), plain}, Corrupt, "a second dictionary"},
		{"a dictionary of 2^31-1 values", i32, []craftedPage{dictionary(format.Plain, math.MaxInt32, int32s(7))}, Corrupt, "a dictionary of 2147483647 values"},
		{"a dictionary of 2^31-1 texts", text, []craftedPage{dictionary(format.Plain, math.MaxInt32, byteArrays("x"))}, Corrupt, "a dictionary of 2147483647 values"},
		{"a dictionary of -1 values", i32, []craftedPage{dictionary(format.Plain, -1, int32s(7))}, Corrupt, "a dictionary of -1 values"},
		{"a dictionary whose text goes beyond it", text, []craftedPage{dictionary(format.Plain, 1, []byte{9, 0, 0, 0, 'x'})}, Corrupt, "value 0 goes beyond its end"},
		{"a dictionary in another encoding", i32, []craftedPage{dictionary(format.DeltaBinaryPacked, 1, int32s(7))}, Unsupported, "a dictionary encoded as DELTA_BINARY_PACKED"},
		{"an unknown encoding", i32, []craftedPage{encoded(77, int32s(1, 2))}, Unsupported, "(77)"},
		{"an encoding for another type", text, []craftedPage{encoded(format.DeltaBinaryPacked, int32s(1, 2))}, Unsupported, "BYTE_ARRAY encoded as DELTA_BINARY_PACKED"},
		{"RLE of integers", i32, []craftedPage{encoded(format.RLE, int32s(1, 2))}, Corrupt, "INT32 encoded as RLE"},
		{"2^60 deltas", i32, []craftedPage{encoded(format.DeltaBinaryPacked, uvarints(128, 4, 1<<60, 0))}, Limit, "a delta sequence of 1152921504606846976 values"},
		{"deltas in no blocks", i32, []craftedPage{encoded(format.DeltaBinaryPacked, uvarints(0, 0, 2, 0))}, Corrupt, "blocks of 0 values"},
		{"deltas of 65 bits", i32, []craftedPage{encoded(format.DeltaBinaryPacked, append(uvarints(128, 4, 2, 0, 0), 65, 0, 0, 0))}, Corrupt, "deltas of 65 bits"},
		{"deltas that end early", i32, []craftedPage{encoded(format.DeltaBinaryPacked, append(uvarints(128, 4, 100, 0, 0), 64, 64, 64, 64, 1))}, Corrupt, "a delta sequence ends early"},
		{"a negative length", text, []craftedPage{encoded(format.DeltaLengthByteArray, uvarints(128, 4, 1, 1))}, Corrupt, "a length of -1"},
		{"a length beyond the page", text, []craftedPage{encoded(format.DeltaLengthByteArray, uvarints(128, 4, 1, 200))}, Corrupt, "a value of 100 bytes where 0 are left"},
		{"a prefix of what is not there", text, []craftedPage{encoded(format.DeltaByteArray, append(uvarints(128, 4, 1, 10), uvarints(128, 4, 1, 0)...))}, Corrupt, "shares 5 bytes of 0"},
		{"prefixes without suffixes", text, []craftedPage{encoded(format.DeltaByteArray, append(uvarints(128, 4, 1, 0), uvarints(128, 4, 0, 0)...))}, Corrupt, "1 prefixes for 0 suffixes"},
		{"streams of uneven length", i32, []craftedPage{encoded(format.ByteStreamSplit, []byte{1, 2, 3, 4, 5})}, Corrupt, "5 bytes are no number of values of 4"},
	} {
		c := craft{schema: []format.SchemaElement{test.column}, rows: 2, chunks: []craftedChunk{{values: 2, pages: test.pages}}}
		refused(t, test.name, c.build(t), test.kind, test.want)
	}
}

// Little input that becomes much: it is found out before it is there.
func TestPage_ThatGrows(t *testing.T) {
	zeros := make([]byte, 32<<20)
	var gzipped bytes.Buffer
	w := gzip.NewWriter(&gzipped)
	if _, err := w.Write(zeros); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	i32 := leafOf("c", format.Int32, must)
	for codec, body := range map[format.CompressionCodec][]byte{
		format.Gzip: gzipped.Bytes(), format.Zstd: z.EncodeAll(zeros, nil), format.Snappy: snappy.Encode(nil, zeros), format.Lz4Raw: append([]byte{0x0f, 0, 0}, bytes.Repeat([]byte{255}, 1000)...),
		format.Brotli: []byte("\x0b\x00\x80\x00\x03"),
	} {
		page := pageV1(required(2), 0, 0, format.Plain, body)
		page.header.UncompressedPageSize = 8
		c := craft{schema: []format.SchemaElement{i32}, rows: 2, chunks: []craftedChunk{{values: 2, codec: codec, pages: []craftedPage{page}}}}
		refused(t, codec.String(), c.build(t), Corrupt, "decompressing "+codec.String())
	}
	// Each value is all of the one before and a byte more: a thousand times its size.
	deltas := expander{limit: 1 << 20}
	n := 20_000
	prefixes, suffixes := binaryPacked(func(i int) int { return i }, n), binaryPacked(func(int) int { return 1 }, n)
	_, err = deltas.deltaBytes(nil, append(append(prefixes, suffixes...), make([]byte, n)...), 0)
	if err == nil || !strings.Contains(err.Error(), "its values take more than 1048576 bytes") {
		t.Errorf("prefixes of growing length: %v", err)
	}
}

// binaryPacked encodes numbers as DELTA_BINARY_PACKED with one block of one delta each: correct, if wasteful.
func binaryPacked(of func(int) int, n int) []byte {
	b := binary.AppendUvarint(nil, 8)
	b = binary.AppendUvarint(b, 1)
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendVarint(b, int64(of(0)))
	for i := 1; i < n; i += 8 {
		// All deltas of these sequences are equal.
		b = append(binary.AppendVarint(b, int64(of(1)-of(0))), 0)
	}
	return b
}

// Long runs in a few bytes are legal; they are handed out as rows, not laid out in memory.
func TestRows_OfALongRun(t *testing.T) {
	const n = 1 << 24
	page := pageV1(nil, 0, 1, format.Plain, nil)
	page.body = behindLength(append(binary.AppendUvarint(nil, n<<1), 0))
	page.header.DataPageHeader.V.NumValues = n
	c := craft{schema: []format.SchemaElement{leafOf("c", format.Int32, optional)}, rows: n, chunks: []craftedChunk{{values: n, pages: []craftedPage{page}}}}
	f := open(t, c.build(t))
	used := memoryOf(func() {
		r, err := f.Rows(0, n-3)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for ; r.Next() == nil; rows++ {
			if got, err := appendRow(nil, f, r); err != nil || string(got) != `{"c":null}` {
				t.Fatalf("got %s, %v", got, err)
			}
		}
		if rows != 3 {
			t.Errorf("got %d rows, want 3", rows)
		}
	})
	if used > 4<<20 {
		t.Errorf("took %d bytes", used)
	}
}

func TestRows_LargerThanTheLimit(t *testing.T) {
	const n = 1 << 22
	page := pageV1(nil, 1, 1, format.Plain, nil)
	reps := append([]byte{1 << 1, 0}, append(binary.AppendUvarint(nil, (n-1)<<1), 1)...)
	defs := append(binary.AppendUvarint(nil, n<<1), 1)
	page.body = append(append(behindLength(reps), behindLength(defs)...), make([]byte, 4*n)...)
	page.header.DataPageHeader.V.NumValues = n
	c := craft{schema: []format.SchemaElement{leafOf("c", format.Int32, repeated)}, rows: 1, chunks: []craftedChunk{{values: n, pages: []craftedPage{page}}}}
	data := c.build(t)
	f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{Row: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(f, 0, 0)
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != Limit || !strings.Contains(err.Error(), "row 0 takes more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
	f, err = Open(bytes.NewReader(data), int64(len(data)), Limits{Pages: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(f, 0, 0)
	if !errors.As(err, &fault) || fault.Kind != Limit || !strings.Contains(err.Error(), "the pages open together take more than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// Columns of one group that contradict each other.
func TestRows_WhoseColumnsDisagree(t *testing.T) {
	schema := []format.SchemaElement{groupOf("g", 2, repeated), leafOf("a", format.Int32, must), leafOf("b", format.Int32, must)}
	for name, second := range map[string][]level{
		"fewer elements":       {{0, 1}, {0, 1}},
		"more elements":        {{0, 1}, {1, 1}, {1, 1}, {0, 1}},
		"none at all":          {{0, 0}, {0, 1}},
		"a row too much":       {{0, 1}, {1, 1}, {0, 1}, {0, 1}},
		"begins inside of one": {{1, 1}, {1, 1}, {0, 1}, {0, 1}},
	} {
		first := []level{{0, 1}, {1, 1}, {0, 1}}
		c := craft{schema: schema, rows: 2, chunks: []craftedChunk{
			{values: 3, pages: []craftedPage{pageV1(first, 1, 1, format.Plain, int32s(1, 2, 3))}},
			{values: int64(len(second)), pages: []craftedPage{pageV1(second, 1, 1, format.Plain, int32s(1, 2, 3, 4))}},
		}}
		data := c.build(t)
		got, err := rowsOf(t, data)
		if name == "a row too much" && err == nil {
			t.Errorf("%s: got %q", name, got)
		}
		var fault *Error
		if !errors.As(err, &fault) || fault.Kind != Corrupt {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestOpen_RefusesFooters(t *testing.T) {
	good := oneColumn(leafOf("c", format.Int32, must), 2, int32s(1, 2))
	edited := func(edit func(*format.FileMetaData)) []byte {
		c := *good
		c.edit = edit
		return c.build(t)
	}
	chunk := func(edit func(*format.ColumnChunk)) []byte {
		return edited(func(m *format.FileMetaData) { edit(&m.RowGroups[0].Columns[0]) })
	}
	list := func(head ...byte) []byte { return closed([]byte(magic), head) }
	for _, test := range []struct {
		name string
		data []byte
		kind Kind
		want string
	}{
		{"no bytes", nil, Corrupt, "0 bytes are too few"},
		{"no magic", []byte("PAR1 but no end of it"), Corrupt, "not a Parquet file, or cut short"},
		{"a length beyond the file", append([]byte(magic), "\xff\xff\xff\x7fPAR1"...), Corrupt, "claims 2147483647 bytes of a file of 12"},
		{"an encrypted footer", []byte("PARE0000\x04\x00\x00\x00PARE"), Unsupported, "its footer is encrypted"},
		{"no footer", closed([]byte(magic), nil), Corrupt, "structure ends early"},
		{"a list of 2^31-1", list(0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0), Corrupt, "structure ends early"},
		{"a string of 2^31-1", list(0x68, 0xff, 0xff, 0xff, 0xff, 0x07, 0), Corrupt, "structure ends early"},
		{"structures without end", list(bytes.Repeat([]byte{0x1c}, 100)...), Corrupt, "nest too deep"},
		{"a map", list(0x1b, 0x01, 0x55, 0, 0, 0), Corrupt, "a map where the format has none"},
		{"bytes behind the footer", closed([]byte(magic), append(marshal(t, &format.FileMetaData{}), 1, 2, 3)), Corrupt, "has 3 bytes behind its end"},
		{"no schema", closed([]byte(magic), marshal(t, &format.FileMetaData{})), Corrupt, "it has no schema"},
		{"negative rows", edited(func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }), Corrupt, "claims -1 rows"},
		{"other rows than its groups", edited(func(m *format.FileMetaData) { m.NumRows = 7 }), Corrupt, "its row groups have 2 rows, its footer claims 7"},
		{"too few columns", edited(func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil }), Corrupt, "row group 0 has 0 columns, the schema 1"},
		{"too many children", edited(func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 9 }), Corrupt, "claims 9 fields"},
		{"too few children", edited(func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 0 }), Corrupt, "1 elements too many"},
		{"another type", chunk(func(c *format.ColumnChunk) { c.MetaData.Type = format.Int64 }), Corrupt, "it holds INT64, the schema says INT32"},
		{"too few values", chunk(func(c *format.ColumnChunk) { c.MetaData.NumValues = 0 }), Corrupt, "it has 0 values for 2 rows"},
		{"a place beyond the file", chunk(func(c *format.ColumnChunk) { c.MetaData.DataPageOffset = 1 << 40 }), Corrupt, "are not inside the file"},
		{"a negative place", chunk(func(c *format.ColumnChunk) { c.MetaData.DataPageOffset = -5 }), Corrupt, "are not inside the file"},
		{"a size beyond the file", chunk(func(c *format.ColumnChunk) { c.MetaData.TotalCompressedSize = math.MaxInt64 }), Corrupt, "are not inside the file"},
		{"LZO", chunk(func(c *format.ColumnChunk) { c.MetaData.Codec = format.LZO }), Unsupported, "reading column c, row group 0: compression LZO"},
		{"LZ4 in Hadoop's frames", chunk(func(c *format.ColumnChunk) { c.MetaData.Codec = format.Lz4 }), Unsupported, "compression LZ4"},
		{"another file", chunk(func(c *format.ColumnChunk) { c.FilePath = "x.parquet" }), Unsupported, `it lies in another file, "x.parquet"`},
		{"an encrypted column", chunk(func(c *format.ColumnChunk) { c.CryptoMetadata.Value = new(format.EncryptionWithFooterKey) }), Unsupported, "reading column c, row group 0: it is encrypted"},
		{"encrypted metadata", chunk(func(c *format.ColumnChunk) { c.EncryptedColumnMetadata = []byte{1} }), Unsupported, "it is encrypted"},
	} {
		refused(t, test.name, test.data, test.kind, test.want)
	}
	// A footer that is small, and large once it is decoded.
	many := closed([]byte(magic), append([]byte{0x49, 0xfc}, append(binary.AppendUvarint(nil, 3<<20), make([]byte, 3<<20)...)...))
	refused(t, "three million row groups", many, Limit, "its structures take more memory than allowed")
}

func TestOpen_RefusesWhatIsEncryptedOrVariant(t *testing.T) {
	for name, want := range map[string]string{
		"encrypted-footer.parquet": "its footer is encrypted", "encrypted-column.parquet": "it is encrypted", "duckdb-variant.parquet": "column v is a VARIANT",
	} {
		data := read(t, filepath.Join("testdata/files", name))
		refused(t, name, data, Unsupported, want)
	}
}

func TestRows_RefusesPlacesThatAreNotThere(t *testing.T) {
	f := open(t, oneColumn(leafOf("c", format.Int32, must), 2, int32s(1, 2)).build(t))
	for _, place := range [][2]int64{{-1, 0}, {0, -1}, {0, 3}, {1, 1}, {2, 0}} {
		if _, err := f.Rows(int(place[0]), place[1]); err == nil {
			t.Errorf("row group %d, row %d: no error", place[0], place[1])
		}
	}
	if got, err := readAll(f, 0, 2); err != nil || len(got) != 0 {
		t.Errorf("from the end: %q, %v", got, err)
	}
	if got, err := readAll(f, 1, 0); err != nil || len(got) != 0 {
		t.Errorf("from behind the last group: %q, %v", got, err)
	}
}

// A file without columns has rows all the same.
func TestRows_WithoutColumns(t *testing.T) {
	c := craft{rows: 3}
	if got, err := rowsOf(t, c.build(t)); err != nil || strings.Join(got, "") != "{}{}{}" {
		t.Errorf("got %q, %v", got, err)
	}
}

type failing struct {
	*bytes.Reader
	after int
}

var errBroken = errors.New("broken pipe")

func (f *failing) ReadAt(b []byte, at int64) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errBroken
	}
	return f.Reader.ReadAt(b, at)
}

func TestRows_SayWhenReadingFails(t *testing.T) {
	data := read(t, "testdata/files/encodings-plain-v1.parquet")
	for after := range 3 {
		f, err := Open(&failing{bytes.NewReader(data), after}, int64(len(data)), Limits{})
		if err == nil {
			_, err = readAll(f, 0, 0)
		}
		var fault *Error
		if !errors.As(err, &fault) || fault.Kind != IO || !errors.Is(err, errBroken) {
			t.Errorf("after %d reads: got %v", after, err)
		}
	}
}

// Every cut of a file is an error, except of what is behind it.
func TestOpen_RefusesWhatIsCutShort(t *testing.T) {
	data := oneColumn(leafOf("c", format.Int32, must), 2, int32s(1, 2)).build(t)
	for n := range len(data) {
		if got, err := rowsOf(t, data[:n]); err == nil {
			t.Errorf("the first %d bytes of %d are the rows %q", n, len(data), got)
		}
	}
	// The same end behind less: offsets point elsewhere.
	for n := 1; n < 20; n++ {
		if got, err := rowsOf(t, append([]byte(magic), data[4+n:]...)); err == nil {
			t.Errorf("without %d bytes in the middle it has the rows %q", n, got)
		}
	}
}

// read reads bytes of a stranger with small limits and says whether that ended well.
func consume(t *testing.T, data []byte) {
	f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{Memory: 8 << 20, Page: 1 << 20, Pages: 8 << 20, Row: 1 << 20, Columns: 1000})
	if err != nil {
		var fault *Error
		if !errors.As(err, &fault) {
			t.Fatalf("%v is not an *Error", err)
		}
		return
	}
	_ = f.JSONSchema()
	r, err := f.Rows(0, 0)
	if err != nil {
		return
	}
	defer r.Close()
	var dst []byte
	for range 3000 {
		if err := r.Next(); err != nil {
			var fault *Error
			if !errors.Is(err, io.EOF) && !errors.As(err, &fault) {
				t.Fatalf("%v is not an *Error", err)
			}
			return
		}
		dst, err = appendRow(dst[:0], f, r)
		var value *ValueError
		switch {
		case errors.As(err, &value):
		case err != nil:
			return
		case !validJSON(dst):
			t.Fatalf("a row is %q", dst)
		}
	}
}

func FuzzFile(f *testing.F) {
	paths, err := filepath.Glob("testdata/files/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 24<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { consume(t, data) })
}

// FuzzPage puts bytes where values, levels or a dictionary are.
func FuzzPage(f *testing.F) {
	for _, seed := range []struct {
		body     []byte
		encoding uint8
		shape    uint8
	}{
		{int32s(1, 2, 3), 0, 0},
		{[]byte{2, 2<<1 | 1, 0b10000100, 0b10001000, 0, 0}, 8, 1},
		{binaryPacked(func(i int) int { return i }, 40), 5, 0},
		{append(binaryPacked(func(int) int { return 1 }, 9), "abcdefghi"...), 6, 2},
		{byteArrays("a", "b"), 0, 2},
		{int32s(1, 2, 3, 4), 9, 0},
		{append(append(binaryPacked(func(i int) int { return i }, 8), binaryPacked(func(int) int { return 1 }, 8)...), "abcdefgh"...), 7, 2},
		{append(behindLength([]byte{4 << 1, 1}), int32s(1, 2, 3, 4)...), 0, 4},
		{behindLength([]byte{20<<1 | 1, 0xaa, 0xff}), 3, 3},
		{append(append(behindLength([]byte{1 << 1, 0, 3 << 1, 1}), behindLength([]byte{4 << 1, 2})...), int32s(1, 2, 3, 4)...), 0, 8},
	} {
		f.Add(seed.body, seed.encoding, seed.shape)
	}
	f.Fuzz(func(t *testing.T, body []byte, encoding, shape uint8) {
		column := leafOf("c", []format.Type{format.Int32, format.Int64, format.ByteArray, format.Boolean}[shape&3], []format.FieldRepetitionType{must, optional, repeated}[shape>>2%3])
		if shape&64 != 0 && column.Type.V == format.ByteArray {
			column = logical(column, new(format.StringType))
		}
		maxRep, maxDef := 0, 0
		if column.RepetitionType.V != must {
			maxDef = 1
		}
		if column.RepetitionType.V == repeated {
			maxRep = 1
		}
		const n = 50
		page := pageV1(nil, 0, 0, format.Encoding(encoding), body)
		page.header.DataPageHeader.V.NumValues = n
		if shape&128 != 0 && len(body) > 2 {
			page = pageV2(nil, 0, 0, format.Encoding(encoding), body[2:])
			v := &page.header.DataPageHeaderV2.V
			v.NumValues, v.NumRows = n, n
			v.RepetitionLevelsByteLength, v.DefinitionLevelsByteLength = int32(body[0])*int32(maxRep), int32(body[1])*int32(maxDef)
		}
		dict := craftedPage{body: body, header: format.PageHeader{Type: format.DictionaryPage}}
		dict.header.DictionaryPageHeader.Valid = true
		dict.header.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: int32(shape >> 4)}
		pages := []craftedPage{page}
		if encoding == 8 && column.Type.V != format.Boolean {
			pages = []craftedPage{dict, page}
		}
		c := craft{schema: []format.SchemaElement{column}, rows: n, chunks: []craftedChunk{{values: n, pages: pages}}}
		consume(t, c.build(t))
	})
}

// Elements of inner lists that end at different places, though there are as many of them.
func TestRows_WhoseInnerListsDisagree(t *testing.T) {
	schema := []format.SchemaElement{
		groupOf("g", 1, repeated), groupOf("h", 2, repeated), leafOf("a", format.Int32, must), leafOf("b", format.Int32, must),
	}
	c := craft{schema: schema, rows: 1, chunks: []craftedChunk{
		{values: 3, pages: []craftedPage{pageV1([]level{{0, 2}, {2, 2}, {1, 2}}, 2, 2, format.Plain, int32s(1, 2, 3))}},
		{values: 3, pages: []craftedPage{pageV1([]level{{0, 2}, {1, 2}, {2, 2}}, 2, 2, format.Plain, int32s(1, 2, 3))}},
	}}
	refused(t, "inner lists", c.build(t), Corrupt, "row 0: its columns disagree about what is there")
}

// Pages of a row group that was read are not counted with those of the next.
func TestRows_LimitPagesOfOneRowGroup(t *testing.T) {
	const n, groups = 1000, 5
	c := oneColumn(leafOf("c", format.Int32, must), n, make([]byte, 4*n))
	c.edit = func(m *format.FileMetaData) {
		m.NumRows = n * groups
		for range groups - 1 {
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}
	}
	data := c.build(t)
	f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{Pages: 4 * n})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(f, 0, 0); err != nil || len(got) != n*groups {
		t.Errorf("got %d rows, %v", len(got), err)
	}
}

// Old versions of parquet-mr count the header of the dictionary's page only in the offset (PARQUET-816).
func TestOpen_ReadsChunksThatAreLongerThanTheySay(t *testing.T) {
	c := oneColumn(leafOf("c", format.Int32, must), 2, int32s(1, 2))
	for writer, readable := range map[string]bool{"parquet-mr version 1.2.8": true, "another": false} {
		c.edit = func(m *format.FileMetaData) {
			m.CreatedBy = writer
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize -= 5
		}
		got, err := rowsOf(t, c.build(t))
		if (err == nil) != readable || readable && len(got) != 2 {
			t.Errorf("%s: got %q, %v", writer, got, err)
		}
	}
}

// Statistics make page headers long; beyond a limit they are refused.
func TestPage_WithLongStatistics(t *testing.T) {
	for size, want := range map[int]bool{10: true, 5_000: true, 200_000: true, 2_000_000: false} {
		page := pageV1(required(2), 0, 0, format.Plain, int32s(1, 2))
		page.header.DataPageHeader.V.Statistics.MaxValue = bytes.Repeat([]byte("x"), size)
		c := craft{schema: []format.SchemaElement{leafOf("c", format.Int32, must)}, rows: 2, chunks: []craftedChunk{{values: 2, pages: []craftedPage{page}}}}
		got, err := rowsOf(t, c.build(t))
		if (err == nil) != want || want && strings.Join(got, "") != `{"c":1}{"c":2}` {
			t.Errorf("%d bytes: got %q, %v", size, got, err)
		}
	}
}

// What panics in another package is an error of the file.
func TestRecovered_MakesAnErrorOfAPanic(t *testing.T) {
	decode := func() (err error) {
		defer recovered(&err, "decoding the footer")
		panic("index out of range")
	}
	var fault *Error
	if err := located(decode(), "", -1, -1); !errors.As(err, &fault) || fault.Kind != Corrupt || err.Error() != "reading parquet file: decoding the footer: index out of range" {
		t.Errorf("got %v", err)
	}
}
