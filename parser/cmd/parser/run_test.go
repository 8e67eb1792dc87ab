package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/golden"
	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/parser/parsertest"
	"github.com/estuary/connectors/protocol/config"
)

//go:generate go test -run=^TestReadme . -update

func TestReadme_Config(t *testing.T) {
	golden.Section(t, "../../README.md", "config", config.ReadmeTable[parser.Config]())
}

func TestReadme_Types(t *testing.T) {
	golden.Section(t, "../../README.md", "types", parsertest.TypeTable(t))
}

func TestSpec_Golden(t *testing.T) {
	out, _, code := command(t, "", "spec")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(out), "", "  "); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	golden.Check(t, "spec", append(bytes.TrimSpace(pretty.Bytes()), '\n'))
}

// What an absent option means is said twice: in the tags, and for those who make a config in Go.
func TestDefaults_AreTheSameInTagsAndInGo(t *testing.T) {
	c, err := config.Decode[parser.Config]([]byte(`{"csv":{},"format":{"type":"tsv","config":{}}}`))
	if err != nil || !reflect.DeepEqual(c.CSV, parser.DefaultCSV()) || !reflect.DeepEqual(c.Format.TSV.Config, parser.DefaultCSV()) {
		t.Errorf("got %+v and %+v, %v", c.CSV, c.Format.TSV.Config, err)
	}
	var plain parser.Config
	if err := json.Unmarshal([]byte(`{"csv":{},"format":{"type":"tsv","config":{}}}`), &plain); err != nil || !reflect.DeepEqual(c, plain) {
		t.Errorf("strictly %+v, plainly %+v, %v", c, plain, err)
	}
}

// command runs the command with a file as its stdin.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(stdin), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out, log bytes.Buffer
	code = run(process{args: args, stdin: f, stdout: &out, stderr: &log})
	return out.String(), log.String(), code
}

// last is the last line of the log.
func last(t *testing.T, log string) (line struct {
	Level, Msg, File, Kind string
	Row, Line, Byte        int64
},
) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatalf("%q: %v", log, err)
	}
	return line
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParse_ReadsStdinAndFiles(t *testing.T) {
	c := write(t, "config.json", `{"addRecordOffset":"/_meta/offset","addValues":{"/_meta/file":"b/k.csv"},"filename":"k.csv"}`)
	want := `{"a":"1","b":"2","_meta":{"file":"b/k.csv","offset":0}}` + "\n" + `{"a":"3","b":"4","_meta":{"file":"b/k.csv","offset":1}}` + "\n"
	if out, log, code := command(t, "a,b\n1,2\n3,4\n", "parse", "--config", c); out != want || code != 0 {
		t.Errorf("got %q, %q, %d", out, log, code)
	}
	file := write(t, "x.csv", "a,b\n1,2\n")
	if out, log, code := command(t, "", "parse", "--file", file); out != `{"a":"1","b":"2"}`+"\n" || code != 0 {
		t.Errorf("got %q, %q, %d", out, log, code)
	}
	if out, log, code := command(t, "{\"a\":1}", "parse", "--file", "-"); out != `{"a":1}`+"\n" || code != 0 {
		t.Errorf("got %q, %q, %d", out, log, code)
	}
}

func TestParse_ReadsPipes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parquet, err := os.ReadFile("../../parquet/testdata/files/" + firstParquet(t))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = w.Write(parquet) // a reader that ends early is what the test finds
		w.Close()
	}()
	var out, log bytes.Buffer
	if code := run(process{args: []string{"parse"}, stdin: r, stdout: &out, stderr: &log}); code != 0 || !strings.HasPrefix(out.String(), "{") {
		t.Errorf("got %.200q, %q, %d", out.String(), log.String(), code)
	}
}

func firstParquet(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../../parquet/testdata/files/*snappy*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal("no Parquet file", err)
	}
	return filepath.Base(files[0])
}

// bug streams-files-parser 11: predecessor, the parser's errors are invisible to users
func TestParse_TheLastLineTellsTheCause(t *testing.T) {
	c := write(t, "config.json", `{"filename":"b/k.csv","schema":{"type":"object","properties":{"a":{"type":"integer"}}}}`)
	out, log, code := command(t, "a,b\n1,2\nx,4\n", "parse", "--config", c)
	got := last(t, log)
	if out != `{"a":1,"b":"2"}`+"\n" || code != 1 || got.Level != "error" || got.File != "b/k.csv" || got.Row != 2 || got.Line != 3 || got.Byte != 8 || got.Kind != "data" ||
		got.Msg != `b/k.csv: row 2, line 3, byte 8: column "a": value "x" is not an integer` {
		t.Errorf("got %q, %+v, %d", out, got, code)
	}
}

func TestRun_Refuses(t *testing.T) {
	for _, c := range []struct {
		args   []string
		config string
		want   string
		code   int
	}{
		{[]string{}, "", "the command line cannot be used: one command is needed; see parser --help", 2},
		{[]string{"prase"}, "", `the command line cannot be used: there is no command "prase"; see parser --help`, 2},
		{[]string{"parse", "--nonsense"}, "", "the command line cannot be used: unknown flag", 2},
		{[]string{"parse", "--config", "/nonexistent"}, "", "the config cannot be read", 2},
		{[]string{"parse"}, `{"fromat":"csv"}`, `unknown key "fromat": did you mean "format"?`, 2},
		{[]string{"parse"}, `{"format":"cvs"}`, `format.type must be one of auto, csv, tsv, json, w3cExtendedLog, avro, parquet, protobuf: did you mean "csv"?`, 2},
		{[]string{"parse"}, `{"csv":{"errorThreshold":101}}`, "csv.errorThreshold must be at most 100, not 101", 2},
		{[]string{"parse"}, `{"projections":{"a":"b"}}`, `projections puts the field "a" at "b"`, 2},
		{[]string{"parse"}, `{}`, "input: neither its name nor its content type nor its first bytes tell the format: set format in the config, or give the file's name with --file", 2},
		{[]string{"parse", "--file", "/nonexistent"}, "", "opening the file: open /nonexistent", 1},
		{[]string{"parse", "--rejects", "/nonexistent/x"}, "", "opening the file of rejects", 1},
		{[]string{"avro-schema"}, "", "the input is neither an Avro container file nor an Avro schema", 1},
	} {
		args := c.args
		if c.config != "" {
			args = append(args, "--config", write(t, "config.json", c.config))
		}
		out, log, code := command(t, "a,b\n1,2\n", args...)
		if got := last(t, log); out != "" || code != c.code || !strings.Contains(got.Msg, c.want) {
			t.Errorf("%q %s: got %q, %q, %d", c.args, c.config, out, got.Msg, code)
		}
	}
}

func TestParse_WritesRejects(t *testing.T) {
	c := write(t, "config.json", `{"filename":"k.csv","csv":{"errorThreshold":100}}`)
	rejects := filepath.Join(t.TempDir(), "rejects.ndjson")
	out, log, code := command(t, "a,b\n1,2,<3>\n1,2\n\xff,2\n", "parse", "--config", c, "--rejects", rejects)
	got, err := os.ReadFile(rejects)
	want := `{"file":"k.csv","row":1,"line":2,"byte":4,"error":"3 columns, 2 headers","raw":"1,2,<3>"}` + "\n"
	if err != nil || !strings.HasPrefix(string(got), want) || out == "" || code != 0 {
		t.Errorf("got %q, %q, %q, %v, %d", got, out, log, err, code)
	}
}

func TestAvroSchema_OfFilesAndOfSchemas(t *testing.T) {
	raw, err := os.ReadFile("../../avro/testdata/plain-null.avro")
	if err != nil {
		t.Fatal(err)
	}
	if out, log, code := command(t, string(raw), "avro-schema"); !strings.HasPrefix(out, `{"type":"object","properties":{`) || code != 0 {
		t.Errorf("got %q, %q, %d", out, log, code)
	}
	schema := `{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]},{"name":"x","type":"int"}]}`
	if out, log, code := command(t, schema, "avro-schema"); !strings.Contains(out, `{"$ref":"#"}`) || code != 0 {
		t.Errorf("got %q, %q, %d", out, log, code)
	}
}

// closed is a pipe whose reader has left.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// bug streams-files-parser 7: predecessor: a run went on behind a line that could not be written
func TestParse_AClosedOutputIsAFailure(t *testing.T) {
	var log bytes.Buffer
	if code := run(process{args: []string{"parse", "--file", write(t, "x.csv", "a\n1\n")}, stdin: os.Stdin, stdout: closed{}, stderr: &log}); code != 1 || !strings.Contains(log.String(), "writing documents") {
		t.Errorf("got %d, %s", code, log.String())
	}
}

func TestRun_HelpAndVersion(t *testing.T) {
	if out, _, code := command(t, "", "--help"); !strings.Contains(out, "avro-schema") || code != 0 {
		t.Errorf("got %q, %d", out, code)
	}
	if out, _, code := command(t, "", "--version"); out != "parser dev\n" || code != 0 {
		t.Errorf("got %q, %d", out, code)
	}
}
