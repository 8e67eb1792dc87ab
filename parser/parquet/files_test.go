package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// file is a file of testdata/files, made by another writer from rows whose JSON that writer's script made.
type file struct {
	name string
	data []byte
	want []string
}

// files reads the manifests: name of the file, name of the expected rows, their number.
func files(t testing.TB) []file {
	t.Helper()
	const dir = "testdata/files"
	manifests, err := filepath.Glob(dir + "/*.txt")
	if err != nil || len(manifests) != 2 {
		t.Fatalf("found the manifests %q (%v); make them with testdata/pyarrow_files.py and testdata/duckdb_files.py", manifests, err)
	}
	var all []file
	for _, manifest := range manifests {
		for line := range strings.Lines(string(read(t, manifest))) {
			parts := strings.Fields(line)
			f := file{name: parts[0], data: read(t, filepath.Join(dir, parts[0]))}
			for row := range strings.Lines(string(read(t, filepath.Join(dir, parts[1])))) {
				f.want = append(f.want, strings.TrimSuffix(row, "\n"))
			}
			if n, err := strconv.Atoi(parts[2]); err != nil || n != len(f.want) {
				t.Fatalf("%s has %d rows, its manifest says %s", parts[1], len(f.want), parts[2])
			}
			all = append(all, f)
		}
	}
	return all
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// appendRow appends the current row as an object.
func appendRow(dst []byte, f *File, r *Rows) ([]byte, error) {
	dst = append(dst, '{')
	for i, child := range f.root.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, child.member...)
		var err error
		if dst, _, err = r.AppendField(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// readAll reads the rows from a place on.
func readAll(f *File, group int, row int64) ([]string, error) {
	r, err := f.Rows(group, row)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []string
	for {
		switch err := r.Next(); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		}
		line, err := appendRow(nil, f, r)
		if err != nil {
			return all, err
		}
		all = append(all, string(line))
	}
}

// tokens takes JSON apart, members in their order, so that only the spelling of numbers and escapes is lost.
func tokens(t testing.TB, text string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var all []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if n, ok := token.(json.Number); ok && strings.ContainsAny(n.String(), ".eE") {
			v, _ := n.Float64()
			token = json.Number(strconv.FormatFloat(v, 'f', -1, 64))
		}
		all = append(all, fmt.Sprintf("%T %v", token, token))
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] == want[i] {
			continue
		}
		have, should := tokens(t, got[i]), tokens(t, want[i])
		for k := range should {
			if k >= len(have) || have[k] != should[k] {
				t.Fatalf("row %d is\n%s\nwant\n%s\ntoken %d differs: want %s", i, got[i], want[i], k, should[k])
			}
		}
		if len(have) != len(should) {
			t.Fatalf("row %d is\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}

// bug streams-files-parser 47: Airbyte: decimals of Parquet came as floats, nested nulls crashed. Decimals are strings with all their digits, null is null at any depth.
func TestFiles_EqualWhatTheWriterWasGiven(t *testing.T) {
	for _, f := range files(t) {
		t.Run(f.name, func(t *testing.T) {
			opened := open(t, f.data)
			got, err := readAll(opened, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, f.want)
			if opened.NumRows() != int64(len(f.want)) {
				t.Errorf("NumRows is %d, want %d", opened.NumRows(), len(f.want))
			}
		})
	}
}

// A reader that starts anywhere goes on as one that came there.
func TestRows_GoOnAtAPosition(t *testing.T) {
	for _, f := range files(t) {
		opened := open(t, f.data)
		r, err := opened.Rows(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			// All places of short files, some of long ones.
			if i%max(len(f.want)/12, 1) == 0 || i == len(f.want) {
				group, row := r.Position()
				got, err := readAll(opened, group, row)
				if err != nil {
					t.Fatalf("%s from row %d: %v", f.name, i, err)
				}
				if len(got) != len(f.want)-i {
					t.Fatalf("%s from row %d, which is row %d of row group %d: %d rows, want %d", f.name, i, row, group, len(got), len(f.want)-i)
				}
				if i < len(f.want) && !slices.Equal(tokens(t, got[0]), tokens(t, f.want[i])) {
					t.Fatalf("%s from row %d: %s, want %s", f.name, i, got[0], f.want[i])
				}
			}
			if err := r.Next(); err != nil {
				break
			}
		}
		r.Close()
	}
}

// Fields that nobody asks for do not disturb those that somebody does.
func TestRows_LeaveFieldsOut(t *testing.T) {
	for _, f := range files(t) {
		opened := open(t, f.data)
		r, err := opened.Rows(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; r.Next() == nil; i++ {
			for k, name := range opened.Fields() {
				if (i+k)%9 > 1 {
					continue
				}
				got, ok, err := r.AppendField(nil, k)
				if err != nil || !ok {
					t.Fatalf("%s, row %d, field %s: %v", f.name, i, name, err)
				}
				var row map[string]json.RawMessage
				if err := json.Unmarshal([]byte(f.want[i]), &row); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(tokens(t, string(got)), tokens(t, string(row[name]))) {
					t.Fatalf("%s, row %d, field %s is %s, want %s", f.name, i, name, got, row[name])
				}
			}
		}
		r.Close()
	}
}

// rangeLog is an io.ReaderAt that counts.
type rangeLog struct {
	*bytes.Reader
	reads int
	bytes int
}

func (l *rangeLog) ReadAt(b []byte, at int64) (int, error) {
	l.reads++
	l.bytes += len(b)
	return l.Reader.ReadAt(b, at)
}

func validJSON(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }
