package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/internal/filesource/filesourcetest"
	"github.com/estuary/connectors/internal/golden"
	"github.com/estuary/connectors/parser/parsertest"
	configs "github.com/estuary/connectors/protocol/config"
)

//go:generate go test -run=^TestReadme . -update

func TestReadme_Config(t *testing.T) {
	golden.Section(t, "README.md", "config", configs.ReadmeTable[config]())
}

func TestReadme_Types(t *testing.T) {
	golden.Section(t, "README.md", "types", parsertest.TypeTable(t))
}

func TestReadme_Example(t *testing.T) {
	c, err := configs.Decode[config](filesourcetest.ReadmeExample(t))
	if err != nil || c.MatchKeys == "" || len(c.Advanced.Exclude) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A difference here is a change of what people have stored: it needs an alias or a migration, and a line in the changelog.
// bug streams-files-parser 5: estuary/connectors history: defects inside the schemas of configurations
func TestSpec_IsWhatWasReleased(t *testing.T) {
	for name, schema := range map[string][]byte{
		"spec.airbyte.json": configs.Schema[config](configs.Airbyte), "spec.flow.json": configs.Schema[config](configs.Flow),
		"resource.flow.json": configs.Schema[filesource.Resource](configs.Flow),
	} {
		var b bytes.Buffer
		if err := json.Indent(&b, schema, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, append(b.Bytes(), '\n'))
	}
}

// bug streams-files-parser 54: estuary/connectors history: public buckets were read only where the credentials were null in so many words
func TestConfig_EveryFormOfCredentials(t *testing.T) {
	for text, want := range map[string]string{
		`{"bucket":"b"}`: "anonymous",
		`{"bucket":"b","googleCredentials":null}`:                                                  "anonymous",
		`{"bucket":"b","googleCredentials":""}`:                                                    "anonymous",
		`{"bucket":"b","googleCredentials":{"type":"x"}}`:                                          `{"type":"x"}`,
		`{"bucket":"b","googleCredentials":"{\"type\": \"x\"}"}`:                                   `{"type": "x"}`,
		`{"bucket":"b","googleCredentials":"a password"}`:                                          "no key of a service account",
		`{"bucket":"b","credentials":{"auth_type":"CredentialsJSON","credentials_json":"{}"}}`:     "{}",
		`{"bucket":"b","credentials":{"auth_type":"ApplicationDefault"}}`:                          "default",
		`{"bucket":"b","credentials":{"auth_type":"Anonymous"}}`:                                   "anonymous",
		`{"bucket":"b","credentials":{"auth_type":"ApplicationDefault"},"googleCredentials":"{}"}`: "given twice",
	} {
		c, err := configs.Decode[config]([]byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a password") {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		login, err := c.login()
		if err != nil {
			t.Fatal(err)
		}
		got := "anonymous"
		switch {
		case login.Key != nil:
			got = login.Key.JSON
		case login.Default != nil:
			got = "default"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestConfig_DefaultsAndOlderPlaces(t *testing.T) {
	c, err := configs.Decode[config]([]byte(`{"bucket":"b","endpoint":"http://localhost:4443","ascendingKeys":true,"parser":{"format":"csv","csv":{"delimiter":";"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Advanced
	if a.Endpoint != "http://localhost:4443" || !a.AscendingKeys || a.Lookback != 72*time.Hour || a.Horizon != 0 || a.PollInterval != time.Minute || a.OnFileError != "fail" || !a.Sample {
		t.Errorf("got %+v", a)
	}
	if older, err := configs.Decode[config]([]byte(`{"bucket":"b","advanced":{"minimum_modified":"2024-01-01T00:00:00Z"}}`)); err != nil || older.Advanced.MinimumModified != "2024-01-01T00:00:00Z" {
		t.Errorf("%+v, %v", older.Advanced, err)
	}
	if c.Parser.Format.CSV == nil || c.Parser.CSV == nil || c.Parser.CSV.Delimiter != ";" {
		t.Errorf("the parser's configuration is %+v", c.Parser)
	}
	for text, problem := range map[string]string{
		`{"bucket":"b/c"}`:                                                        "no name of a bucket",
		`{"bucket":"b","endpoint":"localhost:9000"}`:                              `advanced.endpoint is no URL`,
		`{"bucket":"b","parser":{"schema":{},"filename":"x"}}`:                    "the connector sets it",
		`{"bucket":"b","endpoint":"http://a","advanced":{"endpoint":"http://b"}}`: `"advanced.endpoint" and "endpoint" mean the same`,
		`{"bucket":"b","parser":{"addValues":{"/a":1}}}`:                          "addValues",
		`{"bucket":"b","matchKeys":"("}`:                                          "no regular expression",
		`{"bucket":"b","bukket":"c"}`:                                             "bukket",
	} {
		if _, err := configs.Decode[config]([]byte(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %s", text, err, problem)
		}
	}
}
