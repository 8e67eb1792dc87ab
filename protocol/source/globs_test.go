package source

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

func TestSelectStreams(t *testing.T) {
	streams := []protocol.Stream{
		{Name: "orders", Namespace: "public"}, {Name: "items", Namespace: "public"}, {Name: "sales.orders", Namespace: "sales"}, {Name: "events"},
	}
	for globs, want := range map[string]string{
		"orders":             "orders",
		"public.orders":      "orders",
		"*":                  "orders items sales.orders events",
		"public.*":           "orders items",
		"sales.*, ev?nts":    "sales.orders events",
		"events,orders":      "orders events",
		"*.orders":           "orders sales.orders",
		"s*.*o*":             "sales.orders",
		"sales.orders,*ers*": "orders sales.orders",
	} {
		got, err := selectStreams(streams, globs)
		var names []string
		for _, s := range got {
			names = append(names, s.Name)
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%q matches %q (%v), want %q", globs, names, err, want)
		}
	}
	for globs, nearest := range map[string]string{"public.ordres": `"public.orders"`, "orders,Items": `"items"`, "": `"items"`} {
		_, err := selectStreams(streams, globs)
		if err == nil || !strings.Contains(err.Error(), nearest) || protocol.KindOf(err) != protocol.Config {
			t.Errorf("%q: got %v, want a sentence that names %s", globs, err, nearest)
		}
	}
	if _, err := selectStreams(nil, "a"); err == nil || !strings.Contains(err.Error(), "no streams") {
		t.Errorf("got %v, want that there are no streams", err)
	}
}
