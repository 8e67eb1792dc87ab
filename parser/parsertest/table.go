package parsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/estuary/connectors/parser"
)

// TypeTable renders which type a value of a file becomes, with examples: first of text, by the schema of its location, then of formats with types.
func TypeTable(tb testing.TB) string {
	tb.Helper()
	var out strings.Builder
	out.WriteString("| CSV, TSV, W3C log: the schema says | text | in the document |\n|---|---|---|\n")
	for _, r := range texts {
		file := "v,w\n" + quoted(r.text) + ",\n"
		schema := json.RawMessage(`{"properties":{"v":` + r.schema + `}}`)
		c := parser.Config{Format: parser.Format{CSV: &parser.CSVFormat{Config: parser.DefaultCSV()}}, Schema: schema}
		c.Format.CSV.Config.Delimiter, c.Format.CSV.Config.DefaultOffset = ",", r.offset
		doc, err := first(c, []byte(file))
		was := "a bad row"
		if err == nil {
			was = value(tb, doc)
		}
		row(&out, r.says, code(r.text), was)
	}
	for _, format := range []struct {
		name string
		rows func(testing.TB) []typed
	}{{"Avro", avroTypes}, {"Parquet", parquetTypes}} {
		fmt.Fprintf(&out, "\n| %s | JSON schema | in the document |\n|---|---|---|\n", format.name)
		for _, r := range format.rows(tb) {
			doc, err := first(r.config, r.file)
			if err != nil {
				tb.Fatalf("%s %s: %v", format.name, r.name, err)
			}
			row(&out, r.name, code(r.schema), value(tb, doc))
		}
	}
	return out.String()
}

// typed is a type of a binary format, and a file with one value v of it.
type typed struct {
	name, schema string
	config       parser.Config
	file         []byte
}

func row(out *strings.Builder, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
}

func code(text string) string {
	if text == "" {
		return "(empty)"
	}
	return "`" + text + "`"
}

func quoted(text string) string {
	if strings.ContainsAny(text, `",`) {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// first is the first document of a file.
func first(c parser.Config, file []byte) ([]byte, error) {
	r, err := parser.Open(context.Background(), &c, parser.Input{
		Name: "file", Size: int64(len(file)),
		Open: func(_ context.Context, off, n int64) (io.ReadCloser, error) {
			if n < 0 {
				n = int64(len(file)) - off
			}
			return io.NopCloser(bytes.NewReader(file[off : off+n])), nil
		},
	}, parser.Cursor{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // one document is what was wanted
	return r.Next(nil)
}

// value is the value v of a document, as markdown.
func value(tb testing.TB, doc []byte) string {
	tb.Helper()
	return codeOr(member(tb, doc, "v"), "left out")
}

func codeOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return code(text)
}

// member is a member of an object, as it stands there; empty: there is none.
func member(tb testing.TB, object []byte, name string) string {
	tb.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		tb.Fatalf("%s: %v", object, err)
	}
	return string(members[name])
}
