package protocoltest

import (
	"strings"
	"testing"
)

// Each rule of a spec, broken once, below a root that keeps all of them.
func TestSpecFaults_EachRule(t *testing.T) {
	variant := func(constant string) string {
		return `{"type":"object","properties":{"kind":{"type":"string","const":"` + constant + `"}}}`
	}
	cases := []struct{ name, property, want string }{
		{"sound", `"host":{"type":["string","null"]},"parts":{"type":"array","items":{"type":"string"}}`, ""},
		{"sound choice", `"how":{"type":"object","display_type":"radio","oneOf":[` + variant("a") + `,` + variant("b") + `]}`, ""},
		{"sound date", `"day":{"type":"string","format":"date","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}`, ""},
		{"property named like a keyword", `"not":{"type":"string"}`, ""},
		{"keyword", `"x":{"type":"string","not":{"const":"y"}}`, "keyword not"},
		{"several types", `"x":{"type":["string","integer"]}`, "several types"},
		{"empty object", `"x":{"type":"object"}`, "without properties"},
		{"array of arrays", `"x":{"type":"array","items":{"type":"array"}}`, "an array whose items"},
		{"secret", `"x":{"type":"object","properties":{"token":{"type":"string"}}}`, "airbyte_secret"},
		{"enum", `"x":{"type":"string","enum":["a","b","a"]}`, "two equal values"},
		{"deep group", `"x":{"type":"object","properties":{"y":{"type":"string","group":"g"}}}`, "group"},
		{"display type", `"x":{"type":"string","display_type":"radio"}`, "display_type"},
		{"choice without a type", `"x":{"oneOf":[` + variant("a") + `]}`, "belongs to an object"},
		{"choice with equal variants", `"x":{"type":"object","oneOf":[` + variant("a") + `,` + variant("a") + `]}`, "0 properties tell"},
		{"choice of texts", `"x":{"type":"object","oneOf":[{"type":"string"}]}`, "no object with properties"},
		{"date without pattern", `"x":{"type":"string","format":"date-time"}`, "without a pattern"},
		{"pattern without date", `"x":{"type":"string","pattern":"^[0-9-]+$"}`, "format must say so"},
		{"order", `"x":{"type":"string","order":1},"y":{"type":"string","order":1}`, "same order"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root, err := parse([]byte(`{"type":"object","properties":{` + c.property + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(specFaults(root.(map[string]any)), "; ")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want one about %q", got, c.want)
			}
		})
	}
}
