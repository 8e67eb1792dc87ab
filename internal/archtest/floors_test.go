package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/estuary/connectors"

// A floor is a level of the repository. Imports go to the same floor or to a lower one.
type floor int

const (
	ground floor = iota
	wires
	mains
	engines
	connectors
	tests // imported by tests alone
	tools // imports nothing of ours and is imported by nobody
)

func (f floor) String() string {
	return [...]string{"ground", "wires", "mains", "engines", "connectors", "tests", "tools"}[f]
}

// floors places each package; see matches for how a place is written. A package without a place fails the test, so
// that somebody decides.
var floors = map[string]floor{
	"protocol":                   ground,
	"protocol/config":            ground,
	"parser/":                    ground,
	"network-tunnel":             ground,
	"internal/jsonschema":        ground,
	"internal/jsonkey":           ground,
	"internal/keyrange":          ground,
	"internal/catalog":           ground,
	"internal/reduce":            ground,
	"internal/airbyte":           wires,
	"internal/flow":              wires,
	"internal/transact":          mains,
	"protocol/source":            mains,
	"protocol/materialize":       mains,
	"sqlcapture":                 engines,
	"sqlcapture/rowkey":          ground,
	"internal/pgwire":            engines,
	"source-":                    connectors,
	"materialize-":               connectors,
	"protocol/protocoltest/":     tests,
	"sqlcapture/sqlcapturetest/": tests,
	"internal/pgtest/":           tests,
	"internal/golden/":           tests,
	"internal/archtest":          tools,
	"docs/gen":                   tools,
}

// forbidden are the arrows that the floors alone would allow.
var forbidden = []struct {
	from, to, why string
	except        []string
}{
	{from: "", to: "internal/airbyte", why: "a wire format is the mains' own", except: []string{"protocol/source", "protocol/materialize", "pipeline"}},
	{from: "", to: "internal/flow", why: "a wire format is the mains' own", except: []string{"protocol/source", "protocol/materialize", "pipeline"}},
	{from: "internal/airbyte", to: "internal/flow", why: "the two wires know nothing of each other"},
	{from: "internal/flow", to: "internal/airbyte", why: "the two wires know nothing of each other"},
	{from: "parser/", to: "protocol/", why: "formats know nothing of connectors", except: []string{"parser/cmd/parser"}},
	{from: "sqlcapture/", to: "github.com/jackc/", why: "the engine knows no driver and no dialect"},
	{from: "protocol", to: "github.com/", why: "the vocabulary uses the standard library only"},
	{from: "internal/pgtest", to: "github.com/", why: "servers start by the standard library, so that any package may use them"},
}

// matches tells whether a package is at a place: "" is anywhere, "a/" is a and everything below it, "a-" is whatever begins so, "a" is a alone.
func matches(pkg, place string) bool {
	switch {
	case place == "":
		return true
	case strings.HasSuffix(place, "/"):
		return strings.HasPrefix(pkg+"/", place)
	case strings.HasSuffix(place, "-"):
		return strings.HasPrefix(pkg, place)
	}
	return pkg == place
}

// floorOf finds the longest place that a package is at.
func floorOf(pkg string) (floor, bool) {
	best := ""
	for place := range floors {
		if matches(pkg, place) && len(place) > len(best) {
			best = place
		}
	}
	return floors[best], best != ""
}

// connectorOf is the folder of the connector that a package belongs to; empty: none.
func connectorOf(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	if strings.HasPrefix(name, "source-") || strings.HasPrefix(name, "materialize-") {
		return name
	}
	return ""
}

// violations judges the imports of shipped code: paths without the module's own prefix, others in full.
func violations(imports map[string][]string) []string {
	var bad []string
	add := func(from, to, why string) { bad = append(bad, fmt.Sprintf("%s imports %s: %s", from, to, why)) }
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		own, known := floorOf(from)
		if !known {
			bad = append(bad, fmt.Sprintf("%s has no floor: give it one in floors_test.go", from))
			continue
		}
		for _, to := range imports[from] {
			for _, rule := range forbidden {
				excepted := slices.ContainsFunc(rule.except, func(place string) bool { return matches(from, place) })
				if matches(from, rule.from) && matches(to, rule.to) && !excepted {
					add(from, to, rule.why)
				}
			}
			theirs, knownToo := floorOf(to)
			switch {
			case !knownToo: // the standard library, or somebody else's module
			case theirs == tools:
				add(from, to, "nobody imports a tool")
			case theirs == tests && own != tests:
				add(from, to, "test helpers do not ship")
			case theirs > own:
				add(from, to, fmt.Sprintf("arrows go down, and %s is above %s", theirs, own))
			case connectorOf(to) != "" && connectorOf(from) != connectorOf(to):
				add(from, to, "a connector is imported by nobody: what two share belongs into an engine")
			}
		}
	}
	return bad
}

func TestFloors_ArrowsOnlyGoDown(t *testing.T) {
	imports := shippedImports(t)
	if len(imports) < 5 {
		t.Fatalf("found only %d packages", len(imports))
	}
	for _, v := range violations(imports) {
		t.Error(v)
	}
}

func TestFloors_EachRuleBites(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"upwards", "protocol", "sqlcapture", "above"},
		{"connector to connector", "source-postgres", "source-mysql/binlog", "imported by nobody"},
		{"engine to connector", "sqlcapture", "source-postgres/pgoutput", "above"},
		{"wire format", "source-postgres", "internal/airbyte", "mains' own"},
		{"wire to wire", "internal/flow", "internal/airbyte", "nothing of each other"},
		{"driver in the engine", "sqlcapture", "github.com/jackc/pgx/v4", "no driver"},
		{"library in the vocabulary", "protocol", "github.com/sirupsen/logrus", "standard library only"},
		{"test helper", "source-postgres", "internal/pgtest", "do not ship"},
		{"tool", "source-postgres", "docs/gen", "nobody imports"},
		{"no floor", "somewhere", "fmt", "give it one"},
	} {
		got := violations(map[string][]string{c.from: {c.to}})
		if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: got %q, want something about %q", c.name, got, c.want)
		}
	}
	allowed := map[string][]string{
		"source-postgres":   {"sqlcapture", "source-postgres/pgoutput", "internal/pgwire", "github.com/jackc/pgx/v4", "internal", "time"},
		"protocol/source":   {"protocol", "internal/airbyte", "internal/flow", "github.com/sirupsen/logrus"},
		"sqlcapture":        {"protocol/source", "sqlcapture/rowkey"},
		"parser/cmd/parser": {"protocol/config", "parser"},
	}
	if got := violations(allowed); len(got) != 0 {
		t.Errorf("right imports are refused: %q", got)
	}
}
