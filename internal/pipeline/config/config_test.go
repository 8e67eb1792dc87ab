package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shop = `
source:
  connector: source-postgres
  config: {address: "localhost:5432", password: "${env:SHOP_PASSWORD}", advanced: {slotName: x}}
sink:
  connector: ./sinks/materialize-postgres
  config:
    address: "a$${env:X}"
    password: "p-${file:pw}"
    big: 12345678901234567890
    ratio: 0.5
    empty: null
streams:
  - stream: public.orders
    table: orders
    key: [/id]
    root_document: true
    projections: {"Start Time": /begin/timestamp}
    schema: rides.schema.json
  - "sales.*"
  - {stream: other.orders, schema: lake}
state: deep/shop.state
`

func TestParse(t *testing.T) {
	t.Setenv("SHOP_PASSWORD", "se\"cret")
	dir := t.TempDir()
	for name, text := range map[string]string{"pw": "from file\n", "rides.schema.json": `{"type":"object"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Parse(filepath.Join(dir, "shop.yaml"), []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"name", f.Name, "shop"},
		{"state", f.State, filepath.Join(dir, "deep/shop.state")},
		{"source", f.Source.Name, "source-postgres"},
		{"sink", f.Sink.Name, filepath.Join(dir, "sinks/materialize-postgres")},
		{"source config", string(f.Source.Config), `{"address":"localhost:5432","password":"se\"cret","advanced":{"slotName":"x"}}`},
		{"sink config", string(f.Sink.Config), `{"address":"a${env:X}","password":"p-from file","big":12345678901234567890,"ratio":0.5,"empty":null}`},
		{"secrets", strings.Join(f.Secrets, "|"), `se"cret|from file`},
		{"stream", f.Streams[0].Pattern + " " + f.Streams[1].Pattern, "public.orders sales.*"},
		{"key", strings.Join(f.Streams[0].Key, ","), "/id"},
		{"projection", f.Streams[0].Projections["Start Time"], "/begin/timestamp"},
		{"schema", string(f.Streams[0].Schema), `{"type":"object"}`},
		{"resource", f.Streams[0].Resource[0].Name + string(f.Streams[0].Resource[0].Value), `table"orders"`},
		{"schema of the table", f.Streams[2].Resource[0].Name + string(f.Streams[2].Resource[0].Value) + string(f.Streams[2].Schema), `schema"lake"`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
	if f.Streams[0].RootDocument == nil || !*f.Streams[0].RootDocument || f.Streams[1].RootDocument != nil {
		t.Errorf("root_document: got %v and %v", f.Streams[0].RootDocument, f.Streams[1].RootDocument)
	}
}

func TestParse_Problems(t *testing.T) {
	const rest = "\nsource: {connector: s}\nsink: {connector: m}\nstreams: [a]\n"
	for text, want := range map[string]string{
		"sourze: {connector: x}" + rest:                                              `unknown key "sourze" in the file: did you mean "source"?`,
		"source: {connector: s, connexion: 1}\n" + rest[24:]:                         `unknown key "connexion" in source`,
		"sink: {connector: m, protocol: flow}\nsource: {connector: s}\nstreams: [a]": `unknown key "protocol" in sink`,
		"name: x": "source is missing",
		"- a":     "is no YAML mapping",
		"a: [":    "is no YAML mapping",
		"source: {connector: s}\nsink: {connector: m}\nstreams: [{stream: a, schema: {properties: {id: {type: integr}}}}]": `the type at /properties/id of a JSON schema is "integr"`,
		"name: \"${env:NOT_SET_1}\"" + rest: "needs the variable NOT_SET_1, which is not set",
		"name: ${vault:x}" + rest:           "holds ${vault:x}",
		"name: ${env:HOME" + rest:           "name holds ${ without a }",
		"source: {connector: s}\nsink: {connector: m}\nstreams: [a, b, {stream: a, table: c}]": `streams names "a" twice`,
		"source: {connector: s}\nsink: {connector: m}\nstreams: [{stream: a, schema: a.json}]": "streams[0].schema cannot be read",
		"name: ${file:nowhere}" + rest: "needs a file that cannot be read",
		"source: {connector: s}\nsink: {connector: m}\nstreams: [{stream: a, key: [id]}]": "no JSON pointer: write /id",
		"source: {connector: s}\nsink: {connector: m}\nstreams: [{table: a}]":             "streams[0].stream is missing",
		"source: {connector: s}\nsink: {connector: m}\nstreams: []":                       "streams must be a list",
		"source: {connector: s, config: [1]}\nsink: {connector: m}\nstreams: [a]":         "source.config must be a mapping",
		"source: {connector: s, protocol: singer}\nsink: {connector: m}\nstreams: [a]":    "must be flow or airbyte",
	} {
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// What is wrong is told with its line, in one sentence; only one document is read, and nothing of it is passed over.
func TestParse_Lines(t *testing.T) {
	const shop = "source: {connector: s}\nsink: {connector: m}\nstreams: [a]\n"
	for text, want := range map[string]string{
		shop + "---\nname: other\n":     "x.yaml, line 5: a second YAML document begins: write each pipeline into a file of its own, and no --- between the parts of one",
		shop + "sink: {connector: n}\n": `x.yaml, line 4: the key "sink" stands in line 2 already: leave one of them out`,
		shop + "namee: x\n":             `x.yaml, line 4: unknown key "namee" in the file: did you mean "name"?`,
		"source:\n  connector: s\n  config:\n    a: 1\n    a: 2\n" + shop: `x.yaml, line 5: the key "a" stands in line 4 already: leave one of them out`,
		"source:\n\tconnector: s\n" + shop[23:]:                           "x.yaml, line 2: a tab stands where YAML allows spaces only: indent with spaces",
		"source:\n  connector: s\n  x: 1\n" + shop[23:]:                   `x.yaml, line 3: unknown key "x" in source: known are connector, config, protocol`,
		shop[:44] + "streams:\n  - stream: a\n    key: [id]\n":            `x.yaml, line 5: streams[0].key[0] is "id" and no JSON pointer: write /id`,
		shop[:44] + "streams:\n  - stream: a\n  - table: x\n":             "x.yaml, line 5: streams[1].stream is missing: name a stream, such as public.orders",
		shop[:44] + "streams: [a\n":                                       "x.yaml is no YAML mapping: line 3: sequence end token ']' not found",
		shop + "name: \xff\n":                                             "x.yaml, line 4: the text is not in UTF-8: save the file in that encoding",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"\ufeff" + shop, "---\n" + shop + "...\n", shop + "---\n# nothing more\n", strings.ReplaceAll(shop, "\n", "\r\n")} {
		if f, err := Parse("x.yaml", []byte(text)); err != nil || f.Source.Name != "s" || f.Streams[0].Pattern != "a" {
			t.Errorf("%q: got %+v, %v", text, f, err)
		}
	}
}

func TestRead_NoFile(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "x.yaml")); err == nil || !strings.Contains(err.Error(), "cannot be read: no such file") {
		t.Errorf("got %v", err)
	}
}
