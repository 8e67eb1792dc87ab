package avro

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// lines reads all records of a file that is read in pieces as documents, one a line.
func lines(f *File) (string, error) {
	var out []byte
	for {
		if err := f.Next(); err != nil {
			if err == io.EOF {
				return string(out), nil
			}
			return string(out), err
		}
		var err error
		if out, err = document(out, f); err != nil {
			return string(out), err
		}
		out = append(out, '\n')
	}
}

// fielded is what File and Messages have in common.
type fielded interface {
	Schema() *Schema
	AppendField(dst []byte, i int) ([]byte, bool, error)
}

func document(dst []byte, r fielded) ([]byte, error) {
	for i := range r.Schema().Fields() {
		var err error
		if dst, _, err = r.AppendField(append(dst, r.Schema().root.fields[i].prefix...), i); err != nil {
			return dst, err
		}
	}
	if len(r.Schema().Fields()) == 0 {
		dst = append(dst, '{')
	}
	return append(dst, '}'), nil
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var codecs = []string{"null", "deflate", "snappy", "bzip2", "xz", "zstandard"}

// Files that fastavro wrote, in each codec and logical type, beside what it was given (testdata/fastavro.py): from the start, in pieces of one byte, and
// from behind each record.
func TestFile_ByFastavro(t *testing.T) {
	for _, codec := range codecs {
		for _, name := range []string{"plain-" + codec, "logical-" + codec, "tiny-" + codec} {
			text, want := readFile(t, name+".avro"), string(readFile(t, name+".ndjson"))
			f, err := NewFile(bytes.NewReader(text), Limits{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if f.Codec() != codec {
				t.Errorf("%s: its codec is %s", name, f.Codec())
			}
			got, err := lines(f)
			if err != nil || got != want {
				t.Errorf("%s: %v; %s", name, err, firstDifference(got, want))
				continue
			}
			if want == "" || f.number < 2 && len(text) > 1000 {
				t.Errorf("%s: %d blocks", name, f.number)
			}
			slow, err := NewFile(iotest.OneByteReader(bytes.NewReader(text)), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := lines(slow); err != nil || got != want {
				t.Errorf("%s, byte by byte: %v; %s", name, err, firstDifference(got, want))
			}
			resumeEverywhere(t, name, text, want, f.number)
		}
	}
}

// resumeEverywhere reads a file up to each record and goes on from there.
func resumeEverywhere(t *testing.T, name string, text []byte, want string, blocks int64) {
	t.Helper()
	rest := want
	f, err := NewFile(bytes.NewReader(text), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		at := f.Position()
		head, err := NewFile(bytes.NewReader(text), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		resumed, err := ResumeFile(head, bytes.NewReader(text[at.Byte:]), at)
		if err != nil {
			t.Fatal(err)
		}
		if resumed.Position() != at {
			t.Errorf("%s, from %+v: Position is %+v", name, at, resumed.Position())
		}
		if got, err := lines(resumed); err != nil || got != rest {
			t.Errorf("%s, from %+v: %v; %s", name, at, err, firstDifference(got, rest))
		}
		if resumed.number != blocks {
			t.Errorf("%s, from %+v: the last block is number %d of %d", name, at, resumed.number, blocks)
		}
		if f.Next() != nil {
			break
		}
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if rest != "" {
		t.Errorf("%s: the records end before %q", name, rest)
	}
}

func firstDifference(got, want string) string {
	for i := 0; ; i++ {
		if i == len(got) || i == len(want) || got[i] != want[i] {
			from := max(i-40, 0)
			return "…" + got[min(from, len(got)):min(i+40, len(got))] + "… instead of …" + want[from:min(i+40, len(want))] + "…"
		}
	}
}

func TestFile_WithoutRecords(t *testing.T) {
	f, err := NewFile(bytes.NewReader(readFile(t, "empty.avro")), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := lines(f); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
