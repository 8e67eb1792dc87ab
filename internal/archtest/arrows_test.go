package archtest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// rule says what the packages of one place may import. The first rule that matches a package counts.
type rule struct {
	where  string   // pattern, see inside
	may    []string // patterns of our own packages; "self/..." is what lies below the same top folder
	never  []string // instead of may: anything of ours but these
	not    []string // import paths of others that are forbidden, with all below them; "*" is everything outside the standard library
	reason string
}

// What several rules allow.
var (
	vocabulary = []string{"protocol", "protocol/config"}
	forms      = []string{"internal/rawjson", "internal/jsonschema", "internal/jsonkey", "internal/keyrange", "internal/catalog"}
	services   = []string{"internal/retry", "internal/awsauth", "internal/gcpauth", "internal/pgwire", "internal/pgserver", "internal/blob/...", "network-tunnel/..."}
	connectors = []string{"source-*/...", "materialize-*/...", "pipeline/..."}
	wires      = []string{"internal/airbyte/...", "internal/flow/..."}
)

var rules = []rule{
	// Ground.
	{where: "protocol", not: []string{"*"}, reason: "the vocabulary is the standard library and nothing else: everybody depends on it"},
	{where: "protocol/config", may: []string{"protocol"}, not: []string{"*"}, reason: "an author reads protocol and config, and nothing behind them"},
	{where: "protocol/protocoltest/...", never: slices.Concat(connectors, wires), reason: "simulators decode with code of their own, else a mistake of the wire format agrees with itself"},
	{where: "internal/airbyte/...", may: slices.Concat(vocabulary, forms, []string{"internal/airbyte/..."}), reason: "a wire format renders the vocabulary and knows no engine"},
	{where: "internal/flow/...", may: slices.Concat(vocabulary, forms, []string{"internal/flow/..."}), reason: "a wire format renders the vocabulary and knows no engine"},
	{where: "internal/rawjson", may: nil, not: []string{"*"}, reason: "JSON text is the same everywhere"},
	{where: "internal/jsonkey", may: []string{"internal/rawjson"}, not: []string{"*"}, reason: "a packed key is bytes made of JSON"},
	{where: "internal/jsonschema", may: []string{"protocol", "internal/rawjson"}, reason: "schemas are rendered from the vocabulary and read from text, whoever asks"},
	{
		where: "internal/catalog", may: slices.Concat(vocabulary, []string{"internal/rawjson", "internal/jsonschema", "internal/jsonkey"}),
		reason: "collections are made from schemas alone",
	},
	{where: "internal/widepipe", may: nil, not: []string{"*"}, reason: "a pipe is the system's"},
	{where: "internal/reduce", may: []string{"internal/rawjson", "internal/jsonkey", "internal/jsonschema"}, not: []string{"*"}, reason: "reductions are pure"},
	{where: "parser/cmd/...", may: slices.Concat(vocabulary, []string{"parser/...", "internal/widepipe"}), reason: "the parser's main adds strict decoding, no protocol"},
	{where: "parser/...", may: []string{"parser/...", "internal/jsonschema"}, reason: "a format is read the same whoever asks; the parser knows nothing of protocol"},
	{where: "network-tunnel/...", may: []string{"network-tunnel/..."}, reason: "a tunnel dials and knows nothing of protocol"},

	// Mains.
	{where: "internal/command", may: slices.Concat(vocabulary, []string{"internal/airbyte", "internal/widepipe"}), reason: "what both mains have in common knows neither of them"},
	{where: "protocol/source", may: slices.Concat(vocabulary, forms, wires, []string{"internal/command", "internal/retry"}), reason: "the main of sources knows no engine and no connector"},
	{
		where: "protocol/materialize", may: slices.Concat(vocabulary, forms, wires, []string{"internal/command", "internal/transact/...", "internal/reduce", "internal/retry"}),
		reason: "the main of sinks knows no engine and no connector",
	},
	{where: "internal/transact/...", may: slices.Concat(vocabulary, forms, []string{"internal/reduce", "internal/transact/..."}), reason: "the order of phases is the same on every wire"},

	// Engines.
	{where: "sqlcapture/rowkey", may: nil, reason: "keys are bytes; nothing of ours is needed to order them"},
	{where: "sqlcapture/sqlcapturetest/...", never: slices.Concat(connectors, wires), reason: "the simulated database proves the engine for every connector"},
	{
		where: "sqlcapture/...", may: slices.Concat([]string{"protocol", "protocol/source", "sqlcapture/rowkey", "internal/retry"}, forms),
		not:    []string{"github.com/jackc", "github.com/go-mysql-org", "github.com/go-sql-driver", "database/sql"},
		reason: "the engine is proved once, for every database: no dialect, no driver and no connector in it",
	},
	{
		where: "internal/sqlsink/...", may: slices.Concat(vocabulary, forms, services, []string{"protocol/materialize", "internal/sqlsink/..."}),
		reason: "an engine knows no connector",
	},
	{where: "internal/filesource/filesourcetest", never: slices.Concat(connectors, wires), reason: "the suite proves every connector of files"},
	{
		where: "internal/filesource/...", may: slices.Concat(vocabulary, forms, services, []string{"protocol/source", "internal/filesource/...", "parser/..."}),
		reason: "an engine knows no connector",
	},
	{where: "internal/blob/...", may: slices.Concat(vocabulary, []string{"internal/blob/...", "internal/retry", "internal/awsauth", "internal/gcpauth"}), reason: "a bucket is the same for sources and sinks"},
	{where: "internal/awsauth", may: vocabulary, reason: "credentials are config"},
	{where: "internal/gcpauth", may: vocabulary, reason: "credentials are config"},
	{where: "internal/pgserver", may: []string{"protocol", "internal/pgwire"}, reason: "a server's address and its refusals mean the same to source and sink"},
	{where: "internal/pgwire", may: nil, reason: "bytes of PostgreSQL's protocol, shared by source and sink"},

	// Connectors. A sub-package is a wire decoder: bytes in, events out.
	{
		where: "source-*", may: slices.Concat(vocabulary, forms, services, []string{"self/...", "protocol/source", "sqlcapture", "sqlcapture/rowkey", "internal/filesource/...", "parser/..."}),
		reason: "a connector imports no connector, no wire format of runners and no main but its own",
	},
	{
		where: "materialize-*", may: slices.Concat(vocabulary, forms, services, []string{"self/...", "protocol/materialize", "internal/sqlsink/..."}),
		reason: "a connector imports no connector, no wire format of runners and no main but its own",
	},
	{
		where: "source-*/...", may: []string{"self/...", "protocol", "sqlcapture", "internal/pgwire"},
		not:    []string{"net", "os", "github.com/jackc/pgx", "github.com/jackc/pgconn"},
		reason: "a decoder turns bytes into events, so that it can be fuzzed: no network, no files",
	},
	{
		where: "materialize-*/...", may: []string{"self/...", "protocol", "internal/pgwire"}, not: []string{"net", "os", "github.com/jackc/pgx", "github.com/jackc/pgconn"},
		reason: "an encoder turns rows into bytes, so that it can be fuzzed: no network, no files",
	},
	{
		where: "pipeline", may: slices.Concat(vocabulary, []string{"internal/command", "internal/pipeline/..."}),
		reason: "the runner's main is thin",
	},
	{
		where: "internal/pipeline/...", may: slices.Concat(vocabulary, forms, wires, []string{"internal/command", "internal/widepipe", "internal/pipeline/...", "internal/transact/...", "internal/reduce", "internal/retry"}),
		reason: "the runner speaks to connectors over pipes only",
	},

	// Apart.
	{where: "internal/pgtest/...", not: []string{"*"}, never: slices.Concat(connectors, wires), reason: "any package's tests may start a server, whatever else they link"},
	{where: "testsupport/...", never: slices.Concat(connectors, wires), reason: "black-box tests drive built binaries and decode with code of their own"},
}

// unnamed is the rule of a package that no other names.
var unnamed = rule{may: []string{"protocol"}, reason: "a package without a rule may import the vocabulary only; give it a rule in internal/archtest"}

func ruleOf(dir string) rule {
	for _, r := range rules {
		if inside(dir, r.where) {
			return r
		}
	}
	return unnamed
}

// refuses returns why a package in dir must not import a path; empty: it may.
func (r rule) refuses(dir, imported string) string {
	own, isOwn := strings.CutPrefix(imported, module)
	if !isOwn {
		first, _, _ := strings.Cut(imported, "/")
		foreign := strings.Contains(first, ".") || imported == "C"
		for _, no := range r.not {
			if no == "*" && foreign || imported == no || strings.HasPrefix(imported, no+"/") {
				return r.reason
			}
		}
		return ""
	}
	if isTestCode(own) && !isTestCode(dir) {
		return "helpers of tests do not ship"
	}
	matches := func(pattern string) bool {
		if below, ok := strings.CutPrefix(pattern, "self/"); ok {
			top, _, _ := strings.Cut(dir, "/")
			pattern = top + "/" + below
		}
		return inside(own, pattern)
	}
	if r.never != nil {
		if slices.ContainsFunc(r.never, matches) {
			return r.reason
		}
		return ""
	}
	if isTestCode(dir) && !slices.ContainsFunc(slices.Concat(connectors, wires), matches) || slices.ContainsFunc(r.may, matches) {
		return ""
	}
	return r.reason
}

// wrongArrows lists the imports that break a rule. Test files are exempt: they may look wherever they must.
func wrongArrows(all []source) []string {
	var wrong []string
	for _, s := range all {
		if s.test {
			continue
		}
		r := ruleOf(s.dir)
		for _, imported := range s.imports {
			if reason := r.refuses(s.dir, imported); reason != "" {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", s.path, imported, reason))
			}
		}
	}
	return wrong
}

func TestArrows_OnlyGoDown(t *testing.T) {
	for _, wrong := range wrongArrows(sources(t, repository(t))) {
		t.Error(wrong)
	}
}

// Each forbidden arrow is drawn once, to see that it is found, and each needed one, to see that it is not.
func TestArrows_Bite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"source-a", "source-b", true},
		{"source-a", "materialize-b", true},
		{"source-a", "internal/airbyte", true},
		{"source-a", "internal/flow", true},
		{"source-a", "protocol/materialize", true},
		{"source-a", "internal/pgtest", true},
		{"source-a", "sqlcapture/sqlcapturetest", true},
		{"source-a", "testsupport/replay", true},
		{"source-a", "source-a/wire", false},
		{"source-a", "sqlcapture", false},
		{"source-a", "protocol/source", false},
		{"source-a/wire", "source-b/wire", true},
		{"source-a/wire", "sqlcapture", false},
		{"source-a/wire", "protocol/source", true},
		{"source-a/wire", "net/http", true},
		{"source-a/wire", "encoding/binary", false},
		{"sqlcapture", "source-a", true},
		{"sqlcapture", "internal/sqlsink", true},
		{"sqlcapture", "github.com/jackc/pgx/v4", true},
		{"sqlcapture", "internal/flow", true},
		{"sqlcapture", "sqlcapture/rowkey", false},
		{"sqlcapture/rowkey", "sqlcapture", true},
		{"sqlcapture/sqlcapturetest/simdb", "sqlcapture", false},
		{"sqlcapture/sqlcapturetest/simdb", "source-a", true},
		{"protocol", "protocol/config", true},
		{"protocol", "github.com/sirupsen/logrus", true},
		{"protocol/config", "internal/jsonschema", true},
		{"protocol/config", "protocol", false},
		{"protocol/source", "sqlcapture", true},
		{"protocol/source", "internal/command", false},
		{"protocol/materialize", "internal/command", false},
		{"protocol/materialize", "protocol/source", true},
		{"internal/command", "protocol/source", true},
		{"internal/command", "internal/airbyte", false},
		{"internal/command", "internal/flow", true},
		{"source-a", "internal/command", true},
		{"internal/flow", "internal/command", true},
		{"internal/flow", "internal/rawjson", false},
		{"protocol/source", "internal/airbyte", false},
		{"protocol/protocoltest", "internal/airbyte", true},
		{"internal/flow", "protocol/source", true},
		{"internal/flow", "internal/airbyte", true},
		{"internal/retry", "protocol/config", true},
		{"internal/retry", "protocol", false},
		{"internal/retry", "internal/golden", true},
		{"internal/pgtest", "internal/flow", true},
		{"internal/pgtest", "protocol", false},
		{"parser/csv", "protocol", true},
		{"parser/csv", "internal/jsonschema", false},
		{"parser/cmd/parser", "protocol/config", false},
		{"network-tunnel", "protocol", true},
		{"internal/pipeline/runner", "source-a", true},
		{"internal/pipeline/runner", "internal/flow", false},
		{"testsupport/replay", "internal/airbyte", true},
		{"testsupport/replay", "internal/pgtest", false},
	} {
		imported := c.to
		if top, _, _ := strings.Cut(c.to, "/"); top != "net" && top != "encoding" && !strings.Contains(top, ".") {
			imported = module + c.to
		}
		tree := fstest.MapFS{c.from + "/x.go": {Data: []byte("package x\n\nimport _ \"" + imported + "\"\n")}}
		if got := wrongArrows(sources(t, tree)); (len(got) == 1) != c.wrong {
			t.Errorf("%s → %s: wrong %v, got %q", c.from, c.to, c.wrong, got)
		}
		tree = fstest.MapFS{c.from + "/x_test.go": {Data: []byte("package x\n\nimport _ \"" + imported + "\"\n")}}
		if got := wrongArrows(sources(t, fs.FS(tree))); got != nil {
			t.Errorf("a test file: %q", got)
		}
	}
}
