package parser

import (
	"os"
	"path/filepath"
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
