package parser

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// pieces hands out at most n bytes at a time.
type pieces struct {
	io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(p.n, len(b))]) }

// inputOf is a file in memory that is read in pieces.
func inputOf(name string, data []byte, piece int) Input {
	return Input{Name: name, Size: int64(len(data)), Open: func(_ context.Context, off, n int64) (io.ReadCloser, error) {
		if off > int64(len(data)) {
			return nil, errors.New("the file has no such byte")
		}
		rest := data[off:]
		if n >= 0 && n < int64(len(rest)) {
			rest = rest[:n]
		}
		return io.NopCloser(pieces{bytes.NewReader(rest), piece}), nil
	}}
}

// once is an input that can be read once, like a pipe.
func once(in Input) Input {
	open, opened := in.Open, false
	in.Once, in.Size = true, -1
	in.Open = func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
		if opened || off != 0 || n != -1 {
			return nil, errors.New("opened again, or not as a whole")
		}
		opened = true
		return open(ctx, off, n)
	}
	return in
}

func configOf(t testing.TB, text string) *Config {
	t.Helper()
	c := &Config{}
	if text == "" {
		return c
	}
	if err := json.Unmarshal([]byte(text), c); err != nil {
		t.Fatalf("config %s: %v", text, err)
	}
	return c
}

// read reads a file from a cursor to its end.
func read(t testing.TB, c *Config, in Input, from Cursor) (docs []string, cursors []Cursor, stats Stats, err error) {
	t.Helper()
	r, err := Open(t.Context(), c, in, from)
	if err != nil {
		return nil, nil, Stats{}, err
	}
	defer r.Close()
	prefix := []byte("kept")
	for {
		doc, err := r.Next(prefix)
		if err != nil {
			if string(doc) != "kept" {
				t.Errorf("with %v dst came back as %q", err, doc)
			}
			if _, ok := errors.AsType[*Error](err); !ok && err != io.EOF {
				t.Errorf("%v is no *Error", err)
			}
			if _, again := r.Next(prefix); again != err {
				t.Errorf("after %v came %v", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return docs, cursors, r.Stats(), err
		}
		docs = append(docs, string(doc[len(prefix):]))
		cursors = append(cursors, r.Cursor())
	}
}

// pack applies a codec, which may be several, from the right to the left.
func pack(t testing.TB, codecs string, data []byte) []byte {
	t.Helper()
	words := strings.Fields(codecs)
	for i := len(words) - 1; i >= 0; i-- {
		var out bytes.Buffer
		var w io.WriteCloser
		var err error
		switch words[i] {
		case "gzip":
			w = gzip.NewWriter(&out)
		case "zstd":
			w, err = zstd.NewWriter(&out)
		case "xz":
			w, err = xz.NewWriter(&out)
		case "lz4":
			w = lz4.NewWriter(&out)
		case "lz4legacy":
			z := lz4.NewWriter(&out)
			err = z.Apply(lz4.LegacyOption(true))
			w = z
		case "snappy":
			w = s2.NewWriter(&out, s2.WriterSnappyCompat())
		case "tar":
			z := tar.NewWriter(&out)
			err = z.WriteHeader(&tar.Header{Name: "a.csv", Mode: 0o600, Size: int64(len(data))})
			w = z
		case "zip":
			z := zip.NewWriter(&out)
			f, e := z.Create("a.csv")
			if _, we := f.Write(data); e != nil || we != nil {
				t.Fatal(e, we)
			}
			w, data = nopWriter{z}, nil
		default:
			t.Fatalf("there is no codec %q", words[i])
		}
		if err == nil {
			_, err = w.Write(data)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		data = out.Bytes()
	}
	return data
}

// nopWriter takes no bytes: its archive has them already.
type nopWriter struct{ *zip.Writer }

func (nopWriter) Write(b []byte) (int, error) { return len(b), nil }

// literal takes a line's codecs and its Go string apart.
func literal(t testing.TB, text string) (codecs string, data []byte) {
	t.Helper()
	i := strings.IndexByte(text, '"')
	if i < 0 {
		t.Fatalf("no string in %q", text)
	}
	s, err := strconv.Unquote(text[i:])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return text[:i], []byte(s)
}

// packMember makes a zip archive of one member.
func packMember(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// kindOf is the kind of an *Error; of others it is none.
func kindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return -1
}
