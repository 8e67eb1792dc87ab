package sweep

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/linkedin/goavro/v2"
	"github.com/parquet-go/parquet-go"
)

// row is what every record of a file holds, whatever the file's format: who the file is, which row of it this is, and a text that follows from both.
type row struct {
	Body string `parquet:"body"`
	N    int64  `parquet:"n"`
	Text string `parquet:"text"`
}

// textLength is the length of a row's text: so long that a file of 8 MiB has some 30,000 rows.
const textLength = 240

func textOf(body string, n int) string {
	word := fmt.Sprintf("%s.%06d ", body, n)
	return strings.Repeat(word, textLength/len(word)+1)[:textLength]
}

func makeRows(body string, from, to int) []row {
	rows := make([]row, 0, to-from)
	for n := from; n < to; n++ {
		rows = append(rows, row{body, int64(n), textOf(body, n)})
	}
	return rows
}

// form is a format of files.
type form struct {
	name, ending string
	// render makes a file of rows. Big files are not compressed, so that they are as big as their rows.
	render func(rows []row, big bool) ([]byte, error)
	// untyped: all values are texts.
	untyped bool
}

// record is what comes of a row, up to what tells its place.
func (f *form) record(body string, n int) string {
	number := strconv.Itoa(n)
	if f.untyped {
		number = `"` + number + `"`
	}
	return `{"body":"` + body + `","n":` + number + `,"text":"` + textOf(body, n) + `"`
}

var forms = []form{
	{"CSV", ".csv", func(rows []row, _ bool) ([]byte, error) { return renderCSV(rows), nil }, true},
	{"CSV in gzip", ".csv.gz", renderGzip, true},
	{"CSV in zip", ".zip", renderZip, true},
	{"NDJSON", ".ndjson", func(rows []row, _ bool) ([]byte, error) { return renderJSON(rows), nil }, false},
	{"Avro", ".avro", renderAvro, false},
	{"Parquet", ".parquet", renderParquet, false},
}

func renderCSV(rows []row) []byte {
	b := bytes.NewBufferString("body,n,text\n")
	for _, r := range rows {
		b.WriteString(r.Body + "," + strconv.FormatInt(r.N, 10) + "," + r.Text + "\n")
	}
	return b.Bytes()
}

func renderJSON(rows []row) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(`{"body":"` + r.Body + `","n":` + strconv.FormatInt(r.N, 10) + `,"text":"` + r.Text + "\"}\n")
	}
	return b.Bytes()
}

// renderGzip makes two members.
func renderGzip(rows []row, big bool) ([]byte, error) {
	level, text := gzip.DefaultCompression, renderCSV(rows)
	if big {
		level = gzip.NoCompression
	}
	var b bytes.Buffer
	for _, part := range [][]byte{text[:len(text)/2], text[len(text)/2:]} {
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// renderZip makes an archive of two members.
func renderZip(rows []row, big bool) ([]byte, error) {
	var b bytes.Buffer
	archive, half := zip.NewWriter(&b), len(rows)/2
	for i, part := range [][]row{rows[:half], rows[half:]} {
		header := &zip.FileHeader{Name: fmt.Sprintf("part-%d.csv", i), Method: zip.Deflate}
		if big {
			header.Method = zip.Store
		}
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(renderCSV(part)); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}

const avroSchema = `{"type":"record","name":"row","fields":[{"name":"body","type":"string"},{"name":"n","type":"long"},{"name":"text","type":"string"}]}`

// renderAvro makes blocks of 500 rows.
func renderAvro(rows []row, big bool) ([]byte, error) {
	codec := goavro.CompressionDeflateLabel
	if big {
		codec = goavro.CompressionNullLabel
	}
	var b bytes.Buffer
	w, err := goavro.NewOCFWriter(goavro.OCFConfig{W: &b, Schema: avroSchema, CompressionName: codec})
	if err != nil {
		return nil, err
	}
	for len(rows) > 0 {
		n := min(len(rows), 500)
		block := make([]any, n)
		for i, r := range rows[:n] {
			block[i] = map[string]any{"body": r.Body, "n": r.N, "text": r.Text}
		}
		if err := w.Append(block); err != nil {
			return nil, err
		}
		rows = rows[n:]
	}
	return b.Bytes(), nil
}

// renderParquet makes row groups of 9000 rows.
func renderParquet(rows []row, big bool) ([]byte, error) {
	options := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(9000), parquet.Compression(&parquet.Snappy)}
	if big {
		options[1] = parquet.Compression(&parquet.Uncompressed)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, options...)
	if _, err := w.Write(rows); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// body is the content of a file.
type body struct {
	id   string
	form *form
	rows int
	data []byte
}

func (b *body) big() bool { return b.rows >= bigRows }

const (
	bigBytes = 8 << 20 // a big file is bigger
	bigRows  = 34_000
	variants = 2       // of big bodies in each format; a file is never replaced by one of its own
	hugeRows = 140_000 // of more than 32 MiB: fetched in ranges
	fewRows  = 60
	someRows = 5000 // of more than a MiB
)

var bigBodies sync.Map // name → func() (*body, error)

// big returns one of the big bodies, which are made once: those of a format that have as many rows are of the same size.
func big(f *form, rows, variant int) (*body, error) {
	variant %= variants
	once, _ := bigBodies.LoadOrStore(fmt.Sprint(f.name, rows, variant), sync.OnceValues(func() (*body, error) {
		for number := variant; ; number += variants {
			id := fmt.Sprintf("big%05d", number)
			data, err := f.render(makeRows(id, 0, rows), true)
			switch {
			case err != nil:
				return nil, err
			case len(data) <= bigBytes:
				return nil, fmt.Errorf("making a big file of %s: it has %d bytes, want more than %d", f.name, len(data), bigBytes)
			case variant > 0: // a checksum of Parquet may take a byte more
				first, err := big(f, rows, 0)
				if err != nil {
					return nil, err
				}
				if len(data) != len(first.data) {
					continue
				}
			}
			return &body{id, f, rows, data}, nil
		}
	}))
	return once.(func() (*body, error))()
}

// small makes a body that there is only once.
func small(f *form, number, rows int) (*body, error) {
	id := fmt.Sprintf("%08d", number)
	data, err := f.render(makeRows(id, 0, rows), rows > fewRows)
	return &body{id, f, rows, data}, err
}
