package jsonschema

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/rawjson"
)

func TestJoin(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"same", `{"type": "string"}`, `{"type":"string"}`, `{"type":"string"}`},
		{"types widen", `{"type":"integer","minimum":0,"maximum":10}`, `{"type":["string","null"],"format":"date","maxLength":10}`, `{"type":["integer","null","string"],"format":"date","maxLength":10,"minimum":0,"maximum":10}`},
		{"bounds widen", `{"type":"integer","minimum":-32768,"maximum":32767}`, `{"type":"integer","minimum":-9223372036854775808,"maximum":9.223372036854775807e18}`, `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`},
		{"a bound goes", `{"type":"integer","minimum":1}`, `{"type":"number"}`, `{"type":"number"}`},
		{"lengths widen", `{"type":"string","maxLength":10}`, `{"type":"string","maxLength":20}`, `{"type":"string","maxLength":20}`},
		{"formats of numbers", `{"type":"string","format":"integer"}`, `{"type":"string","format":"number"}`, `{"type":"string","format":"number"}`},
		{"formats that differ", `{"type":"string","format":"date"}`, `{"type":"string","format":"uuid"}`, `{"type":"string"}`},
		{"enums unite", `{"type":"string","enum":["a","b"]}`, `{"type":"string","enum":["b","c"]}`, `{"type":"string","enum":["a","b","c"]}`},
		{"enum and none", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, `{"type":"string"}`},
		{"anything", `{}`, `{"type":"string"}`, `{}`},
		{"nothing", `false`, `{"type":"string","x-a":1}`, `{"type":"string","x-a":1}`},
		{"items", `{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"null"}}`, `{"type":"array","items":{"type":["null","string"]}}`},
		{"items and anything", `{"type":"array","items":{"type":"string"}}`, `{"type":"array"}`, `{"type":"array"}`},
		{"items and no array", `{"type":"array","items":{"type":"string"}}`, `{"type":"null"}`, `{"type":["array","null"],"items":{"type":"string"}}`},
		{
			"a column is added", `{"type":"object","properties":{"id":{"type":"integer"},"a":{"type":"string"}},"required":["id","a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"id":{"type":"integer"},"b":{"type":"boolean"}},"required":["id","b"],"additionalProperties":false}`,
			`{"type":"object","properties":{"id":{"type":"integer"},"a":{"type":"string"},"b":{"type":"boolean"}},"required":["id"],"additionalProperties":false}`,
		},
		{
			"a discovered schema and a complete one: the condition stays", `{"type":"object","properties":{"id":{"type":"integer","description":"the key"}},"required":["id"],"x-infer-schema":true,"if":{"required":["_meta"]},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`,
			`{"type":"object","properties":{"id":{"type":"integer"},"new":{"type":["null","string"],"format":"date-time"}},"required":["id"],"additionalProperties":false}`,
			`{"type":"object","properties":{"id":{"type":"integer","description":"the key"},"new":{"type":["null","string"],"format":"date-time"}},"required":["id"],"x-infer-schema":true,"if":{"required":["_meta"]},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`,
		},
		{
			"branches that say nothing of a member of any type", `{"type":"object","properties":{"x":{"description":"jsonb"}},"if":{"properties":{"op":{"const":"d"}}},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`,
			`{"type":"object","properties":{"x":{"type":["null","string"]}}}`,
			`{"type":"object","properties":{"x":{"description":"jsonb"}},"if":{"properties":{"op":{"const":"d"}}},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`,
		},
		{"what is declared and what is meant", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":{"type":"boolean"}}`, `{"type":"object","properties":{"a":{"type":["null","string"]}},"additionalProperties":{"type":["boolean","string"]}}`},
		{"references are followed", `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#/$defs/t"}}}}}`, `{"type":"null"}`, `{"type":["null","object"],"properties":{"n":{"type":"integer"},"next":{"type":"object","properties":{"n":{"type":"integer"},"next":{}}}}}`},
		{"combinations", `{"anyOf":[{"type":"string"},{"type":"integer","maximum":5}],"title":"either"}`, `{"allOf":[{"type":["integer","null"]},{"maximum":7}]}`, `{"type":["integer","null","string"],"title":"either","maximum":7}`},
		{"nothing at all", `false`, `{"allOf":[{"type":"string"},{"type":"null"}]}`, `false`},
	} {
		got, err := Join([]byte(c.a), []byte(c.b))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.name, got, err, c.want)
		}
		if c.want == "false" {
			continue
		}
		again, err := Join(got, []byte(c.b))
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: joined once more:\n got %s, %v\nwant %s", c.name, again, err, got)
		}
	}
	for _, schema := range []string{"1", "{"} {
		if _, err := Join([]byte(schema), []byte("{}")); err == nil {
			t.Errorf("%s is taken", schema)
		}
		if _, err := Join([]byte("{}"), []byte(schema)); err == nil {
			t.Errorf("%s is taken", schema)
		}
	}
}

// What one of two schemas accepts, their join accepts; and it does not matter how three are grouped.
func TestJoin_TakesWhatEitherTakes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	for range 1_000 {
		a, b, c := randomSchema(r, 3), randomSchema(r, 3), randomSchema(r, 3)
		ab, err := Join([]byte(a), []byte(b))
		if err != nil || rawjson.Valid(ab) != nil {
			t.Fatalf("Join(%s, %s) = %s, %v", a, b, ab, err)
		}
		na, nb, nab := parsed(t, a), parsed(t, b), parsed(t, string(ab))
		for range 10 {
			v := []byte(randomValue(r, 3))
			if na.Accepts(v) || nb.Accepts(v) {
				accepted++
				if !nab.Accepts(v) {
					t.Fatalf("%s is accepted by %s or %s, not by %s", v, a, b, ab)
				}
			}
		}
		left, _ := Join(ab, []byte(c))
		bc, _ := Join([]byte(b), []byte(c))
		right, _ := Join([]byte(a), bc)
		if string(left) != string(right) {
			t.Fatalf("Join(Join(a, b), c) = %s\nJoin(a, Join(b, c)) = %s\nof %s, %s, %s", left, right, a, b, c)
		}
	}
	if accepted < 500 {
		t.Errorf("only %d values were accepted by a schema", accepted)
	}
}

// randomSchema makes schemas without defaults and combinations, closed as those of a source are.
func randomSchema(r *rand.Rand, depth int) string {
	var members []string
	var types []string
	for _, name := range []string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if r.IntN(3) == 0 {
			types = append(types, `"`+name+`"`)
		}
	}
	if types == nil {
		types = []string{`"object"`}
	}
	members = append(members, `"type":[`+strings.Join(types, ",")+"]")
	if r.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"minimum":%d`, r.IntN(3)), fmt.Sprintf(`"exclusiveMaximum":%d`, 2+r.IntN(3)))
	}
	if r.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"maxLength":%d`, r.IntN(3)))
	}
	if r.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"format":%q`, []string{"integer", "number", "date"}[r.IntN(3)]))
	}
	if depth > 0 {
		var properties []string
		for _, name := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				properties = append(properties, fmt.Sprintf("%q:%s", name, randomSchema(r, depth-1)))
			}
		}
		members = append(members, `"properties":{`+strings.Join(properties, ",")+`}`, `"additionalProperties":false`)
		if r.IntN(2) == 0 {
			members = append(members, `"required":["a"]`)
		}
		if r.IntN(2) == 0 {
			members = append(members, `"items":`+randomSchema(r, depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func randomValue(r *rand.Rand, depth int) string {
	switch k := r.IntN(8); {
	case k == 0:
		return "null"
	case k == 1:
		return "true"
	case k == 2:
		return fmt.Sprint(r.IntN(5))
	case k == 3:
		return fmt.Sprint(r.IntN(4)) + ".5"
	case k == 4:
		return `"` + strings.Repeat("x", r.IntN(4)) + `"`
	case k == 5 && depth > 0:
		var items []string
		for range r.IntN(3) {
			items = append(items, randomValue(r, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case depth > 0:
		var members []string
		for _, name := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				members = append(members, fmt.Sprintf("%q:%s", name, randomValue(r, depth-1)))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return "0"
}
