package materialize

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
)

// invoke runs the shelf in this process and returns what it printed.
func invoke(t *testing.T, stdin string, argv ...string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errs bytes.Buffer
	p := &command.Process{
		Args: argv, Stdin: strings.NewReader(stdin), Stdout: command.NewLines(&out), Stderr: &errs,
		Exit: func(int) { t.Error("exit is for signals") }, Now: func() time.Time { return time.Unix(1700000000, 0) },
	}
	exit = run(erase(shelfConnector()), p)
	for _, text := range []string{out.String(), errs.String()} {
		if strings.Contains(text, "hunter22") {
			t.Errorf("the password is shown: %s", text)
		}
	}
	return out.String(), errs.String(), exit
}

// file writes a file for a flag to name.
func file(t *testing.T, content string) string {
	t.Helper()
	path := t.TempDir() + "/input.json"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	orders = `{"resourceConfig":{"table":"orders"},"resourcePath":["main","orders"],"collection":{"name":"acme/orders","key":["/id"],"projections":[{"ptr":"/id","field":"id","isPrimaryKey":true},` +
		`{"ptr":"/customer","field":"customer"},{"ptr":"/total","field":"total"},{"ptr":"","field":"flow_document"}]},` +
		`"fieldSelection":{"keys":["id"],"values":["customer","total"],"document":"flow_document"},"stateKey":"main%2Forders"}`
	visits = `{"resourceConfig":{"table":"visits","delta":true},"resourcePath":["main","visits"],"deltaUpdates":true,"collection":{"name":"acme/visits","key":["/id"],` +
		`"projections":[{"ptr":"/id","field":"id"}]},"fieldSelection":{"keys":["id"]}}`
)

func shelfJSON(path, mood string) string {
	return fmt.Sprintf(`{"path":%q,"mood":%q,"password":"hunter22"}`, path, mood)
}

func spec(config string) string {
	return `{"name":"acme/mat","connectorType":"LOCAL","config":` + config + `,"bindings":[` + orders + `,` + visits + `]}`
}

func applied(config string) string {
	return `{"apply":{"materialization":` + spec(config) + `,"version":"v1"}}` + "\n"
}

func opened(config string) string {
	return `{"open":{"materialization":` + spec(config) + `,"version":"v1","range":{"keyEnd":4294967295,"rClockEnd":4294967295},"state":{}}}` + "\n"
}

// start is a session up to its first transaction.
func start(config string) string { return applied(config) + opened(config) }

// The two transactions of the protocol's worked example; the JSON codec's keys and the packed ones.
var script = map[string][]string{
	"packed": {
		`{"acknowledge":{}}`, `{"flush":{}}`,
		`{"store":{"keyPacked":"FQE=","valuesPacked":"AkFjbWUAIcApAAAAAAAA","doc":{"id":1,"customer":"Acme","total":12.5}}}`,
		`{"store":{"keyPacked":"FQI=","valuesPacked":"AkJvbHQAIcAIAAAAAAAA","doc":{"id":2,"customer":"Bolt","total":3.0}}}`,
		`{"startCommit":{"runtimeCheckpoint":{"offset": 0.10}}}`,
		`{"acknowledge":{}}`, `{"load":{"keyPacked":"FQE="}}`, `{"load":{"keyPacked":"FQI="}}`, `{"load":{"keyPacked":"FQM="}}`, `{"flush":{}}`,
		`{"store":{"keyPacked":"FQE=","valuesPacked":"AkFjbWUAIcA0AAAAAAAA","doc":{"id":1,"customer":"Acme","total":20.0},"exists":true}}`,
		`{"store":{"keyPacked":"FQI=","valuesPacked":"AkJvbHQAIcAIAAAAAAAA","doc":{"id":2,"customer":"Bolt","total":3.0},"exists":true,"delete":true}}`,
		`{"startCommit":{"runtimeCheckpoint":{"offset":900}}}`,
		`{"acknowledge":{}}`,
	},
	"json": {
		`{"acknowledge":{}}`, `{"flush":{}}`,
		`{"store":{"key":[1],"values":["Acme",12.5],"doc":{"id":1,"customer":"Acme","total":12.5}}}`,
		`{"store":{"key":[2],"values":["Bolt",3],"doc":{"id":2,"customer":"Bolt","total":3.0}}}`,
		`{"startCommit":{"runtimeCheckpoint":{"offset": 0.10}}}`,
		`{"acknowledge":{}}`, `{"load":{"key":[1]}}`, `{"load":{"key":[2]}}`, `{"load":{"key":[3]}}`, `{"flush":{}}`,
		`{"store":{"key":[1],"values":["Acme",20],"doc":{"id":1,"customer":"Acme","total":20.0},"exists":true}}`,
		`{"store":{"key":[2],"values":["Bolt",3],"doc":{"id":2,"customer":"Bolt","total":3.0},"exists":true,"delete":true}}`,
		`{"startCommit":{"runtimeCheckpoint":{"offset":900}}}`,
		`{"acknowledge":{}}`,
	},
}

const (
	answers = `{"applied":{"actionDescription":"make main.orders\nmake main.visits"}}
{"opened":{"runtimeCheckpoint":{}}}
{"acknowledged":{}}
{"flushed":{}}
{"startedCommit":{}}
{"acknowledged":{}}
{"loaded":{"binding":0,"doc":{"id":1,"customer":"Acme","total":12.5}}}
{"loaded":{"binding":0,"doc":{"id":2,"customer":"Bolt","total":3.0}}}
{"flushed":{}}
{"startedCommit":{}}
{"acknowledged":{}}
`
	afterFirst = `{"Doc":{"id":1,"customer":"Acme","total":12.5},"customer":"Acme","id":1,"total":12.5}`
	afterBoth  = `{"Doc":{"id":1,"customer":"Acme","total":20.0},"customer":"Acme","id":1,"total":20}`
)

func TestSession_WorkedExampleInBothEncodings(t *testing.T) {
	for encoding, lines := range script {
		path := newShelf(t)
		stdout, stderr, exit := invoke(t, start(shelfJSON(path, "good"))+strings.Join(lines, "\n")+"\n")
		if exit != 0 || stdout != answers {
			t.Errorf("%s: exit %d, got %s\nwant %s\nstderr %s", encoding, exit, stdout, answers, stderr)
		}
		if got := rows(t, path, "main.orders"); !maps.Equal(got, map[string]string{"1501": afterBoth}) {
			t.Errorf("%s: the table holds %v", encoding, got)
		}
		// A new session gets the checkpoint back, byte for byte but for the space that the shelf's own file has lost.
		stdout, _, exit = invoke(t, opened(shelfJSON(path, "good")))
		if exit != 0 || stdout != `{"opened":{"runtimeCheckpoint":{"offset":900}}}`+"\n" {
			t.Errorf("%s: exit %d and %s on re-opening", encoding, exit, stdout)
		}
	}
}

// The runner may acknowledge before, between and after the loads; the loads are evaluated after it.
func TestSession_AcknowledgeAmongLoads(t *testing.T) {
	for place := range 4 {
		lines := slices.Clone(script["json"])
		ack := lines[5]
		lines = slices.Insert(slices.Delete(lines, 5, 6), 5+place, ack)
		stdout, stderr, exit := invoke(t, start(shelfJSON(newShelf(t), "good"))+strings.Join(lines, "\n"))
		if exit != 0 || stdout != answers {
			t.Errorf("place %d: exit %d, got %s\nstderr %s", place, exit, stdout, stderr)
		}
	}
}

// What a runner that ends at any line has committed is there, and nothing else.
func TestSession_EndOfInputAtEachPoint(t *testing.T) {
	for encoding, lines := range script {
		for n := range len(lines) + 1 {
			for _, torn := range []string{"", `{"store":{"key":[`, `{"acknowledge`} {
				path := newShelf(t)
				_, stderr, exit := invoke(t, start(shelfJSON(path, "good"))+strings.Join(lines[:n], "\n")+"\n"+torn)
				want, row := 0, ""
				switch { // boundaries: before a load or flush is read
				case n >= 13:
					row = afterBoth
				case n >= 5:
					row = afterFirst
				}
				if n >= 2 && n < 5 || n >= 7 && n < 13 {
					want = 1
				}
				got := rows(t, path, "main.orders")
				if exit != want || got["1501"] != row || (want == 1) != strings.Contains(stderr, "ended in the middle of a transaction") || row != afterFirst && got["1502"] != "" {
					t.Errorf("%s, %d lines and %q: exit %d, want %d, the table holds %v, stderr %s", encoding, n, torn, exit, want, got, stderr)
				}
			}
		}
	}
}

func TestSession_EndOfInputAfterLoadsThatWaited(t *testing.T) {
	_, stderr, exit := invoke(t, start(shelfJSON(newShelf(t), "good"))+`{"load":{"key":[1]}}`)
	if exit != 1 || !strings.Contains(stderr, "ended in the middle of a transaction") {
		t.Errorf("exit %d, stderr %s", exit, stderr)
	}
}

// bug materializations 16: a transaction without any store made connectors panic (2024-09)
// bug materializations 25: a sender blocked for ever on a worker that had died (2022)
func TestSession_EmptyTransactions(t *testing.T) {
	path := newShelf(t)
	stdout, stderr, exit := invoke(t, start(shelfJSON(path, "good"))+strings.Repeat(`{"acknowledge":{}}
{"flush":{}}
{"startCommit":{"runtimeCheckpoint":{"n":1}}}
`, 3)+`{"acknowledge":{"statePatches":[]}}
{"flush":{}}
{"store":{"binding":1,"key":[7],"values":[]}}
{"store":{"binding":1,"key":[7]}}
{"store":{"binding":1,"key":[3]}}
{"startCommit":{}}
`)
	if exit != 0 || strings.Count(stdout, "startedCommit") != 4 || len(rows(t, path, "main.visits")) != 3 {
		t.Errorf("exit %d, %s%s", exit, stdout, stderr)
	}
}

// bug materializations 3: "none", "empty" and "stored" are three answers, not two
// bug materializations 12: no list of patches, and an empty one
func TestSession_StagedSink(t *testing.T) {
	path := newShelf(t)
	config := fmt.Sprintf(`{"path":%q,"staged":true}`, path)
	lines := slices.Clone(script["json"])
	stdout, stderr, exit := invoke(t, start(config)+strings.Join(lines[:5], "\n"))
	staged := `{"main.orders/1501":` + afterFirst + `,"main.orders/1502":{"Doc":{"id":2,"customer":"Bolt","total":3.0},"customer":"Bolt","id":2,"total":3}}`
	patch := `{"Staged":` + strconv.Quote(staged) + `}`
	if want := "{\"opened\":{}}\n{\"acknowledged\":{}}\n{\"flushed\":{}}\n{\"startedCommit\":{\"state\":{\"updated\":" + patch + ",\"mergePatch\":true}}}\n"; exit != 0 || !strings.HasSuffix(stdout, want) {
		t.Fatalf("exit %d, got %s\nwant %s\nstderr %s", exit, stdout, want, stderr)
	}
	if got := rows(t, path, "main.orders"); len(got) != 0 {
		t.Errorf("the transaction shows before it is acknowledged: %v", got)
	}
	// The next session's first acknowledge stands for the one that never came.
	stdout, stderr, exit = invoke(t, strings.Replace(opened(config), `"state":{}`, `"state":`+patch, 1)+`{"acknowledge":{"statePatches":[{"a":1}]}}`)
	if want := "{\"opened\":{}}\n{\"acknowledged\":{\"state\":{\"updated\":{\"Staged\":null},\"mergePatch\":true}}}\n"; exit != 0 || stdout != want {
		t.Errorf("exit %d, got %swant %s", exit, stdout, want)
	}
	if got := rows(t, path, "main.orders"); len(got) != 2 {
		t.Errorf("the staged transaction was not applied: %v", got)
	}
	if !strings.Contains(stderr, `"known":true`) || !strings.Contains(stderr, `"peers":1`) {
		t.Errorf("the patches of the shards did not arrive: %s", stderr)
	}
}

func TestSession_PhasesAreEnforced(t *testing.T) {
	good := script["json"]
	upTo := func(n int, more ...string) string { return strings.Join(append(slices.Clone(good[:n]), more...), "\n") }
	for _, c := range []struct{ name, lines, want string }{
		{"flush before the first acknowledge", upTo(0, `{"flush":{}}`), "the runner sent flush, but to materialize-shelf acknowledge or load must come"},
		{"a store instead of an acknowledge", upTo(0, good[2]), "the runner sent store, but to materialize-shelf acknowledge or load"},
		{"two acknowledges", upTo(1, good[0]), "the runner sent acknowledge, but to materialize-shelf load or flush must come"},
		{"a store among loads", upTo(1, good[2]), "the runner sent store, but to materialize-shelf load or flush must come"},
		{"startCommit without flush", upTo(7, good[4]), "the runner sent startCommit, but to materialize-shelf load or flush must come"},
		{"a load among stores", upTo(3, good[6]), "the runner sent load, but to materialize-shelf store or startCommit must come"},
		{"a second flush", upTo(2, good[1]), "the runner sent flush, but to materialize-shelf store or startCommit must come"},
		{"a second open", upTo(5, strings.TrimSpace(opened(`{}`))), "the runner sent open, but"},
		{"a load of no binding", upTo(1, `{"load":{"binding":2,"key":[1]}}`), "the runner sent load for binding 2, but materialize-shelf has opened 2"},
		{"a load of a delta binding", upTo(1, `{"load":{"binding":1,"key":[1]}}`), "has delta updates, of which nothing is loaded"},
		{"a load of half a key", upTo(1, `{"load":{"key":[]}}`), "with a key of 0 parts, but materialize-shelf has opened it with 1"},
		{"a store of no binding", upTo(2, `{"store":{"binding":7,"key":[1]}}`), "the runner sent store for binding 7"},
		{"a store of too few values", upTo(2, `{"store":{"key":[1],"values":[1],"doc":{}}}`), "with 1 values, but materialize-shelf has opened it with 2"},
		{"a store without its document", upTo(2, `{"store":{"key":[1],"values":[1,2]}}`), "without a document"},
		{"a key twice", upTo(3, good[2]), "twice or out of order"},
		{"keys in the wrong order", upTo(2, good[3], good[2]), "twice or out of order"},
		{"a binding in two parts", upTo(3, `{"store":{"binding":1,"key":[1]}}`, good[3]), "takes the documents of a binding in a row"},
		{"a line that is no JSON", upTo(2, `{"store":{]}`), "reading a request: "},
		{"a line that is no request", upTo(2, `{"stored":{}}`), "none of spec, validate, apply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newShelf(t)
			stdout, stderr, exit := invoke(t, start(shelfJSON(path, "good"))+c.lines+"\n"+strings.Join(good, "\n"))
			if exit != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, `"level":"error"`) != 1 {
				t.Errorf("exit %d, stdout %s, stderr %s, want %q", exit, stdout, stderr, c.want)
			}
			if got := rows(t, path, "main.orders"); len(got) != strings.Count(c.lines, "startCommit")*2 && c.name != "startCommit without flush" {
				t.Errorf("the table holds %v", got)
			}
			if !strings.Contains(stderr, "closing the session") {
				t.Error("the transactor was not closed")
			}
		})
	}
}

// bug materializations 21: a panic left the transaction open, and closing hung (2025-10)
// bug materializations 22: the clean-up's nil error took the place of Load's (2023)
// bug materializations 23: an iteration that broke off passed for a whole one (several times)
func TestSession_WhatTheConnectorDoesWrong(t *testing.T) {
	all := strings.Join(script["json"], "\n")
	for mood, want := range map[string]string{
		"loads nothing":     "materialize-shelf has a bug: Load returned before it took everything",
		"loads twice":       "loaded a document of binding 0 that nobody asked for",
		"stores nothing":    "Store returned before it took everything",
		"panic in load":     "the connector met a bug: cannot load",
		"panic in commit":   "the connector met a bug: cannot commit, says ***",
		"bad patch":         "its state patch is no JSON object",
		"load fails":        `"kind":"transient","level":"error","msg":"the shelf lost ***"`,
		"acknowledge fails": "cannot acknowledge",
		"delta only":        "binding 0 has standard updates, but materialize-shelf cannot load documents",
		"panic in new":      "the connector met a bug: no way, says ***",
	} {
		path := newShelf(t)
		if mood != "panic in new" {
			invoke(t, applied(shelfJSON(path, "good")))
		}
		stdout, stderr, exit := invoke(t, opened(shelfJSON(path, mood))+all)
		if exit != 1 || !strings.Contains(stderr, want) || strings.Count(stderr, `"level":"error"`) != 1 {
			t.Errorf("%s: exit %d, stdout %s, stderr %s, want %q", mood, exit, stdout, stderr, want)
		}
		if mood != "panic in new" && !strings.Contains(stderr, "closing the session") {
			t.Errorf("%s: the transactor was not closed", mood)
		}
	}
	// A connector that keeps the end of its input to itself has no success either.
	for _, n := range []int{8, 11} {
		path := newShelf(t)
		_, stderr, exit := invoke(t, start(shelfJSON(path, "hides its error"))+strings.Join(script["json"][:n], "\n"))
		if exit != 1 || !strings.Contains(stderr, "ended in the middle of a transaction") || rows(t, path, "main.orders")["1501"] != afterFirst {
			t.Errorf("after %d lines: exit %d, stderr %s", n, exit, stderr)
		}
	}
	// Nor has one that keeps a broken rule to itself, and the rule is what is told.
	for want, line := range map[string]string{
		"the runner sent flush, but":                        `{"flush":{}}`,
		"the runner sent acknowledge, but":                  `{"acknowledge":{}}`,
		"the runner sent store for binding 9, but":          `{"store":{"binding":9}}`,
		"the runner sent load, but to materialize-shelf st": `{"load":{"key":[1]}}`,
	} {
		_, stderr, exit := invoke(t, start(shelfJSON(newShelf(t), "hides its error"))+strings.Join(script["json"][:3], "\n")+"\n"+line+"\n"+`{"startCommit":{}}`)
		if exit != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, stderr %s", line, exit, stderr)
		}
	}
	// A key that was asked for in an earlier transaction is not asked for in this one.
	path := newShelf(t)
	invoke(t, start(shelfJSON(path, "good"))+strings.Join(script["json"][:5], "\n"))
	lines := []string{`{"acknowledge":{}}`, `{"load":{"key":[9]}}`, `{"flush":{}}`, `{"startCommit":{}}`, `{"acknowledge":{}}`, `{"load":{"key":[1]}}`, `{"flush":{}}`}
	if _, stderr, exit := invoke(t, opened(shelfJSON(path, "loads twice"))+strings.Join(lines, "\n")); exit != 1 || !strings.Contains(stderr, "that nobody asked for") {
		t.Errorf("exit %d, stderr %s", exit, stderr)
	}
	// The reason of the end comes first, not the failed clean-up.
	if _, stderr, exit := invoke(t, opened(shelfJSON(newShelf(t), "close"))+`{"flush":{}}`); exit != 1 || !strings.Contains(stderr, "acknowledge or load must come") {
		t.Errorf("exit %d, stderr %s", exit, stderr)
	}
	if _, stderr, exit := invoke(t, opened(shelfJSON(newShelf(t), "close"))); exit != 1 || !strings.Contains(stderr, "closing the destination: cannot close") {
		t.Errorf("exit %d, stderr %s", exit, stderr)
	}
}
