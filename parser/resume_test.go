package parser

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// resumable are files of every kind of input that a cursor knows.
func resumable(t testing.TB) map[string]func() Input {
	t.Helper()
	var csv, tsv, ndjson, array, log, utf16 strings.Builder
	csv.WriteString("id,text,\"n\"\r\n")
	tsv.WriteString("id\ttext\n")
	array.WriteString("[")
	log.WriteString("#Version: 1.0\n#Fields: id text\n")
	for i := range 40 {
		fmt.Fprintf(&csv, "%d,\"a \"\"b\"\"\r\n%d\",%d\r\n", i, i, i*i)
		fmt.Fprintf(&tsv, "%d\tt%d\n", i, i)
		fmt.Fprintf(&ndjson, "{\"id\":%d,\n \"s\":\"é%d\"}\n", i, i)
		fmt.Fprintf(&array, "{\"id\":%d}\n,", i)
		fmt.Fprintf(&log, "%d t%d\n", i, i)
		if i%10 == 9 {
			fmt.Fprintf(&csv, "\r\n%d\r\n", i) // a blank line and a short row
			fmt.Fprintf(&ndjson, "[{\"x\":%d},{\"x\":1}]", i)
			fmt.Fprintf(&log, "#Date: now\n#Fields: a%d\tb c\n%d\t%d\t-\n", i, i, i)
			fmt.Fprintf(&log, "#Fields: id text\n")
		}
	}
	tabs := "#Fields: id text\n"
	for i := range 20 {
		tabs += fmt.Sprintf("%d\tone %d\n", i, i)
	}
	last := strings.TrimSuffix(array.String(), ",") + "]{\"id\":\"last\"}"
	for _, r := range "id,text\n1,é\n2,€\n3,x\n" {
		utf16.WriteByte(byte(r))
		utf16.WriteByte(byte(r >> 8))
	}
	texts := map[string]string{
		"a.csv": csv.String(), "bom.csv": "\xef\xbb\xbf" + csv.String(), "a.tsv": tsv.String(), "a.json": ndjson.String(), "array.json": last, "bom.json": "\xef\xbb\xbf" + last,
		"log": log.String(), "tabs.x": tabs, "utf16.csv": "\xff\xfe" + utf16.String(), "latin.csv": "id,text\n1,\xe9\n2,\xe8\n", "sep.csv": "sep=;\nid;x\n1;2\n3;4\n",
	}
	all := map[string]func() Input{}
	file := func(name string, data []byte) func() Input { return func() Input { return inputOf(name, data, 65536) } }
	archive := &bytes.Buffer{}
	z := zip.NewWriter(archive)
	add := func(name string, data []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		all[name] = file(name, []byte(text))
		for _, codec := range []string{"gzip", "zstd", "lz4"} {
			all[name+"."+codec] = file(name, pack(t, codec, []byte(text)))
		}
		all["piped "+name] = func() Input { return once(inputOf(name, []byte(text), 7)) }
		add(name, []byte(text))
		add(".hidden"+name, []byte("junk"))
		add("empty"+name, nil)
		add("packed"+name, pack(t, "gzip", []byte(text)))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, codec := range []string{"xz", "snappy"} {
		all["a.csv."+codec] = file("a.csv", pack(t, codec, []byte(texts["a.csv"])))
	}
	all["a.zip"] = file("a.zip", archive.Bytes())
	all["a.zip.gz"] = file("a.zip.gz", pack(t, "gzip", archive.Bytes()))
	for name, data := range binaries(t) {
		all[name] = file(name, data)
	}
	return all
}

// A file that is read in two parts gives what it gives at once, wherever it is stopped.
func TestCursor_GoesOnBehindAnyDocument(t *testing.T) {
	resumed := 0
	for name, in := range resumable(t) {
		for _, config := range []string{`{"addRecordOffset":"/n"}`, `{"addRecordOffset":"/n","csv":{"errorThreshold":50},"json":{"errorThreshold":50},"w3cExtendedLog":{"errorThreshold":50}}`} {
			c := configOf(t, config)
			whole, cursors, _, err := read(t, c, in(), Cursor{})
			if err != nil || len(whole) < 2 && path.Ext(name) != ".avro" && path.Ext(name) != ".parquet" {
				t.Errorf("%s: %d documents, %v", name, len(whole), err)
				continue
			}
			resumed += len(cursors)
			most := 12
			if path.Ext(name) != "" && !strings.Contains(name, " ") && strings.Count(name, ".") == 1 && len(whole) < 100 { // every document of a plain text
				most = len(whole) + 1
			}
			for i := 0; i < len(cursors); i += 1 + len(cursors)/most {
				cursor := cursors[i]
				raw, err := json.Marshal(cursor)
				if err != nil || len(raw) > 256 {
					t.Fatalf("%s: cursor %s of %d bytes, %v", name, raw, len(raw), err)
				}
				var again Cursor
				if err := json.Unmarshal(raw, &again); err != nil || again != cursor {
					t.Fatalf("%s: %s came back as %+v, %v", name, raw, again, err)
				}
				var warnings []string
				c.OnWarning = func(w string) { warnings = append(warnings, w) }
				rest, more, _, err := read(t, c, in(), again)
				if err != nil || !slices.Equal(rest, whole[i+1:]) {
					t.Errorf("%s, after document %d at %s:\ngot  %.300q\nwant %.300q\n%v, %q", name, i, raw, rest, whole[i+1:], err, warnings)
					break
				}
				if !slices.Equal(more, cursors[i+1:]) {
					t.Errorf("%s, after document %d: the cursors that follow differ: %+v\n%+v", name, i, more, cursors[i+1:])
					break
				}
			}
		}
	}
	if resumed < 1000 {
		t.Errorf("only %d places were tried", resumed)
	}
}
