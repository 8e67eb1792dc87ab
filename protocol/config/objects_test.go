package config_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol/config"
)

// open has the fields whose keys are the user's own, and a choice that may be given by its name.
type open struct {
	Names  map[string]string          `json:"names,omitempty" title:"Names" doc:"Texts by name."`
	Values map[string]json.RawMessage `json:"values,omitempty" title:"Values" doc:"Values by name."`
	Schema json.RawMessage            `json:"schema,omitempty" title:"Schema" doc:"A JSON schema."`
	Format format                     `json:"format" title:"Format" doc:"Form of the file." oneof:"type" bare:"true" default:"auto"`
}

type format struct {
	Auto *struct{} `json:"auto" title:"Auto" doc:"Found out."`
	CSV  *csv      `json:"csv" title:"CSV" doc:"Rows."`
}

type csv struct {
	Quote string `json:"quote" title:"Quote" doc:"Quote." default:"'"`
}

func TestDecode_KeepsObjectsOfTheUsersKeys(t *testing.T) {
	got, err := config.Decode[open]([]byte(`{"names":{"b":"x","a":""},"values":{"/n":12345678901234567890, "/m":null,"/o":{"z":1,"a":[true]}},
		"schema":{"type":"object","properties":{"z":{},"a":{"minimum":1.50}}},"format":{"type":"csv","quote":"|"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := open{
		Names:  map[string]string{"a": "", "b": "x"},
		Values: map[string]json.RawMessage{"/n": json.RawMessage("12345678901234567890"), "/m": json.RawMessage("null"), "/o": json.RawMessage(`{"z":1,"a":[true]}`)},
		Format: format{CSV: &csv{"|"}},
	}
	want.Schema = json.RawMessage(`{"type":"object","properties":{"z":{},"a":{"minimum":1.50}}}`)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecode_TakesTheNameOfAChoiceForIt(t *testing.T) {
	for in, want := range map[string]format{
		`{"format":"csv"}`:          {CSV: &csv{"'"}},
		`{"format":{"type":"csv"}}`: {CSV: &csv{"'"}},
		`{"format":"auto"}`:         {Auto: &struct{}{}},
		`{"format":null}`:           {Auto: &struct{}{}},
		`{}`:                        {Auto: &struct{}{}},
	} {
		if got, err := config.Decode[open]([]byte(in)); err != nil || !reflect.DeepEqual(got.Format, want) {
			t.Errorf("%s: got %+v, %v", in, got.Format, err)
		}
	}
	for in, want := range map[string]string{
		`{"format":"cvs"}`:         `format.type must be one of auto, csv: did you mean "csv"?`,
		`{"format":7}`:             "format must be an object, not a number",
		`{"names":{"a":1}}`:        `names must be an object of strings, but "a" is a number`,
		`{"names":["a"]}`:          "names must be an object, not a list",
		`{"values":"x"}`:           "values must be an object, not a string",
		`{"schema":true}`:          "schema must be an object, not true or false",
		`{"schema":{"a":1,"a":2}}`: "the config is no valid JSON: the key \"a\" is given twice in the same object",
	} {
		if _, err := config.Decode[open]([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

func TestSchema_RendersObjectsOfTheUsersKeys(t *testing.T) {
	for _, flavor := range []config.Flavor{config.Airbyte, config.Flow} {
		s := compile(t, config.Schema[open](flavor))
		for in, ok := range map[string]bool{
			`{"names":{"a":"b"},"values":{"a":1},"schema":{"x":[1]},"format":{"type":"csv"}}`: true,
			`{"names":{"a":1}}`: flavor == config.Airbyte, `{"schema":5}`: false, `{"values":[]}`: false,
		} {
			var v any
			if err := json.Unmarshal([]byte(in), &v); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); (err == nil) != ok {
				t.Errorf("%s: got %v", in, err)
			}
		}
	}
	table := config.ReadmeTable[open]()
	for _, want := range []string{"| `names` | object of strings |", "| `values` | object |", "| `schema` | object |", "| `format.type` | string | `auto` |"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
}

func TestTags_MistakesOfObjectsPanic(t *testing.T) {
	for want, f := range map[string]func(){
		"bare tag but is no choice": decoding[struct {
			A string `json:"a" title:"T" doc:"D." bare:"true"`
		}](),
		"object with a default": decoding[struct {
			A map[string]string `json:"a" title:"T" doc:"D." default:"{}"`
		}](),
	} {
		if got := refused(f); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDecode_ObjectsThatAreTexts(t *testing.T) {
	type whole struct {
		Key string `json:"key,omitempty" title:"Key" doc:"A key." secret:"true" object:"true"`
	}
	for in, want := range map[string]string{
		`{"key":{"z":1, "a":"b"}}`: `{"z":1,"a":"b"}`, `{"key":"{\"z\":1}"}`: `{"z":1}`, `{"key":""}`: "", `{"key":null}`: "", `{}`: "",
	} {
		c, err := config.Decode[whole]([]byte(in))
		if err != nil || c.Key != want {
			t.Errorf("%s: %q, %v; want %q", in, c.Key, err, want)
		}
	}
	if _, err := config.Decode[whole]([]byte(`{"key":["hush"]}`)); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a list: %v", err)
	}
}
