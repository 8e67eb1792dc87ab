package avro

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

const marker = "0123456789abcdef"

// container makes a file of a codec and a schema; blocks as made by block follow.
func container(codec, schema string, blocks ...string) string {
	text := func(s string) string { return zigzag(int64(len(s))) + s }
	return "Obj\x01" + zigzag(2) + text("avro.schema") + text(schema) + text("avro.codec") + text(codec) + zigzag(0) + marker + strings.Join(blocks, "")
}

func block(count int64, data string) string {
	return zigzag(count, int64(len(data))) + data + marker
}

const longs = `{"type":"record","name":"R","fields":[{"name":"v","type":"long"}]}`

func deflated(t testing.TB, n int, write func(w io.Writer)) string {
	t.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, n)
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func zeros(n int) func(w io.Writer) {
	return func(w io.Writer) {
		piece := make([]byte, 1<<20)
		for ; n > 0; n -= len(piece) {
			if _, err := w.Write(piece); err != nil {
				panic(err)
			}
		}
	}
}

// A file that is cut or broken is an error behind what was whole, never a shorter file.
// bug streams-files-parser 38: Polars #10585 and #14235, a file ends in silence where it is malformed
func TestFile_Blocks(t *testing.T) {
	sum := string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(zigzag(1, 2)))))
	for name, test := range map[string]struct{ text, want, err string }{
		"none":          {container("null", longs), "", ""},
		"two":           {container("null", longs, block(1, zigzag(1)), block(2, zigzag(2, 3))), "{\"v\":1}\n{\"v\":2}\n{\"v\":3}\n", ""},
		"empty ones":    {container("null", longs, block(0, ""), block(1, zigzag(1)), block(0, ""), block(0, "")), "{\"v\":1}\n", ""},
		"empty deflate": {container("deflate", longs, block(0, deflated(t, 6, func(io.Writer) {}))), "", ""},
		"deflate, then a part of a checksum": {
			container("deflate", longs, block(1, deflated(t, 6, func(w io.Writer) { _, _ = io.WriteString(w, zigzag(7)) })+"\x01\x02\x03")), "{\"v\":7}\n", "",
		},
		"snappy":     {container("snappy", longs, block(2, string(snappy.Encode(nil, []byte(zigzag(1, 2))))+sum)), "{\"v\":1}\n{\"v\":2}\n", ""},
		"no content": {container("null", `{"type":"record","name":"R","fields":[]}`, block(3, "")), "{}\n{}\n{}\n", ""},
		"no codec":   {"Obj\x01" + zigzag(-1, 99, 11) + "avro.schema" + zigzag(int64(len(longs))) + longs + zigzag(0) + marker + block(1, zigzag(1)), "{\"v\":1}\n", ""},

		"wrong checksum": {
			container("snappy", longs, block(2, string(snappy.Encode(nil, []byte(zigzag(1, 2))))+"\x00"+sum[1:])), "",
			"reading Avro block 1 at byte 120: decompressing 8 bytes with snappy: the checksum does not match the content",
		},
		"no checksum":      {container("snappy", longs, block(2, "\x00")), "", "reading Avro block 1 at byte 120: decompressing 1 bytes with snappy: unexpected EOF"},
		"snappy is broken": {container("snappy", longs, block(2, "\x05\xff\xff"+sum)), "", "reading Avro block 1 at byte 120: decompressing 7 bytes with snappy: corrupt input"},
		"wrong marker": {
			container("null", longs, block(1, zigzag(1)), zigzag(1, 1)+zigzag(2)+"0123456789abcdeX"), "{\"v\":1}\n",
			"reading Avro block 2 at byte 137: the marker behind it, at byte 140, is not the file's: the block is broken",
		},
		"cut in a count":   {container("null", longs, block(1, zigzag(1)), "\x80"), "{\"v\":1}\n", "reading Avro block 2 at byte 137: the file ends inside a block"},
		"cut before size":  {container("null", longs, block(1, zigzag(1)), zigzag(1)), "{\"v\":1}\n", "reading Avro block 2 at byte 137: the file ends inside a block"},
		"cut in a block":   {container("null", longs, block(1, zigzag(1)), zigzag(5, 5, 1)), "{\"v\":1}\n", "reading Avro block 2 at byte 137: the file ends inside a block"},
		"cut in a marker":  {container("null", longs, block(1, zigzag(1)), zigzag(1, 1, 1)+"01234"), "{\"v\":1}\n", "reading Avro block 2 at byte 137: the file ends inside a block"},
		"a byte too much":  {container("null", longs, block(1, zigzag(1, 2))), "", "reading Avro block 1 at byte 118: 1 bytes follow the last of 1 records"},
		"a record too few": {container("null", longs, block(2, zigzag(1))), "{\"v\":1}\n", "reading Avro block 1 at byte 118: record 2 of 2: a value needs 1 bytes, of which only 0 are there"},
		"bytes, no record": {container("null", longs, block(0, zigzag(1))), "", "reading Avro block 1 at byte 118: 1 bytes follow the last of 0 records"},
		"negative count":   {container("null", longs, block(-1, zigzag(1))), "", "reading Avro block 1 at byte 118: it declares -1 records and 1 bytes"},
		"negative size":    {container("null", longs, zigzag(1, -1)), "", "reading Avro block 1 at byte 118: it declares 1 records and -1 bytes"},
		"endless count":    {container("null", longs, strings.Repeat("\xff", 50)), "", "reading Avro block 1 at byte 118: a block: an integer has more than 64 bits"},
		"large count":      {container("null", longs, strings.Repeat("\xff", 9)+"\x02"), "", "reading Avro block 1 at byte 118: a block: an integer has more than 64 bits"},
		"broken deflate":   {container("deflate", longs, block(1, "\xff\xff")), "", "reading Avro block 1 at byte 121: decompressing 2 bytes with deflate: flate: corrupt input before offset 1"},
		"cut deflate":      {container("deflate", longs, block(1, "\x00")), "", "reading Avro block 1 at byte 121: decompressing 1 bytes with deflate: unexpected EOF"},
	} {
		f, err := NewFile(strings.NewReader(test.text), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := lines(f)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != test.want || message != test.err {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if again := f.Next(); err != nil && !errors.Is(again, err) {
			t.Errorf("%s: after the error: %v", name, again)
		}
		// Where it stands after the error, it can go on and finds the same error.
		head, _ := NewFile(strings.NewReader(test.text), Limits{})
		resumed, resumeErr := ResumeFile(head, strings.NewReader(test.text[f.Position().Byte:]), f.Position())
		if resumeErr != nil {
			t.Errorf("%s: %v", name, resumeErr)
			continue
		}
		if rest, again := lines(resumed); rest != "" || fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s, again from %+v: %q, %v", name, f.Position(), rest, again)
		}
	}
}

func TestNewFile_Refuses(t *testing.T) {
	whole := container("null", longs)
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"", `reading Avro at byte 0: this is no Avro object container file, which begins with "Obj\x01"`},
		"cut magic":       {"Obj", `reading Avro at byte 0: this is no Avro object container file, which begins with "Obj\x01"`},
		"other":           {"PAR1", `reading Avro at byte 0: this is no Avro object container file, which begins with "Obj\x01"`},
		"cut marker":      {whole[:len(whole)-1], "reading Avro at byte 117: the file ends inside its header"},
		"no schema":       {"Obj\x01" + zigzag(0) + marker, "reading Avro at byte 21: the header has no avro.schema"},
		"codec":           {container("lz4", longs), `reading Avro at byte 0: the codec "lz4" is not supported: null, deflate, snappy, bzip2, xz and zstandard are`},
		"schema":          {container("null", `"int"`), "reading an Avro schema: the outermost type is an int, but each document must be a record"},
		"many attributes": {"Obj\x01" + zigzag(1<<40), "reading Avro at byte 10: the header declares 1099511627776 attributes"},
		"negative":        {"Obj\x01" + zigzag(math.MinInt64, 1), "reading Avro at byte 15: the header declares -9223372036854775808 attributes"},
		"long attribute":  {"Obj\x01" + zigzag(1, 1<<31), "reading Avro at byte 10: an attribute of the header declares 2147483648 bytes; at most 16777216 are allowed in all"},
		"short attribute": {"Obj\x01" + zigzag(1, -1), "reading Avro at byte 6: an attribute of the header declares -1 bytes; at most 16777216 are allowed in all"},
		"endless number":  {"Obj\x01" + strings.Repeat("\xff", 20), "reading Avro at byte 14: its header: an integer has more than 64 bits"},
	} {
		if _, err := NewFile(strings.NewReader(test.text), Limits{}); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for cut := range whole {
		if _, err := NewFile(strings.NewReader(whole[:cut]), Limits{}); err == nil {
			t.Errorf("a header of %d bytes of %d is accepted", cut, len(whole))
		}
	}
}

func TestFile_PassesReadErrorsOn(t *testing.T) {
	broken := fmt.Errorf("connection reset: %w", io.EOF) // no clean end
	text := container("null", longs, block(1, zigzag(1)))
	for _, cut := range []int{2, 50, len(text)} {
		f, err := NewFile(io.MultiReader(strings.NewReader(text[:cut]), failingReader{broken}), Limits{})
		if err == nil {
			_, err = lines(f)
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", cut, err)
		}
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// Blocks that declare or hold more than they may: one sentence each, and not the memory that they ask for.
func TestFile_LargeBlocks(t *testing.T) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	big := string(binary.AppendVarint(nil, 200<<20))
	// A frame that declares a window of 2 GiB, and one that declares 2^31 bytes.
	window := "\x28\xb5\x2f\xfd\x00\xa8" + "\x01\x00\x00"
	declared := "\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x80" + "\x01\x00\x00"
	// An xz stream whose block header declares a dictionary of 1.5 GiB.
	header := "\x02\x00\x21\x01\x25\x00\x00\x00"
	xz := "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46" + header + string(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(header)))) + "\x01\x00\x00\x00"
	for name, test := range map[string]struct {
		text, want string
		limit      bool
	}{
		"declared":         {container("null", longs, zigzag(1, 1<<31)+"x"), "it declares 2147483648 bytes; at most 67108864 are allowed", true},
		"declared most":    {container("deflate", longs, zigzag(1, math.MaxInt64)+"x"), "it declares 9223372036854775807 bytes; at most 67108864 are allowed", true},
		"declared, cut":    {container("null", longs, zigzag(1, 64<<20)+"x"), "the file ends inside a block", false},
		"deflate":          {container("deflate", longs, block(1, deflated(t, 9, zeros(80<<20)))), "it holds more than 67108864 bytes", true},
		"zstandard":        {container("zstandard", longs, block(1, string(encoder.EncodeAll(make([]byte, 80<<20), nil)))), "it holds more than 67108864 bytes", true},
		"zstandard window": {container("zstandard", longs, block(1, window)), "it holds more than 67108864 bytes", true},
		"zstandard, size":  {container("zstandard", longs, block(1, declared)), "it holds more than 67108864 bytes", true},
		"snappy":           {container("snappy", longs, block(1, string(binary.AppendUvarint(nil, 1<<31))+"\x00\x00\x00\x00")), "it holds more than 67108864 bytes", true},
		"snappy, small":    {container("snappy", longs, block(1, string(binary.AppendUvarint(nil, 1<<25))+"\x00\x00\x00\x00")), "decompressing 8 bytes with snappy: corrupt input", false},
		"xz dictionary":    {container("xz", longs, block(1, xz)), "it declares a dictionary of 1536 MiB; at most 64 MiB are allowed (xz -9)", true},
		"a string":         {container("null", `{"type":"record","name":"R","fields":[{"name":"v","type":"string"}]}`, block(1, big+"x")), "record 1 of 1: a string declares 209715200 bytes; at most 67108864 are allowed", true},
		"no content":       {container("null", `{"type":"record","name":"R","fields":[]}`, block(math.MaxInt64, "")), "it declares 9223372036854775807 records without content; at most 67108864 are allowed", true},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := NewFile(strings.NewReader(test.text), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		err = f.Next()
		runtime.ReadMemStats(&after)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, test.want) || e.Limit != test.limit {
			t.Errorf("%s: %v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 400<<20 {
			t.Errorf("%s: %d MiB were allocated", name, allocated>>20)
		}
	}
}
