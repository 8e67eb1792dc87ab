package jsonschema

import (
	"strings"
	"testing"
)

func TestPlaces_ShallowFirstAndEachObjectOnce(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"nothing is said", `{}`, ``},
		{"members", `{"type":"object","properties":{"b":{"type":"integer"},"a":{}},"required":["a"]}`, `/b /a!`},
		{
			"nested ones come later", `{"type":"object","properties":{"a":{"type":"object","properties":{"c":{},"d":{}},"required":["d"]},"b":{}},"required":["a"]}`,
			`/a! /b /a/c /a/d!`,
		},
		{"the document's type is not said", `{"properties":{"a":{"type":"integer"},"b":{"properties":{"c":{}},"required":["c"]}},"required":["a","b"]}`, `/a! /b! /b/c`},
		{"required on the whole way", `{"type":"object","properties":{"a":{"type":"object","properties":{"c":{}},"required":["c"]}}}`, `/a /a/c`},
		{"required in what may be null", `{"type":"object","properties":{"a":{"type":["object","null"],"properties":{"c":{}},"required":["c"]}},"required":["a"]}`, `/a! /a/c`},
		{"required, not declared", `{"type":"object","properties":{"a":{"type":"object","required":["b"]}},"required":["a","z"]}`, `/a! /z! /a/b!`},
		{"in all branches", `{"type":"object","anyOf":[{"properties":{"a":{}},"required":["a","b"]},{"required":["b"]}]}`, `/a /b!`},
		{"allOf and $ref", `{"type":"object","allOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"a":{}},"required":["a"]}}}`, `/a!`},
		{"then and else", `{"type":"object","if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{}}},"else":{"properties":{"b":{}}}}`, `/a /b`},
		{"an object in itself", `{"type":"object","properties":{"v":{},"next":{"$ref":"#"}}}`, `/v /next`},
		{
			"two in each other", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},"b":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"},"x":{}}}}}`,
			`/b /b/a /b/x`,
		},
		{"a slash and a tilde in a name", `{"properties":{"a/b":{"type":"object","properties":{"~":{}}}}}`, `/a~1b /a~1b/~0`},
	} {
		var got []string
		parsed(t, c.schema).Places(func(p Place) bool {
			var b strings.Builder
			for _, token := range p.Tokens {
				b.WriteString("/" + escape(token))
			}
			if p.Required {
				b.WriteByte('!')
			}
			got = append(got, b.String())
			return true
		})
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, not %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

func TestPlaces_EndsWhenToldTo(t *testing.T) {
	count := 0
	parsed(t, `{"properties":{"a":{},"b":{},"c":{}}}`).Places(func(Place) bool {
		count++
		return count < 2
	})
	if count != 2 {
		t.Errorf("%d places", count)
	}
}
