package source

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/command"
)

// invoke runs the counter in this process and returns what it printed.
func invoke(t *testing.T, stdin string, argv ...string) (stdout, stderr string, exit int) {
	t.Helper()
	out := &lineChecker{t: t}
	if len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
		out.t = nil // usage and version are no messages
	}
	var errs bytes.Buffer
	p := &command.Process{
		Args: argv, Stdin: strings.NewReader(stdin), Stdout: command.NewLines(out), Stderr: &errs,
		Exit: func(int) { t.Error("exit is for signals") }, Now: newClock().read,
	}
	if out.t == nil {
		p.Stdout = command.NewLines(&out.Buffer)
	}
	exit = run(erase(counterConnector()), p)
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
	path := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// messages returns the types of the messages, LOG left out.
func messages(t *testing.T, stdout string) (types []string) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var m struct{ Type string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Type != "LOG" {
			types = append(types, m.Type)
		}
	}
	return types
}

func withoutLogs(stdout string) string {
	var kept strings.Builder
	for line := range strings.Lines(stdout) {
		if !strings.Contains(line, `{"type":"LOG"`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

const password = `"password":"hunter22"`

func TestCommands_Golden(t *testing.T) {
	config := file(t, `{`+password+`}`)
	catalog := file(t, `{"streams":[{"stream":{"name":"ones","namespace":"public","json_schema":{}},"sync_mode":"incremental","destination_sync_mode":"append","cursor_field":null,"primary_key":null}]}`)
	extended := file(t, `{"streams":[{"stream":{"name":"twos","namespace":null},"sync_mode":"incremental","projections":{"n":"/number/value","x":"/x"}}],"range":{"begin":"00000000","end":"7FFFFFFF"}}`)
	for name, argv := range map[string][]string{
		"spec":             {"spec", "--unknown"},
		"check":            {"check", "--config", config, "--catalog", catalog},
		"discover":         {"discover", "--config", config},
		"configured":       {"discover", "--config", config, "--configured"},
		"configured_one":   {"discover", "--config", config, "--configured", "--streams", "public.twos"},
		"read":             {"read", "--config", config, "--catalog", catalog},
		"read_state":       {"read", "--config", config, "--catalog", catalog, "--state", file(t, `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"ones"},"stream_state":{"n":4,"~shared":{"position":4,"slot":"a"}}}}]`)},
		"read_streams":     {"read", "--config", config, "--streams", "*"},
		"read_extended":    {"read", "--config", config, "--catalog", extended},
		"read_nothing_new": {"read", "--config", config, "--catalog", catalog, "--state", file(t, `{"orders":{"n":1},"ones":{"n":5}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, exit := invoke(t, "", argv...)
			if exit != 0 || stderr != "" {
				t.Errorf("exit %d, stderr %q, want 0 and nothing", exit, stderr)
			}
			compareGolden(t, "command_"+name+".jsonl", withoutLogs(stdout))
		})
	}
}

func TestCommands_LogsGoToStdoutUnlessStderrIsATerminal(t *testing.T) {
	stdout, stderr, _ := invoke(t, "", "check", "--config", file(t, `{`+password+`}`), "--debug", "--nonsense")
	for _, want := range []string{
		`{"type":"LOG","log":{"level":"INFO","message":"checking as *** bindings=0"}}`,
		`{"type":"LOG","log":{"level":"DEBUG","message":"ignoring an unknown argument argument=--nonsense"}}`,
	} {
		if !strings.Contains(stdout, want+"\n") {
			t.Errorf("no line %s in %s", want, stdout)
		}
	}
	if stderr != "" {
		t.Errorf("stderr holds %q, want nothing: some runners never read it", stderr)
	}
}

func TestCheck_Outcomes(t *testing.T) {
	for _, c := range []struct {
		name, config string
		want         string
		exit         int
	}{
		{"good", `{}`, `"status":"SUCCEEDED"`, 0},
		{"refused", `{"mood":"refused",` + password + `}`, `"status":"FAILED","message":"password *** is wrong: ask for another"`, 0},
		{"several at once", `{"mood":"two problems"}`, `"message":"2 problems:\n1. user counter may not count: grant it: GRANT COUNT ON ALL TO counter\n2. the server restarts"`, 0},
		{"cannot tell", `{"mood":"unsure",` + password + `}`, `"message":"asking ***: it does not answer","failure_type":"system_error"`, 1},
		{"panic", `{"mood":"panic"}`, `"failure_type":"system_error"`, 1},
		{"unknown key", `{"rowz":1}`, `"status":"FAILED","message":"unknown key \"rowz\": did you mean \"rows\"?"`, 0},
		{"no JSON", `{"rows":`, `"status":"FAILED"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, _, exit := invoke(t, "", "check", "--config", file(t, c.config))
			if exit != c.exit || !strings.Contains(stdout, c.want) {
				t.Errorf("exit %d and %s, want %d and %s", exit, stdout, c.exit, c.want)
			}
			if n := len(messages(t, stdout)); n != 1 {
				t.Errorf("%d messages, want 1: %s", n, stdout)
			}
		})
	}
	stdout, _, exit := invoke(t, "", "validate", "--config", "/does/not/exist")
	if exit != 0 || !strings.Contains(stdout, `"status":"FAILED","message":"the file /does/not/exist of --config cannot be read: no such file or directory"`) {
		t.Errorf("exit %d and %s for a config that is not there", exit, stdout)
	}
}

func TestFailures_AreOneTraceAndExitOne(t *testing.T) {
	config, bad := file(t, `{`+password+`}`), func(content string) string { return file(t, content) }
	catalog := func(streams string) string { return file(t, `{"streams":[`+streams+`]}`) }
	ones := `{"stream":{"name":"ones"},"sync_mode":"incremental"}`
	for _, c := range []struct {
		name, want, kind string
		argv             []string
	}{
		{"no config", "--config is missing", "config", []string{"discover"}},
		{"a config that is wrong", `unknown key \"rowz\"`, "config", []string{"discover", "--config", bad(`{"rowz":1}`)}},
		{"a flag without value", "expected argument", "config", []string{"discover", "--config"}},
		{"discover fails", "the server restarts, says ***", "transient", []string{"discover", "--config", bad(`{"mood":"transient",` + password + `}`)}},
		{"panic in New", "the connector met a bug: no way, says ***", "system", []string{"discover", "--config", bad(`{"mood":"panic in new",` + password + `}`)}},
		{"no catalog", "neither --catalog nor --streams", "config", []string{"read", "--config", config}},
		{"both selections", "give only one", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--streams", "*"}},
		{"tail with a catalog", "--tail goes with --streams only", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--tail"}},
		{"no stream matches", `the nearest of its 2 streams is \"twos\"`, "config", []string{"read", "--config", config, "--streams", "two"}},
		{"a catalog that is no JSON", "the catalog cannot be used", "config", []string{"read", "--config", config, "--catalog", bad(`{"streams":`)}},
		{"a discovered catalog", "discover --configured", "config", []string{"read", "--config", config, "--catalog", bad(`{"type":"CATALOG","catalog":{"streams":[]}}`)}},
		{"a catalog without streams", `it has no \"streams\"`, "config", []string{"read", "--config", config, "--catalog", bad(`{}`)}},
		{"a mode that is none", `sync_mode \"INVALID\"`, "config", []string{"read", "--config", config, "--catalog", catalog(`{"stream":{"name":"ones"},"sync_mode":"INVALID"}`)}},
		{"a range that ends before it begins", "begins at 00000002, after its end 00000001", "config", []string{"read", "--config", config, "--catalog", bad(`{"streams":[],"estuary.dev/range":{"begin":"2","end":"1"}}`)}},
		{"a state that is no JSON", "the state cannot be used", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--state", bad(`{"a"`)}},
		{"a state that is a number", "must be a list or an object", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--state", bad(`7`)}},
		{"a state of another type", "a state of type GLOBAL", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--state", bad(`[{"type":"GLOBAL","global":{}}]`)}},
		{"a stream's state that is no object", "the part of ones", "config", []string{"read", "--config", config, "--catalog", catalog(ones), "--state", bad(`[{"type":"STREAM","stream":{"stream_descriptor":{"name":"ones"},"stream_state":[1]}}]`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := invoke(t, "", c.argv...)
			if exit != 1 || stderr != "" || !strings.Contains(stdout, c.want) || !strings.Contains(stdout, `"failure_type":"`+c.kind+`_error"`) {
				t.Errorf("exit %d, stderr %q and %s, want %q of kind %s", exit, stderr, stdout, c.want, c.kind)
			}
			if got := messages(t, stdout); len(got) != 1 || got[0] != "TRACE" {
				t.Errorf("messages %v, want one TRACE", got)
			}
		})
	}
}

func TestRead_ErrorComesLastAndSecretsDoNotCome(t *testing.T) {
	for _, mood := range []string{"transient", "panic"} {
		stdout, _, exit := invoke(t, "", "read", "--config", file(t, `{"mood":"`+mood+`",`+password+`}`), "--catalog",
			file(t, `{"streams":[{"stream":{"name":"ones","namespace":"public"},"sync_mode":"incremental"}]}`))
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if last := lines[len(lines)-1]; exit != 1 || !strings.Contains(last, `"type":"ERROR"`) || !strings.Contains(stdout, `"status":"INCOMPLETE"`) {
			t.Errorf("%s: exit %d, last line %s", mood, exit, last)
		}
	}
}

// The protocol's test kits configure a stream that is not there: it gets an error, and the others are read.
func TestRead_UnknownStreamFailsAlone(t *testing.T) {
	stdout, _, exit := invoke(t, "", "read", "--config", file(t, `{`+password+`}`), "--catalog", file(t, `{"streams":[
		{"stream":{"name":"threes","namespace":"public"},"sync_mode":"full_refresh"},{"stream":{"name":"ones","namespace":"public"},"sync_mode":"incremental"}]}`))
	if exit != 1 {
		t.Errorf("exit %d, want 1", exit)
	}
	compareGolden(t, "read_unknown_stream.jsonl", withoutLogs(stdout))
}

func TestCommands_UsageAndVersion(t *testing.T) {
	for _, c := range []struct {
		argv           []string
		stdout, stderr string
		exit           int
	}{
		{[]string{"--help"}, "Usage:", "", 0},
		{[]string{"--version"}, "source-counter 1.2.3\n", "", 0},
		{[]string{"spec", "--confg", "c"}, `ignoring an unknown argument: did you mean --config? argument=--confg`, "", 0},
		{[]string{"reed"}, "", `source-counter has no command "reed".`, 2},
		{nil, "", "Usage:", 2},
	} {
		stdout, stderr, exit := invoke(t, "", c.argv...)
		if exit != c.exit || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || (c.stdout == "") != (stdout == "") || (c.stderr == "") != (stderr == "") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", c.argv, exit, stdout, stderr)
		}
	}
}
