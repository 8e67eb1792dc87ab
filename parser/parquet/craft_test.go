package parquet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// craft is a file made by hand, for what no writer at hand writes.
type craft struct {
	schema []format.SchemaElement // without the root
	rows   int64
	chunks []craftedChunk
	edit   func(*format.FileMetaData)
}

type craftedChunk struct {
	codec  format.CompressionCodec
	values int64
	pages  []craftedPage
}

type craftedPage struct {
	header format.PageHeader
	body   []byte
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c *craft) build(t testing.TB) []byte {
	t.Helper()
	file := []byte(magic)
	meta := format.FileMetaData{Version: 1, NumRows: c.rows}
	top := int32(0)
	for i := 0; i < len(c.schema); top++ {
		i = behind(c.schema, i)
	}
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.V, root.NumChildren.Valid = top, true
	meta.Schema = append(meta.Schema, root)
	meta.Schema = append(meta.Schema, c.schema...)
	group := format.RowGroup{NumRows: c.rows}
	leaf := 0
	for _, chunk := range c.chunks {
		for c.schema[leaf].NumChildren.V > 0 {
			leaf++
		}
		m := format.ColumnMetaData{
			Type: c.schema[leaf].Type.V, Codec: chunk.codec, NumValues: chunk.values, DataPageOffset: int64(len(file)),
			Encoding: []format.Encoding{format.Plain}, PathInSchema: []string{c.schema[leaf].Name},
		}
		leaf++
		for _, page := range chunk.pages {
			if page.header.Type == format.DictionaryPage && m.DictionaryPageOffset == 0 {
				m.DictionaryPageOffset = int64(len(file))
			} else if page.header.Type != format.DictionaryPage && m.DictionaryPageOffset == m.DataPageOffset {
				m.DataPageOffset = int64(len(file))
			}
			if page.header.CompressedPageSize == 0 {
				page.header.CompressedPageSize = int32(len(page.body))
			}
			if page.header.UncompressedPageSize == 0 {
				page.header.UncompressedPageSize = int32(len(page.body))
			}
			file = append(append(file, marshal(t, &page.header)...), page.body...)
		}
		start := m.DataPageOffset
		if m.DictionaryPageOffset > 0 {
			start = m.DictionaryPageOffset
		}
		m.TotalCompressedSize = int64(len(file)) - start
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: m})
	}
	meta.RowGroups = []format.RowGroup{group}
	if c.edit != nil {
		c.edit(&meta)
	}
	return closed(file, marshal(t, &meta))
}

// closed puts a footer behind what a file has.
func closed(file, footer []byte) []byte {
	file = append(file, footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), magic...)
}

// behind is the index behind an element and all below it.
func behind(schema []format.SchemaElement, i int) int {
	children := schema[i].NumChildren.V
	i++
	for range children {
		i = behind(schema, i)
	}
	return i
}

// Schema elements.

func leafOf(name string, kind format.Type, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{Name: name}
	e.Type.V, e.Type.Valid = kind, true
	e.RepetitionType.V, e.RepetitionType.Valid = repetition, true
	return e
}

func groupOf(name string, children int32, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{Name: name}
	e.NumChildren.V, e.NumChildren.Valid = children, true
	e.RepetitionType.V, e.RepetitionType.Valid = repetition, true
	return e
}

func logical(e format.SchemaElement, t format.LogicalTypeValue) format.SchemaElement {
	e.LogicalType.Value = t
	return e
}

func converted(e format.SchemaElement, t deprecated.ConvertedType) format.SchemaElement {
	e.ConvertedType.V, e.ConvertedType.Valid = t, true
	return e
}

func sizedAs(e format.SchemaElement, width int32) format.SchemaElement {
	e.TypeLength.V, e.TypeLength.Valid = width, true
	return e
}

// Pages.

// level is what one value of a column has.
type level struct{ rep, def int }

// runs encodes levels as runs of one.
func runs(levels []level, greatest int, of func(level) int) []byte {
	if greatest == 0 {
		return nil
	}
	var b []byte
	for _, l := range levels {
		b = append(b, 1<<1, byte(of(l)))
	}
	return b
}

func behindLength(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// pageV1 is a data page of version 1, not compressed.
func pageV1(levels []level, maxRep, maxDef int, encoding format.Encoding, values []byte) craftedPage {
	var body []byte
	if maxRep > 0 {
		body = append(body, behindLength(runs(levels, maxRep, func(l level) int { return l.rep }))...)
	}
	if maxDef > 0 {
		body = append(body, behindLength(runs(levels, maxDef, func(l level) int { return l.def }))...)
	}
	p := craftedPage{body: append(body, values...), header: format.PageHeader{Type: format.DataPage}}
	p.header.DataPageHeader.Valid = true
	p.header.DataPageHeader.V = format.DataPageHeader{
		NumValues: int32(len(levels)), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	}
	return p
}

// pageV2 is a data page of version 2, not compressed.
func pageV2(levels []level, maxRep, maxDef int, encoding format.Encoding, values []byte) craftedPage {
	reps := runs(levels, maxRep, func(l level) int { return l.rep })
	defs := runs(levels, maxDef, func(l level) int { return l.def })
	p := craftedPage{body: append(append(reps, defs...), values...), header: format.PageHeader{Type: format.DataPageV2}}
	rows := 0
	for _, l := range levels {
		if l.rep == 0 {
			rows++
		}
	}
	p.header.DataPageHeaderV2.Valid = true
	p.header.DataPageHeaderV2.V = format.DataPageHeaderV2{
		NumValues: int32(len(levels)), NumRows: int32(rows), Encoding: encoding,
		DefinitionLevelsByteLength: int32(len(defs)), RepetitionLevelsByteLength: int32(len(reps)),
	}
	return p
}

// required are the levels of n values of a column without any.
func required(n int) []level { return make([]level, n) }

func int32s(values ...int32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func byteArrays(values ...string) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, behindLength([]byte(v))...)
	}
	return b
}

// oneColumn is a file of one required column on one page.
func oneColumn(e format.SchemaElement, n int, values []byte) *craft {
	return &craft{
		schema: []format.SchemaElement{e}, rows: int64(n),
		chunks: []craftedChunk{{values: int64(n), pages: []craftedPage{pageV1(required(n), 0, 0, format.Plain, values)}}},
	}
}

func rowsOf(t testing.TB, data []byte) ([]string, error) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		return nil, err
	}
	return readAll(f, 0, 0)
}
