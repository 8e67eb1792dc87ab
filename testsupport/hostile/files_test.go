package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// filled is a byte for ever.
type filled byte

func (f filled) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

// zipped compresses while it is read.
func zipped(plain io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err == nil {
			_, err = io.Copy(z, plain)
		}
		if err == nil {
			err = z.Close()
		}
		w.CloseWithError(err)
	}()
	return r
}

// wrapped is a file in layers of gzip.
func wrapped(t *testing.T, text string, layers int) string {
	t.Helper()
	for range layers {
		all, err := io.ReadAll(zipped(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		text = string(all)
	}
	return text
}

func zigzag(numbers ...int64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return string(b)
}

// container is an Avro file of records of one string, and of one block.
func container(codec string, count, declared int64, block string) string {
	const schema, marker = `{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}`, "0123456789abcdef"
	text := func(s string) string { return zigzag(int64(len(s))) + s }
	return "Obj\x01" + zigzag(2) + text("avro.schema") + text(schema) + text("avro.codec") + text(codec) + zigzag(0) + marker + zigzag(count, declared) + block + marker
}

// deflated are bytes that are all zero.
func deflated(t *testing.T, size int64) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = io.CopyN(w, filled(0), size)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Types of Thrift's compact protocol, in which Parquet describes itself.
const (
	i32    = 5
	i64    = 6
	text   = 8
	list   = 9
	object = 12
)

// field is one field of a Thrift structure: what it is, and how far its number is from that of the field before.
func field(kind, step byte, value string) string { return string([]byte{step<<4 | kind}) + value }

func items(kind byte, values ...string) string {
	return string([]byte{byte(len(values))<<4 | kind}) + strings.Join(values, "")
}

func named(s string) string { return string(binary.AppendUvarint(nil, uint64(len(s)))) + s }

// page is a Parquet file of one column of 32 bits, and of one page of two values that declares sizes.
func page(uncompressed, compressed int64) string {
	const stop, values = "\x00", "\x01\x00\x00\x00\x02\x00\x00\x00"
	data := field(i32, 1, zigzag(2)) + field(i32, 1, zigzag(0)) + field(i32, 1, zigzag(3)) + field(i32, 1, zigzag(3)) + stop
	header := field(i32, 1, zigzag(0)) + field(i32, 1, zigzag(uncompressed)) + field(i32, 1, zigzag(compressed)) + field(object, 2, data) + stop
	size := int64(len(header) + len(values))
	chunk := field(i32, 1, zigzag(1)) + field(list, 1, items(i32, zigzag(0))) + field(list, 1, items(text, named("c"))) + field(i32, 1, zigzag(0)) +
		field(i64, 1, zigzag(2)) + field(i64, 1, zigzag(size)) + field(i64, 1, zigzag(size)) + field(i64, 2, zigzag(4)) + stop
	column := field(i64, 2, zigzag(4)) + field(object, 1, chunk) + stop
	group := field(list, 1, items(object, column)) + field(i64, 1, zigzag(size)) + field(i64, 1, zigzag(2)) + stop
	root := field(text, 4, named("root")) + field(i32, 1, zigzag(1)) + stop
	leaf := field(i32, 1, zigzag(1)) + field(i32, 2, zigzag(0)) + field(text, 1, named("c")) + stop
	footer := field(i32, 1, zigzag(1)) + field(list, 1, items(object, root, leaf)) + field(i64, 1, zigzag(2)) + field(list, 1, items(object, group)) + stop
	return "PAR1" + header + values + footer + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
}
