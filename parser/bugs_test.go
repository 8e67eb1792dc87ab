package parser

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Situations that bit somebody, from the file to its documents.
func TestBugs(t *testing.T) {
	for _, c := range []struct {
		name, contentType, config, in string
		want                          []string
		err                           string
	}{
		// bug streams-files-parser 23: predecessor, a JSON file with a byte order mark fails
		{"a.json", "", "", "\xef\xbb\xbf{\"a\":1}", []string{`{"a":1}`}, ""},
		// bug streams-files-parser 24: predecessor, a document with a scalar _meta fails its file
		{"a.json", "", `{"addRecordOffset":"/_meta/offset"}`, `{"_meta":7,"a":1}`, []string{`{"a":1,"_meta":{"offset":0}}`}, ""},
		// bug streams-files-parser 27: predecessor, a content type with a charset is not recognised
		{"a", "text/csv; charset=utf-8", "", "a\n1\n", []string{`{"a":"1"}`}, ""},
		// bug streams-files-parser 20: predecessor, the configured encoding is not used
		{"a.csv", "", `{"csv":{"encoding":"shift_jis"}}`, "a\n\x93\xfa\n", []string{`{"a":"日"}`}, ""},
		// bug streams-files-parser 39: pandas #4793, #13497 and #36365, a byte order mark before a quoted name stays in it
		{"a.csv", "", "", "\xef\xbb\xbf\"a b\",c\n1,2\n", []string{`{"a b":"1","c":"2"}`}, ""},
		// bug streams-files-parser 49: gocsv, a "bare quote" that really is a byte order mark
		{"a.tsv", "", "", "\xef\xbb\xbf\"a\"\t\"b\"\n\"1\"\t\"2\"\n", []string{`{"a":"1","b":"2"}`}, ""},
		// bug streams-files-parser 40: Go #22746, CRLF inside of quotes becomes LF; Go #9588, the byte order mark is kept
		{"a.csv", "", "", "\xef\xbb\xbfa,b\r\n\"x\r\ny\",2\r\n", []string{`{"a":"x\r\ny","b":"2"}`}, ""},
		// bug streams-files-parser 46: Airbyte #86897, newlines in values need an option
		{"a.csv", "", "", "a,b\n\"x\n\ny\",2\n", []string{`{"a":"x\n\ny","b":"2"}`}, ""},
		// bug streams-files-parser 48: Airbyte, a delimiter that is given as the two characters \t
		{"a.csv", "", `{"csv":{"delimiter":"\\t"}}`, "a\tb\n1\t2\n", []string{`{"a":"1","b":"2"}`}, ""},
		{"a.csv", "", `{"csv":{"delimiter":"tab"}}`, "a\tb\n1\t2\n", []string{`{"a":"1","b":"2"}`}, ""},
		// bug streams-files-parser 28: predecessor, whatever looks like a time is rewritten
		{"a.json", "", "", `{"note":"at 2022-04-01 10:00:00","id":"2022-04-01 10:00:00"}`, []string{`{"note":"at 2022-04-01 10:00:00","id":"2022-04-01 10:00:00"}`}, ""},
		// bug streams-files-parser 30: DuckDB #25827, rows vanish when the dialect changes late
		{"a.csv", "", "", "a,b\n1,2\n3;4\n", []string{`{"a":"1","b":"2"}`, `{"a":"3;4"}`}, ""},
		{"a.csv", "", "", "a;b\n1;2\n3,4,5\n6;7;8\n", []string{`{"a;b":"1;2"}`}, "row 2, line 3"},
		// bug streams-files-parser 37: Polars #3201 and #28658, columns of one name shift or collide
		{"a.csv", "", "", "a,a\n1,2\n", nil, `"a"`},
	} {
		in := inputOf(c.name, []byte(c.in), 65536)
		in.ContentType = c.contentType
		got, _, _, err := read(t, configOf(t, c.config), in, Cursor{})
		if !slices.Equal(got, c.want) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %s %q: got %q, %v", c.name, c.config, c.in, got, err)
		}
	}
}

// bug streams-files-parser 43: Airbyte, a field of more than 128 KiB fails its file
func TestBugs_LargeFields(t *testing.T) {
	field := strings.Repeat("x", 1<<20)
	got, _, _, err := read(t, configOf(t, ""), inputOf("a.csv", []byte("a,b\n"+field+",\""+field+"\"\n"), 65536), Cursor{})
	if err != nil || len(got) != 1 || got[0] != `{"a":"`+field+`","b":"`+field+`"}` {
		t.Errorf("got %d documents, %v", len(got), err)
	}
}

// bug streams-files-parser 44: Airbyte, dialects in a table of the process, which files that are read at once overwrite
func TestBugs_FilesAtOnce(t *testing.T) {
	c := configOf(t, `{"addRecordOffset":"/n"}`)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			delimiter := string(",;\t|"[i%4])
			text := "a" + delimiter + "b\n" + strings.Repeat(fmt.Sprintf("%d%s2\n", i, delimiter), 500)
			got, _, _, err := read(t, c, inputOf("a.csv", []byte(text), 100), Cursor{})
			if want := fmt.Sprintf(`{"a":"%d","b":"2","n":499}`, i); err != nil || len(got) != 500 || got[499] != want {
				t.Errorf("file %d: %d documents, %v", i, len(got), err)
			}
		})
	}
	all.Wait()
}

// bug streams-files-parser 13: predecessor, the members of an archive are glued together, and the second header becomes a row
// bug streams-files-parser 14: predecessor, .DS_Store and __MACOSX/._x are read as CSV
// bug streams-files-parser 29: predecessor, a Parquet file of 10 GB fills the disk
// Each is a case of testdata/conformance or a test of its own besides; here nothing may be written to the disk.
func TestBugs_ArchivesAndParquetAreNotStaged(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	files := map[string][]byte{}
	for name, raw := range binaries(t) {
		if strings.HasSuffix(name, ".parquet") {
			files[name] = raw
		}
	}
	raw, err := os.ReadFile("testdata/macos.zip")
	if err != nil {
		t.Fatal(err)
	}
	files["macos.zip"] = raw
	for name, raw := range files {
		got, _, _, err := read(t, configOf(t, ""), inputOf(name, raw, 65536), Cursor{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "macos.zip" && !slices.Equal(got, []string{`{"a":"1","b":"2"}`, `{"c":"3"}`}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// bug streams-files-parser 35: DuckDB #18577, copies of a file with LF and CRLF give other results
func TestBugs_LineEndsDoNotMatter(t *testing.T) {
	text := "a,b\n1,2\n\n\"x\",\"y \"\"z\"\"\"\n3,\n"
	want, _, _, err := read(t, configOf(t, ""), inputOf("a.csv", []byte(text), 65536), Cursor{})
	if err != nil || len(want) != 3 {
		t.Fatal(want, err)
	}
	for _, end := range []string{"\r\n", "\r"} {
		got, _, _, err := read(t, configOf(t, ""), inputOf("a.csv", []byte(strings.ReplaceAll(text, "\n", end)), 65536), Cursor{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("with %q: got %q, %v", end, got, err)
		}
	}
}
