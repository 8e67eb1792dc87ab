package parser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// What the source fails with is of kind IO, whatever is around it, and is found in the error's chain; what it fails with is never an end.
func TestInput_FailuresAreOfTheSource(t *testing.T) {
	text := []byte("a,b\n" + strings.Repeat("1,2\n", 100))
	gone := errors.New("connection reset")
	for _, cause := range []error{gone, fmt.Errorf("stream closed: %w", io.EOF), io.ErrUnexpectedEOF, context.Canceled} {
		for name, data := range map[string][]byte{
			"a.csv": text, "a.csv.gz": pack(t, "gzip", text), "a.csv.zst": pack(t, "zstd", text), "a.csv.xz": pack(t, "xz", text), "a.csv.lz4": pack(t, "lz4", text),
			"a.csv.sz": pack(t, "snappy", text), "a.zip": packMember(t, "a.csv", text), "a.tsv": text, "a.json": []byte(strings.Repeat("{\"a\":1}\n", 100)), "a.log": []byte("#Fields: a\n1\n2\n3\n"),
		} {
			for _, at := range []int{0, 1, len(data) / 2, len(data) - 1, len(data)} {
				if name == "a.zip" && at == len(data) {
					continue // nothing is read behind the directory
				}
				in := Input{Name: name, Size: int64(len(data)), Open: func(_ context.Context, off, n int64) (io.ReadCloser, error) {
					return io.NopCloser(io.MultiReader(bytes.NewReader(data[min(off, int64(at)):at]), iotest.ErrReader(cause))), nil
				}}
				_, _, _, err := read(t, configOf(t, ""), in, Cursor{})
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != KindIO || e.File == "" || !errors.Is(cause, io.EOF) && !errors.Is(err, cause) || errors.Is(err, io.EOF) {
					t.Errorf("%s, %v after %d of %d bytes: got %v", name, cause, at, len(data), err)
				}
			}
		}
	}
}

func TestInput_OpenFails(t *testing.T) {
	gone := errors.New("no such object")
	in := Input{Name: "a.csv", Size: 5, Open: func(context.Context, int64, int64) (io.ReadCloser, error) { return nil, gone }}
	_, err := Open(t.Context(), configOf(t, ""), in, Cursor{})
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != KindIO || !errors.Is(err, gone) || err.Error() != "a.csv: reading the input: no such object" {
		t.Errorf("got %v", err)
	}
}

// A body that ends before the size that was promised is a connection that was cut, not the end of the file.
func TestInput_ACutBodyIsNoEnd(t *testing.T) {
	in := inputOf("a.csv", []byte("a,b\n1,2\n3,4\n"), 100)
	in.Size = 24
	got, _, _, err := read(t, configOf(t, ""), in, Cursor{})
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != KindIO || len(got) != 2 || err.Error() != "a.csv: reading the input: it ended at byte 12, 12 bytes too early: unexpected EOF" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A file of size 0 is not even opened.
//
// bug streams-files-parser 42: Vector #7710 and Materialize #7351, a .gz of 0 bytes is an error
func TestInput_OfSizeZeroHasNoDocuments(t *testing.T) {
	for _, name := range []string{"a.csv", "a.csv.gz", "a.xz", "a.bz2", "a.zst", "a.parquet", "a.avro", "a.zip", "unknown"} {
		in := Input{Name: name, Size: 0, Open: func(context.Context, int64, int64) (io.ReadCloser, error) { return nil, errors.New("opened") }}
		if got, _, _, err := read(t, configOf(t, ""), in, Cursor{}); err != nil || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// A file's cursor leads straight to the place: neither are the bytes before it read again, nor the whole file staged.
func TestInput_ResumesByRange(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv":   "a,b\n" + strings.Repeat("1,2\n", 200000),
		"a.json":  strings.Repeat("{\"a\":1}\n", 200000),
		"bom.csv": "\xef\xbb\xbfa,b\n" + strings.Repeat("1,2\n", 200000),
		"a.log":   "#Fields: a b\n" + strings.Repeat("1 2\n", 200000),
	} {
		if name == "a.log" {
			text = "#Version: 1.0\n" + text
		}
		in := inputOf(name, []byte(text), 65536)
		c := configOf(t, `{"fileExtensionMappings":{"log":"w3cExtendedLog"}}`)
		_, cursors, stats, err := read(t, c, in, Cursor{})
		if err != nil || stats.Bytes != int64(len(text)) {
			t.Fatalf("%s: %+v, %v", name, stats, err)
		}
		rest, _, stats, err := read(t, c, in, cursors[len(cursors)-11])
		if err != nil || len(rest) != 10 || stats.Bytes > 400<<10 {
			t.Errorf("%s: %d documents, %+v, %v", name, len(rest), stats, err)
		}
	}
}

func TestCursor_OfAnotherConfigOrFileIsWorthNothing(t *testing.T) {
	text := []byte("a,b\n1,2\n3,4\n5,6\n")
	c := configOf(t, `{"addRecordOffset":"/n"}`)
	_, cursors, _, err := read(t, c, inputOf("a.csv", text, 100), Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	tell := func(w string) { warnings = append(warnings, w) }
	for _, other := range []struct {
		config, warning string
		text            []byte
		documents       int
	}{
		{`{"addRecordOffset":"/n"}`, "", text, 1},
		{`{"addRecordOffset":"/m"}`, "a.csv: the config has changed since it was read in part; it is read from the start", text, 3},
		{`{"addRecordOffset":"/n"}`, "a.csv: it had 16 bytes when it was read in part and has 20 now; it is read from the start", append(bytes.Clone(text), "7,8\n"...), 4},
	} {
		warnings = nil
		c := configOf(t, other.config)
		c.OnWarning = tell
		got, _, _, err := read(t, c, inputOf("a.csv", other.text, 100), cursors[1])
		if err != nil || len(got) != other.documents || strings.Join(warnings, "") != other.warning {
			t.Errorf("%s: %d documents, %q, %v", other.config, len(got), warnings, err)
		}
	}
	for _, bad := range []string{`{"b":-1}`, `7`, `{"n":1.5}`} {
		var cursor Cursor
		if err := cursor.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s became %+v", bad, cursor)
		}
	}
	var zero Cursor
	if raw, err := zero.MarshalJSON(); string(raw) != "null" || err != nil || !zero.IsZero() || zero.UnmarshalJSON([]byte("null")) != nil {
		t.Errorf("the zero cursor: %s, %v", raw, err)
	}
}

// What must be read at random and comes through a pipe goes through a file that nobody finds.
func TestInput_StagesPipes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	r, err := Open(t.Context(), configOf(t, ""), once(inputOf("a.zip", packMember(t, "a.csv", []byte("a,b\n1,2\n")), 100)), Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := r.Next(nil); string(doc) != `{"a":"1","b":"2"}` || err != nil || len(r.temporary) != 1 || !r.temporary[0].gone {
		t.Errorf("got %s, %v, %+v", doc, err, r.temporary)
	}
	if err := r.Close(); err != nil || r.Close() != nil {
		t.Error(err)
	}
	if _, err := r.Next(nil); err == nil || err.Error() != "a.zip:a.csv: the reader is closed" {
		t.Errorf("after Close: got %v", err)
	}
	t.Setenv("TMPDIR", dir+"/none")
	if _, err := Open(t.Context(), configOf(t, ""), once(inputOf("a.zip", packMember(t, "a.csv", nil), 100)), Cursor{}); err == nil || !strings.Contains(err.Error(), "making a temporary file") {
		t.Errorf("without a folder: got %v", err)
	}
}

func TestStage_IsBounded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := stage(strings.NewReader("1234"), 4)
	if err != nil || s.size != 4 || s.close() != nil {
		t.Errorf("as much as is allowed: %v", err)
	}
	if _, err := stage(strings.NewReader("12345"), 4); kindOf(err) != KindLimit || err.Error() != "an input that can be read only in order is kept in a temporary file of at most 4 bytes: give the file itself" {
		t.Errorf("one byte more: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Whatever is opened is closed, at the end, at an error, and when a reader is given up.
func TestInput_EveryBodyIsClosed(t *testing.T) {
	text := []byte("a,b\n1,2\n3,4\n")
	for name, data := range map[string][]byte{
		"a.csv": text, "a.csv.gz": pack(t, "gzip", text), "cut.csv.gz": pack(t, "gzip", text)[:20], "a.zip": packMember(t, "a.csv", text), "b.zip": packMember(t, "b.xls", text),
		"bad.csv": []byte("a,b\n1,2,3\n"), "unknown": text, "a.xls": []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "a.csv.zst": pack(t, "zstd", text), "a.json": []byte(`{"a":1}{"a":`),
		"a.tar": pack(t, "tar", text), "four.gz": pack(t, "gzip gzip gzip gzip", text), "twice.csv": []byte("a,a\n1,2\n"), "a.avro": []byte("Obj\x01xxx"), "log": []byte("#Fields: a\n1\n"),
		"utf16.csv": []byte("\xff\xfea\x00\n\x00\x00\xd8\n\x00"), "a.parquet": []byte("PAR1xxxxxxxxxxxxPAR1"), "empty.csv": []byte("\xef\xbb\xbf"),
	} {
		in := inputOf(name, data, 7)
		open, left := in.Open, 0
		in.Open = func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
			body, err := open(ctx, off, n)
			left++
			return closer{body, &left}, err
		}
		c := configOf(t, "")
		_, cursors, _, _ := read(t, c, in, Cursor{})
		if left != 0 {
			t.Errorf("%s: %d bodies are left open at the end", name, left)
		}
		for _, at := range cursors {
			if _, _, _, _ = read(t, c, in, at); left != 0 {
				t.Errorf("%s: %d bodies are left open when it was resumed at %+v", name, left, at)
			}
		}
		if r, err := Open(t.Context(), c, in, Cursor{}); err == nil {
			if err := errors.Join(r.Close(), r.Close()); err != nil || left != 0 {
				t.Errorf("%s: %d bodies are left open after Close, %v", name, left, err)
			}
		}
	}
}

type closer struct {
	io.ReadCloser
	left *int
}

func (c closer) Close() error {
	*c.left--
	return c.ReadCloser.Close()
}
