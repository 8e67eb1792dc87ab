package materialize

import (
	"strings"
	"testing"
)

const ordersProposed = `{"resourceConfig":{"table":"orders"},"collection":{"name":"acme/orders","key":["/id"],"projections":[{"ptr":"/id","field":"id"},` +
	`{"ptr":"/customer","field":"customer","inference":{"types":["string"]}},{"ptr":"","field":"flow_document"}]}}`

func proposed(config string, bindings ...string) string {
	return `{"validate":{"name":"acme/mat","connectorType":"LOCAL","config":` + config + `,"bindings":[` + strings.Join(bindings, ",") + `]`
}

// bug materializations 6: a connector stopped reading requests before the end of stdin (2025-08)
func TestValidate_EachProjectionHasAConstraint(t *testing.T) {
	const spec = `{"spec":{"connectorType":"IMAGE","config":{}}}` + "\n"
	for mood, want := range map[string]string{
		"good": `{"validated":{"bindings":[{"constraints":{"customer":{"type":"FIELD_OPTIONAL","reason":"fits"},"flow_document":{"type":"LOCATION_REQUIRED","reason":"root"},` +
			`"id":{"type":"LOCATION_REQUIRED","reason":"key"}},"resourcePath":["main","orders"]}]}}`,
		"no constraint": `"customer":{"type":"FIELD_FORBIDDEN","reason":"materialize-shelf has no place for this field"}`,
	} {
		stdout, stderr, exit := invoke(t, spec+proposed(shelfJSON("x", mood), ordersProposed)+"}}\n"+spec)
		lines := strings.Split(stdout, "\n")
		if exit != 0 || len(lines) != 4 || !strings.Contains(lines[1], want) || !strings.Contains(lines[2], `"protocol":3032023`) {
			t.Errorf("%s: exit %d, got %s, want %s; %s", mood, exit, stdout, want, stderr)
		}
	}
}

// bug materializations 8: a missing fallthrough left the root document's constraint at zero, "required" (2022-11)
func TestValidate_Refusals(t *testing.T) {
	good := shelfJSON("x", "good")
	for request, want := range map[string]string{
		proposed(shelfJSON("x", "zero constraint"), ordersProposed):                    `binding 0: materialize-shelf has no constraint for the field \"customer\": its kind is 0`,
		proposed(shelfJSON("x", "constraint of nothing"), ordersProposed):              `has a constraint for the field \"nothing\", which collection acme/orders does not have`,
		proposed(good, ordersProposed, ordersProposed):                                 `the bindings 0 and 1 both write into main.orders: give one of them another table`,
		proposed(good, `{"resourceConfig":{"tabel":"x"}}`):                             `in the resource of binding 0, unknown key \"tabel\"`,
		proposed(`{"path":"x","pasword":"hunter22"}`, ordersProposed):                  `unknown key \"pasword\": did you mean \"password\"?`,
		proposed(`{"path":"x","password":"open-barley"}`, ordersProposed):              `password *** is wrong: ask for another`,
		proposed(shelfJSON("x", "two problems"), ordersProposed):                       `2 problems:\n1. user shelf may not write: grant it: GRANT WRITE TO shelf\n2. the server restarts`,
		proposed(shelfJSON("x", "unsure"), ordersProposed):                             `asking ***: it does not answer`,
		strings.Replace(proposed(good, ordersProposed), `"LOCAL"`, `"LOCAL","a":{`, 1): "reading a request",
	} {
		stdout, stderr, exit := invoke(t, request+"}}\n")
		if exit != 1 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, `"level":"error"`) != 1 {
			t.Errorf("exit %d, stdout %q, stderr %s, want %s", exit, stdout, stderr, want)
		}
	}
}

// A binding is known by its resource path, which only the materializer can tell; the names in the resource are a first guess.
func TestValidate_LastBindingIsThatOfTheSamePath(t *testing.T) {
	for name, c := range map[string]struct {
		last  string
		known int // times that the materializer was told of it
	}{
		"same names and path":            {`"bindings":[` + orders + `]`, 1},
		"inactive":                       {`"bindings":[],"inactiveBindings":[` + orders + `]`, 1},
		"another schema":                 {`"bindings":[{"resourceConfig":{"table":"orders","schema":"sales"},"resourcePath":["sales","orders"]}]`, 0},
		"same names, another path":       {`"bindings":[{"resourceConfig":{"table":"orders"},"resourcePath":["public","orders"]}]`, 1},
		"other names, same path":         {`"bindings":[{"resourceConfig":{"table":"orders","schema":"main"},"resourcePath":["main","orders"]}]`, 1},
		"a resource of an older version": {`"bindings":[{"resourceConfig":[],"resourcePath":["main","orders"]}]`, 1},
	} {
		_, stderr, exit := invoke(t, proposed(shelfJSON("x", "good"), ordersProposed)+`,"lastMaterialization":{"name":"acme/mat",`+c.last+`}}}`)
		if got := strings.Count(stderr, "known before"); exit != 0 || got != c.known {
			t.Errorf("%s: exit %d, known %d times, want %d: %s", name, exit, got, c.known, stderr)
		}
	}
}

func TestApply_IsRepeatableAndStartsOver(t *testing.T) {
	path := newShelf(t)
	config := shelfJSON(path, "good")
	again := strings.Replace(spec(config), `"stateKey":"main%2Forders"`, `"backfill":1`, 1)
	stdout, stderr, exit := invoke(t, applied(config)+applied(config)+opened(config)+strings.Join(script["json"][:5], "\n"))
	if exit != 0 || !strings.HasPrefix(stdout, `{"applied":{"actionDescription":"make main.orders\nmake main.visits"}}`+"\n"+`{"applied":{}}`+"\n") || len(rows(t, path, "main.orders")) != 2 {
		t.Fatalf("exit %d, %s%s", exit, stdout, stderr)
	}
	stdout, stderr, exit = invoke(t, `{"apply":{"materialization":`+again+`,"lastMaterialization":`+spec(config)+`}}`)
	if exit != 0 || stdout != `{"applied":{"actionDescription":"empty main.orders"}}`+"\n" || len(rows(t, path, "main.orders")) != 0 {
		t.Errorf("exit %d, %s%s", exit, stdout, stderr)
	}
}

func TestRequests_Refusals(t *testing.T) {
	for stdin, c := range map[string]struct {
		want string
		exit int
	}{
		"":                    {"Usage:", 2},
		"\x00\x00\x00\x05":    {"stdin must hold Flow requests as JSON", 2},
		`{"spec":{`:           {"reading a request", 1},
		`{"discover":{}}`:     {"the runner takes this sink for a source", 1},
		`{"acknowledge":{}}`:  {"the runner sent acknowledge, but to materialize-shelf no materialization is open", 1},
		`{"store":{}}` + "\n": {"the runner sent store, but", 1},
		`{"open":{"materialization":{"config":{"path":"x"}},"range":{"keyBegin":5,"keyEnd":4}}}`:                                                                        {"begins at 00000005, after its end 00000004", 1},
		`{"open":{"materialization":{"config":{"path":"x"},"bindings":[{"resourceConfig":{"table":"t"},"collection":{"name":"c"},"fieldSelection":{"keys":["id"]}}]}}}`: {`selects the field \"id\" of binding 0, but its collection c has no such projection`, 1},
	} {
		stdout, stderr, exit := invoke(t, stdin)
		if exit != c.exit || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %s, want %d and %q", stdin, exit, stdout, stderr, c.exit, c.want)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		argv           []string
		stdout, stderr string
		exit           int
	}{
		{[]string{"spec"}, `"supported_destination_sync_modes":["append","append_dedup","overwrite"]`, "", 0},
		{[]string{"spec"}, `"airbyte_secret":true`, "", 0},
		{[]string{"check", "--config", file(t, shelfJSON("x", "good"))}, `{"type":"CONNECTION_STATUS","connectionStatus":{"status":"SUCCEEDED"}}`, "", 0},
		{[]string{"validate", "--config", file(t, `{"path":"x","password":"open-barley"}`)}, `"status":"FAILED","message":"password *** is wrong: ask for another"`, "", 0},
		{[]string{"check", "--config", file(t, shelfJSON("x", "unsure"))}, `"message":"asking ***: it does not answer","failure_type":"system_error"`, "", 1},
		{[]string{"check", "--config", file(t, `{"pat":"x"}`)}, `did you mean \"path\"?`, "", 0},
		{[]string{"check"}, `"status":"FAILED","message":"--config is missing`, "", 0},
		{[]string{"--version"}, "materialize-shelf 1.2.3\n", "", 0},
		{[]string{"--help"}, "Usage:", "", 0},
		{[]string{"wrote"}, "", `materialize-shelf has no command "wrote".`, 2},
	} {
		stdout, stderr, exit := invoke(t, "", c.argv...)
		if exit != c.exit || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("%q: exit %d, stdout %s, stderr %s", c.argv, exit, stdout, stderr)
		}
	}
}

// Both requests of a task look for others that write to its tables.
func TestValidate_AndApplyLookForNeighbours(t *testing.T) {
	config := shelfJSON(newShelf(t), "shared")
	for request, want := range map[string]string{
		proposed(config, ordersProposed) + "}}\n": `another than acme/mat writes to [[main orders]]`,
		applied(config): `another than acme/mat writes to [[main orders] [main visits]]`,
	} {
		stdout, stderr, exit := invoke(t, request)
		if exit != 1 || stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, `"kind":"config"`) {
			t.Errorf("exit %d, stdout %q, stderr %s, want %s", exit, stdout, stderr, want)
		}
	}
}
