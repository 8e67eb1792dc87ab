package parser

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// binaries are files of formats that are no text, as other people's libraries write them.
func binaries(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"avro/testdata/*.avro", "parquet/testdata/files/*.parquet"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file matches %s: %v", pattern, err)
		}
		for _, path := range files {
			if name := filepath.Base(path); strings.HasPrefix(name, "encrypted") || strings.HasSuffix(name, "variant.parquet") {
				continue // refused, which its own package tests
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Base(path)] = raw
		}
	}
	return all
}

func TestReader_JSONSchemaIsWhatTheFileDeclares(t *testing.T) {
	all := binaries(t)
	for name, want := range map[string]string{"plain-null.avro": `{"type":"object","properties":{`, "no-rows.parquet": `{"type":"object","required":["a","b"],`, "a.csv": ""} {
		data := all[name]
		if name == "a.csv" {
			data = []byte("a\n1\n")
		}
		r, err := Open(t.Context(), configOf(t, ""), inputOf(name, data, 65536), Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.JSONSchema()); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %s", name, got)
		}
		if err := r.Close(); err != nil || r.JSONSchema() != nil {
			t.Errorf("%s: after Close: %s, %v", name, r.JSONSchema(), err)
		}
	}
}

// rowsGiven is how many rows a file's writer was given; false: the files of Parquet that share theirs say so in a list.
func rowsGiven(t testing.TB, name string) (int, bool) {
	t.Helper()
	if path := "avro/testdata/" + strings.TrimSuffix(name, ".avro") + ".ndjson"; strings.HasSuffix(name, ".avro") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(raw), "\n"), true
	}
	for _, list := range []string{"pyarrow.txt", "duckdb.txt"} {
		raw, err := os.ReadFile("parquet/testdata/files/" + list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if words := strings.Fields(line); words[0] == name {
				n, err := strconv.Atoi(words[2])
				return n, err == nil
			}
		}
	}
	return 0, false
}

// Records of container files and their values come out as the format's own tests have them; layers and pipes do not matter.
func TestOpen_ReadsBinaryFormatsUnderLayersAndFromPipes(t *testing.T) {
	c := configOf(t, "")
	for name, raw := range binaries(t) {
		want, _, _, err := read(t, c, inputOf(name, raw, 65536), Cursor{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if given, ok := rowsGiven(t, name); ok && len(want) != given {
			t.Errorf("%s: %d documents, its writer was given %d rows", name, len(want), given)
		}
		for how, in := range map[string]Input{
			"by its bytes": inputOf("data", raw, 65536), "from a pipe": once(inputOf("data", raw, 1000)), "in reads of 1": inputOf("data", raw, 1), "in reads of 7": inputOf("data", raw, 7), "from a pipe in reads of 1": once(inputOf("data", raw, 1)),
			"in gzip":          inputOf("data", pack(t, "gzip", raw), 65536),
			"in a zip archive": inputOf("data", packMember(t, name, raw), 65536), "in gzip from a pipe": once(inputOf("data", pack(t, "gzip", raw), 65536)),
		} {
			got, _, _, err := read(t, c, in, Cursor{})
			if err != nil || len(got) != len(want) {
				t.Errorf("%s, %s: %d documents of %d, %v", name, how, len(got), len(want), err)
				continue
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s, %s: document %d: got %s, want %s", name, how, i, got[i], want[i])
				}
			}
		}
	}
}

// What must be read at random is copied to a temporary file where layers are around it, in pieces that take the place of the file's first bytes.
func TestOpen_ReadsParquetThatIsLargerThanItsBuffersUnderLayers(t *testing.T) {
	c, raw := configOf(t, ""), padded(t, binaries(t)["types-none-v1.parquet"])
	want, _, _, err := read(t, c, inputOf("a.parquet", raw, 65536), Cursor{})
	if err != nil || len(want) == 0 {
		t.Fatal(len(want), err)
	}
	for how, in := range map[string]Input{
		"in gzip": inputOf("a", pack(t, "gzip", raw), 65536), "named, in zstd": inputOf("a.parquet.zst", pack(t, "zstd", raw), 65536),
		"in a zip archive": inputOf("a.zip", packMember(t, "a.parquet", raw), 65536), "from a pipe": once(inputOf("a", raw, 1000)),
	} {
		got, _, _, err := read(t, c, in, Cursor{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d documents of %d, %v", how, len(got), len(want), err)
		}
	}
	text := "PAR1,b\n" + strings.Repeat("1,2\n", 40_000)
	for how, in := range map[string]Input{"in gzip": inputOf("a.csv.gz", pack(t, "gzip", []byte(text)), 65536), "from a pipe": once(inputOf("a.csv", []byte(text), 1000))} {
		if got, _, _, err := read(t, c, in, Cursor{}); err != nil || len(got) != 40_000 {
			t.Errorf("a text, %s: %d documents, %v", how, len(got), err)
		}
	}
}

// padded puts bytes that nothing points to between the pages and the footer of a Parquet file, so that it is larger than all buffers.
func padded(t *testing.T, raw []byte) []byte {
	t.Helper()
	if len(raw) < 12 {
		t.Fatalf("a Parquet file of %d bytes", len(raw))
	}
	footer := len(raw) - 8 - int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
	return slices.Concat(raw[:footer], bytes.Repeat([]byte("padding!"), 50_000), raw[footer:])
}

func TestZip_KeepsTheTemporaryFileOfOneMember(t *testing.T) {
	raw := binaries(t)["types-none-v1.parquet"]
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := range 5 {
		w, err := z.Create(fmt.Sprintf("%d.parquet", i))
		if err == nil {
			_, err = w.Write(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for how, c := range map[string]struct {
		in   Input
		kept int
	}{"at random": {inputOf("a.zip", out.Bytes(), 65536), 1}, "from a pipe": {once(inputOf("a.zip", out.Bytes(), 65536)), 2}} {
		r, err := Open(t.Context(), configOf(t, ""), c.in, Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		members := map[int]bool{}
		for ; err == nil; _, err = r.Next(nil) {
			if len(r.temporary) != c.kept {
				t.Fatalf("%s: %d temporary files, want %d", how, len(r.temporary), c.kept)
			}
			members[r.at.Member] = true
		}
		if err != io.EOF || len(members) != 5 || len(r.temporary) != 0 {
			t.Errorf("%s: %d members, %d temporary files at the end, %v", how, len(members), len(r.temporary), err)
		}
	}
}
