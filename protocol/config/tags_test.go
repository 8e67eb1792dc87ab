package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol/config"
)

// refused runs f and returns the message that it panics with.
func refused(f func()) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func decoding[C any]() func() { return func() { _, _ = config.Decode[C](nil) } }

type endless struct {
	Next *endless `json:"next" title:"T" doc:"D."`
}

type noVariant struct {
	A string `json:"a" title:"T" doc:"D."`
}

type clashing struct {
	A *struct {
		Kind string `json:"kind" title:"T" doc:"D."`
	} `json:"a" title:"T" doc:"D."`
}

func TestTags_MistakesPanicWithTheField(t *testing.T) {
	for want, f := range map[string]func(){
		"no json tag": decoding[struct{ A string }](),
		"a title and a doc": decoding[struct {
			A string `json:"a" title:"T"`
		}](),
		"without dots": decoding[struct {
			A string `json:"a.b" title:"T" doc:"D."`
		}](),
		`key "a" twice`: decoding[struct {
			A string `json:"a" title:"T" doc:"D."`
			B string `json:"b" title:"T" doc:"D." alias:"a"`
		}](),
		"no config can hold": decoding[struct {
			A map[string]int `json:"a" title:"T" doc:"D."`
		}](),
		"must be true or false": decoding[struct {
			A string `json:"a" title:"T" doc:"D." secret:"yes"`
		}](),
		`hides "b", which is no field of it`: decoding[struct {
			A struct {
				C string `json:"c" title:"T" doc:"D."`
			} `json:"a" title:"T" doc:"D." hides:"c,b"`
		}](),
		`hides "c", which is no field of it`: decoding[struct {
			A string `json:"a" title:"T" doc:"D." hides:"c"`
		}](),
		"secret but no string": decoding[struct {
			A int `json:"a" title:"T" doc:"D." secret:"true"`
		}](),
		"secret with an alias": decoding[struct {
			A string `json:"a" title:"T" doc:"D." secret:"true" alias:"b"`
		}](),
		"secret with a default": decoding[struct {
			A string `json:"a" title:"T" doc:"D." secret:"true" default:"b"`
		}](),
		"multiline but": decoding[struct {
			A bool `json:"a" title:"T" doc:"D." multiline:"true"`
		}](),
		"neither string nor list": decoding[struct {
			A int `json:"a" title:"T" doc:"D." enum:"1,2"`
		}](),
		"enum value twice": decoding[struct {
			A string `json:"a" title:"T" doc:"D." enum:"x,y,x"`
		}](),
		"required and allows": decoding[struct {
			A string `json:"a" title:"T" doc:"D." enum:",x"`
		}](),
		"has a bound but": decoding[struct {
			A string `json:"a" title:"T" doc:"D." min:"1"`
		}](),
		`bound "1"`: decoding[struct {
			A time.Duration `json:"a" title:"T" doc:"D." min:"1"`
		}](),
		`default "x", which must be a whole number`: decoding[struct {
			A int `json:"a" title:"T" doc:"D." default:"x"`
		}](),
		`default "9", which must be at most 5`: decoding[struct {
			A int `json:"a" title:"T" doc:"D." default:"9" max:"5"`
		}](),
		`default "z", which must be one of`: decoding[struct {
			A string `json:"a" title:"T" doc:"D." default:"z" enum:"x,y"`
		}](),
		"pattern of": decoding[struct {
			A string `json:"a" title:"T" doc:"D." pattern:"("`
		}](),
		"contains itself": decoding[endless](),
		"no struct":       decoding[int](),
		"no struct of variants": decoding[struct {
			A string `json:"a" title:"T" doc:"D." oneof:"kind"`
		}](),
		"without variants": decoding[struct {
			A struct{} `json:"a" title:"T" doc:"D." oneof:"kind"`
		}](),
		"no pointer to a struct": decoding[struct {
			A noVariant `json:"a" title:"T" doc:"D." oneof:"kind"`
		}](),
		"the key that chooses": decoding[struct {
			A clashing `json:"a" title:"T" doc:"D." oneof:"kind"`
		}](),
		"which is no variant": decoding[struct {
			A credentials `json:"a" title:"T" doc:"D." oneof:"kind" default:"X"`
		}](),
		"section with a default": decoding[struct {
			A advanced `json:"a" title:"T" doc:"D." default:"X"`
		}](),
		`"token" must be a secret`: func() {
			config.Schema[struct {
				A string `json:"token" title:"T" doc:"D."`
			}](config.Airbyte)
		},
	} {
		if got := refused(f); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// Base is embedded, so that connectors can share fields.
type Base struct {
	Region string `json:"region" title:"Region" doc:"Where." default:"eu"`
}

func TestTags_EmbeddedStructIsPartOfItsParent(t *testing.T) {
	type outer struct {
		Base
		private int    //nolint:unused // fields that cannot be set are left alone
		Skipped int    `json:"-"`
		Name    string `json:"name" title:"Name" doc:"What."`
	}
	got, err := config.Decode[outer]([]byte(`{"name":"n","region":"us"}`))
	if err != nil || got.Region != "us" || got.Name != "n" {
		t.Errorf("got %+v, %v", got, err)
	}
	if table := config.ReadmeTable[outer](); !strings.Contains(table, "| `region` | string | `eu` |") {
		t.Error(table)
	}
}

func TestReadmeTable_VariantsThatAreAlikeShareTheirRows(t *testing.T) {
	type options struct {
		Delimiter string `json:"delimiter" title:"Delimiter" doc:"Between values." default:","`
	}
	type shape struct {
		Format struct {
			CSV   *options  `json:"csv" title:"CSV" doc:"Text."`
			TSV   *options  `json:"tsv" title:"TSV" doc:"Text."`
			JSON  *struct{} `json:"json" title:"JSON" doc:"Lines."`
			Other *options  `json:"other" title:"Other" doc:"Text."`
		} `json:"format" title:"Format" doc:"Of the files." oneof:"type"`
	}
	table := config.ReadmeTable[shape]()
	if !strings.Contains(table, "| `format (csv, tsv).delimiter` |") || !strings.Contains(table, "| `format (other).delimiter` |") || strings.Count(table, "delimiter") != 2 {
		t.Error(table)
	}
}

func TestTags_DefaultChoiceAndRequiredSection(t *testing.T) {
	type shape struct {
		Format struct {
			CSV *struct {
				Delimiter string `json:"delimiter" title:"Delimiter" doc:"Between values." default:","`
			} `json:"csv" title:"CSV" doc:"Text."`
			JSON *struct{} `json:"json" title:"JSON" doc:"Lines."`
		} `json:"format" title:"Format" doc:"Of the files." oneof:"type" default:"csv"`
	}
	for in, csv := range map[string]bool{`{}`: true, `{"format":{}}`: true, `{"format":{"delimiter":";"}}`: true, `{"format":{"type":"json"}}`: false} {
		got, err := config.Decode[shape]([]byte(in))
		if err != nil || (got.Format.CSV != nil) != csv || (got.Format.JSON == nil) != csv {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
	}
	type moved struct {
		Filters *struct {
			Schemas []string `json:"schemas,omitempty" title:"Schemas" doc:"Only these." alias:"/discover_schemas"`
			Limit   int      `json:"limit" title:"Limit" doc:"At most." default:"7"`
		} `json:"filters" title:"Filters" doc:"Which tables."`
	}
	if got, err := config.Decode[moved]([]byte(`{"discover_schemas":["a"]}`)); err != nil || got.Filters == nil || len(got.Filters.Schemas) != 1 || got.Filters.Limit != 7 {
		t.Errorf("an older key into a section that is not there: got %+v, %v", got.Filters, err)
	}
	if got, err := config.Decode[moved](nil); err != nil || got.Filters != nil {
		t.Errorf("an optional section: got %+v, %v", got.Filters, err)
	}
	type nested struct {
		Inner struct {
			Name string `json:"name" title:"Name" doc:"What."`
		} `json:"inner" title:"Inner" doc:"Within."`
	}
	if _, err := config.Decode[nested](nil); err == nil || err.Error() != "inner.name is required: What" {
		t.Errorf("got %v", err)
	}
	if got := string(config.Schema[nested](config.Flow)); !strings.Contains(got, `"required":["inner"]`) {
		t.Error(got)
	}
}

// A struct that serves two may hide from the users of one what that one sets itself.
func TestTags_HideFieldsOfASection(t *testing.T) {
	type options struct {
		Name string `json:"name,omitempty" title:"Name" doc:"Its name."`
		Size int    `json:"size,omitempty" title:"Size" doc:"Its size."`
	}
	type hiding struct {
		A options `json:"a" title:"A" doc:"One." hides:"name"`
		B options `json:"b" title:"B" doc:"Another."`
	}
	c, err := config.Decode[hiding]([]byte(`{"a":{"name":"x","size":1},"b":{"name":"y"}}`))
	if err != nil || c.A.Name != "x" || c.B.Name != "y" {
		t.Errorf("%+v, %v", c, err)
	}
	if table := config.ReadmeTable[hiding](); strings.Contains(table, "`a.name`") || !strings.Contains(table, "`a.size`") || !strings.Contains(table, "`b.name`") {
		t.Errorf("the table is %s", table)
	}
	if schema := string(config.Schema[hiding](config.Airbyte)); strings.Count(schema, "airbyte_hidden") != 1 || strings.Count(schema, `"name":{`) != 2 {
		t.Errorf("the schema is %s", schema)
	}
}
