package runner

import (
	"encoding/json"
	"testing"

	"github.com/estuary/connectors/internal/catalog"
	"github.com/estuary/connectors/internal/pipeline/config"
)

func TestWiden(t *testing.T) {
	const present = `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":["string","null"],"format":"date"},"n":{"type":"integer"}},"required":["id","n"],"reduce":{"strategy":"merge"}}`
	r := &route{chosen: chosen{&offered{name: "items", key: []string{"/id"}}, &config.Stream{Projections: map[string]string{"at": "/times/at"}}}}
	known := catalog.Project(json.RawMessage(present), r.entry.Projections)
	for _, c := range []struct {
		name, sourced string
		changed       bool
	}{
		{"the same closed", `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":["string","null"],"format":"date"},"n":{"type":"integer"}},"required":["id","n"],"additionalProperties":false}`, false},
		{"in another order", `{"type":"object","required":["n","id"],"properties":{"n":{"type":"integer"},"id":{"type":"integer"},"at":{"format":"date","type":["null","string"]}}}`, false},
		{"a new column", `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":["string","null"],"format":"date"},"n":{"type":"integer"},"new":{"type":"string"}},"required":["id","n","new"]}`, true},
		{"a dropped column, which documents may lack", `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":["string","null"],"format":"date"}},"required":["id"]}`, true},
		{"a wider type", `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":["string","null"],"format":"date"},"n":{"type":["number","null"]}},"required":["id","n"]}`, true},
		{"a narrower type", `{"type":"object","properties":{"id":{"type":"integer"},"at":{"type":"string","format":"date"},"n":{"type":"integer"}},"required":["id","n"]}`, false},
	} {
		joined, changed, err := r.widen(known, json.RawMessage(c.sourced))
		if err != nil || changed != c.changed {
			t.Errorf("%s: changed %v, %v; got %s", c.name, changed, err, joined)
			continue
		}
		if _, again, err := r.widen(joined, json.RawMessage(c.sourced)); again || err != nil {
			t.Errorf("%s: joining once more changes it again, %v", c.name, err)
		}
	}
}
