package parser

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// endless is a file that is made while it is read: a head, then a byte over and over.
func endless(name, head string, fill byte, size int64, zipped bool) Input {
	return Input{Name: name, Size: -1, Once: true, Open: func(context.Context, int64, int64) (io.ReadCloser, error) {
		plain := io.MultiReader(strings.NewReader(head), io.LimitReader(filled(fill), size))
		if !zipped {
			return io.NopCloser(plain), nil
		}
		r, w := io.Pipe()
		go func() {
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			_, err := io.Copy(z, plain)
			w.CloseWithError(errors.Join(err, z.Close()))
		}()
		return r, nil
	}}
}

type filled byte

func (f filled) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

// What a hostile file demands ends in one sentence, within memory that this test measures: what the heap has ever taken from the system.
func TestLimits_EndInASentenceWithinBounds(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000)
	wrapped := []byte("a,b\n1,2\n")
	for range 10 {
		wrapped = pack(t, "gzip", wrapped)
	}
	xz := append([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x25\x00\x00\x00"), make([]byte, 100)...)
	for _, c := range []struct {
		name string
		in   Input
		want string
		kind Kind
		mib  int64
	}{
		{"gzip of 64 GiB of zeros", endless("a.csv.gz", "", 0, 64<<30, true), "a.csv.gz: line 1, byte 0: it is longer than 67108864 bytes", KindLimit, 256},
		{"gzip of 64 GiB of zeros behind a header", endless("a.csv.gz", "a,b\n", 0, 64<<30, true), "a.csv.gz: row 1, line 2", KindLimit, 256},
		{"a field of 1 GiB", endless("a.csv", "a,b\n1,2\n\"", 'x', 1<<30, false), "a.csv: row 2, line 3", KindLimit, 256},
		{"a row of control characters, of which JSON has six bytes each", endless("a.csv.gz", "a,b\n1,", 1, 60<<20, true), "a.csv.gz: row 1, line 2, byte 4: the document of this row has up to 377487", KindLimit, 256},
		{"a header of 40 MiB", endless("a.csv.gz", "a,b", 'x', 40<<20, true), "a.csv.gz: making documents: the names of the columns have 41943042 bytes together; at most 16777216 are allowed", KindLimit, 256},
		{"a line of 1 GiB in a log", endless("a.log", "#Fields: a b\n", 'x', 1<<30, false), "a.log: ", KindLimit, 256},
		{"a JSON string of 1 GiB", endless("a.json", `{"a":"`, 'x', 1<<30, false), "a.json: row 1, line 1", KindLimit, 320},
		{"blanks of 1 GiB in a JSON value", endless("a.json", `{"a":`, ' ', 1<<30, false), "a.json: row 1, line 1", KindLimit, 320},
		{"JSON 100,000 deep", inputOf("a.json", []byte(deep), 65536), "a.json: row 1, line 1", KindLimit, 64},
		{"gzip ten times", inputOf("a.csv.gz", wrapped, 65536), "a.csv.gz: gzip: the file is compressed more than 3 times", KindLimit, 64},
		{"an xz dictionary of 1.5 GiB", inputOf("a.csv.xz", xz, 65536), "a.csv.xz: xz: it declares a dictionary of 1536 MiB; at most 64 MiB are allowed (xz -9)", KindLimit, 64},
		{"a zstd window of 2 GiB", inputOf("a.csv.zst", []byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"), 65536), "a.csv.zst: zstd: the frame needs a window of more than 128 MiB", KindLimit, 64},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, _, _, err := read(t, configOf(t, `{"fileExtensionMappings":{"log":"w3cExtendedLog"}}`), c.in, Cursor{})
		runtime.ReadMemStats(&after)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != c.kind || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%s: got %v", c.name, err)
		}
		if len(got) > 1 {
			t.Errorf("%s: %d documents", c.name, len(got))
		}
		if grown := (int64(after.HeapSys) - int64(before.HeapSys)) >> 20; grown > c.mib {
			t.Errorf("%s: the heap grew by %d MiB, at most %d are allowed", c.name, grown, c.mib)
		}
	}
}

// Of very many small files each must cost little: the buffers fit the file.
func TestOpen_SmallFilesTakeLittle(t *testing.T) {
	for name, text := range map[string]string{
		"a.ndjson": strings.Repeat("{\"a\":\"0123456789\"}\n", 50),
		"a.csv":    "a,b\n" + strings.Repeat("0123456789,x\n", 70),
		"a.log":    "#Version: 1.0\n#Fields: a b\n" + strings.Repeat("0123456789 x\n", 70),
	} {
		c := configOf(t, "")
		const files = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range files {
			r, err := Open(t.Context(), c, inputOf(name, []byte(text), 65536), Cursor{})
			if err != nil {
				t.Fatal(err)
			}
			var doc []byte
			n := 0
			for doc, err = r.Next(doc[:0]); err == nil; doc, err = r.Next(doc[:0]) {
				n++
			}
			if n < 50 {
				t.Fatalf("%s: %d documents, %v", name, n, err)
			}
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / files; each > 40<<10 {
			t.Errorf("%s: a file of %d bytes takes %d", name, len(text), each)
		}
	}
}

// A bomb that has rows is read row by row.
func TestLimits_RowsOfABombAreStreamed(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	row := strings.Repeat("0", 1000) + ",1\n"
	if _, err := io.WriteString(z, "a,b\n"+strings.Repeat(row, 100000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := Open(t.Context(), configOf(t, ""), inputOf("a.csv.gz", out.Bytes(), 65536), Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var doc []byte
	n := 0
	for ; err == nil; n++ {
		doc, err = r.Next(doc[:0])
	}
	runtime.ReadMemStats(&after)
	if n != 100001 || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("%d documents took %d MiB", n-1, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}
