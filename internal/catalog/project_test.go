package catalog_test

import (
	"slices"
	"testing"

	"github.com/estuary/connectors/internal/catalog"
)

func TestProject(t *testing.T) {
	const schema = `{"type":"object","properties":{"Start Time":{"type":"string"},"id":{"type":"integer"},"end":{"type":"string"},"begin":{"type":"object","properties":{"x":{}}}},"required":["id","Start Time"]}`
	for _, c := range []struct {
		projections map[string]string
		want        string
	}{
		{nil, schema},
		{map[string]string{"id": "/id", "none": "/x"}, schema},
		{
			map[string]string{"Start Time": "/begin/at", "end": "/a~1b/c/d"},
			`{"type":"object","properties":{"id":{"type":"integer"},"begin":{"type":"object","properties":{"x":{},"at":{"type":"string"}}},` +
				`"a/b":{"type":"object","reduce":{"strategy":"merge"},"properties":{"c":{"type":"object","reduce":{"strategy":"merge"},"properties":{"d":{"type":"string"}}}}}},"required":["id"]}`,
		},
		{
			map[string]string{"Start Time": "/at", "id": "/key"},
			`{"type":"object","properties":{"end":{"type":"string"},"begin":{"type":"object","properties":{"x":{}}},"at":{"type":"string"},"key":{"type":"integer"}}}`,
		},
	} {
		if got := string(catalog.Project([]byte(schema), c.projections)); got != c.want {
			t.Errorf("%v:\n got %s\nwant %s", c.projections, got, c.want)
		}
	}
	if got := string(catalog.Project([]byte(`true`), map[string]string{"a": "/b"})); got != "true" {
		t.Errorf("got %s", got)
	}
	if got := catalog.ProjectKey([]string{"/id", "/a/b", "/x"}, map[string]string{"id": "/key/id", "a": "/c"}); !slices.Equal(got, []string{"/key/id", "/a/b", "/x"}) {
		t.Errorf("got %q", got)
	}
}
