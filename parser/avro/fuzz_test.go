package avro

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small limits let the fuzzer reach them.
var small = Limits{Header: 1 << 16, Block: 1 << 16, Value: 1 << 16, Depth: 20}

// FuzzParse: no schema panics, each makes a JSON schema that is JSON, and its canonical form is a schema with the same one.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"plain-null.avro", "logical-null.avro"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		file, err := NewFile(bytes.NewReader(text), Limits{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file.header.schema)
	}
	for _, seed := range []string{
		longs, `{"type":"record","name":"a.R","aliases":["S"],"fields":[{"name":"n","type":["null","S",{"type":"map","values":"R"}]}]}`,
		`{"type":"record","name":"R","fields":[{"name":"e","type":{"type":"enum","name":"E","symbols":["A"],"doc":"d"}},{"name":"f","type":["E","null","int"],"doc":"x"}]}`,
		`{"type":"record","name":"R","fields":[{"name":"e","type":{"type":"record","name":"E","fields":[]}}]}`, `"int"`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		s, err := Parse(schema)
		if err != nil {
			return
		}
		for _, cut := range []bool{false, true} {
			if text := s.JSONSchema(cut); !json.Valid(text) {
				t.Fatalf("%s: the JSON schema is none: %s", schema, text)
			}
		}
		again, err := Parse(s.text)
		if err != nil || string(again.text) != string(s.text) || again.Fingerprint() != s.Fingerprint() {
			t.Fatalf("%s: the canonical form %s: %v", schema, s.text, err)
		}
	})
}

// FuzzDatum: no datum of any schema panics, what is accepted makes JSON, within the limits.
func FuzzDatum(f *testing.F) {
	f.Add([]byte(longs), []byte(zigzag(5)))
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":["null","R"]},{"name":"w","type":{"type":"array","items":{"type":"map","values":"null"}}}]}`), []byte(zigzag(1, 0, 0, 1, 0, 0)))
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}},{"name":"w","type":{"type":"int","logicalType":"date"}}]}`), []byte(zigzag(1, 5, 6)))
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":"string"},{"name":"w","type":{"type":"enum","name":"E","symbols":["A","B"]}},{"name":"x","type":"double"}]}`), []byte(zigzag(1)+"a"+zigzag(1)+"12345678"))
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":{"type":"fixed","name":"F","size":12,"logicalType":"duration"}},{"name":"b","type":"boolean"},{"name":"f","type":"float"}]}`), []byte("123456789012\x011234"))
	for _, name := range []string{"logical-null.avro", "plain-null.avro"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		file, err := NewFile(bytes.NewReader(text), Limits{})
		if err != nil {
			f.Fatal(err)
		}
		if err := file.Next(); err != nil {
			f.Fatal(err)
		}
		f.Add(file.header.schema, bytes.Clone(file.block[:file.at]))
	}
	f.Fuzz(func(t *testing.T, schema, datum []byte) {
		s, err := Parse(schema)
		if err != nil {
			return
		}
		for _, framing := range []Framing{Bare, Single} {
			text := datum
			if framing == Single {
				text = append([]byte("\xc3\x01"+le64(s.Fingerprint())), datum...)
			}
			m, err := NewMessages(bytes.NewReader(text), s, framing, small, 0)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if m.Next() != nil {
					break
				}
				checkDocument(t, m)
			}
		}
	})
}

func checkDocument(t *testing.T, r fielded) {
	t.Helper()
	text, err := document(nil, r)
	var value *ValueError
	var e *Error
	switch {
	case errors.As(err, &value), errors.As(err, &e) && e.Limit:
	case err != nil:
		t.Fatalf("what Cut has accepted cannot be written: %v", err)
	case !json.Valid(text) || len(text) > small.Value+1<<20:
		t.Fatalf("no JSON, or too much: %q", text)
	}
}

// FuzzFile: no file panics or hangs, and how it is read does not depend on the pieces in which it comes.
func FuzzFile(f *testing.F) {
	for _, codec := range codecs {
		text, err := os.ReadFile(filepath.Join("testdata", "tiny-"+codec+".avro"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(container("null", longs, block(2, zigzag(1, 2)), block(0, ""), block(1, zigzag(3)))))
	f.Add([]byte(container("deflate", longs, block(1, "\xff\xff"))))
	f.Add([]byte(container("snappy", longs, block(1, "\x01\x00\x02\x00\x00\x00\x00"))))
	f.Add([]byte(container("null", `{"type":"record","name":"R","fields":[]}`, block(1<<40, ""))))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first []string
		for _, r := range []io.Reader{bytes.NewReader(text), halves{bytes.NewReader(text)}} {
			var got []string
			file, err := NewFile(r, small)
			for n := 0; err == nil && n < 1000; n++ {
				if err = file.Next(); err == nil {
					checkDocument(t, file)
					document, _ := document(nil, file)
					got = append(got, string(document))
				}
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if first != nil && strings.Join(got, "\n") != strings.Join(first, "\n") {
				t.Fatalf("in pieces: %q, not %q", got, first)
			}
			first = got
		}
	})
}

// halves reads no more than 3 bytes at once.
type halves struct{ r io.Reader }

func (h halves) Read(b []byte) (int, error) { return h.r.Read(b[:min(len(b), 3)]) }
