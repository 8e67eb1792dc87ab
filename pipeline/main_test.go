package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/runner"
)

// call runs the program in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(&command.Process{Args: args, Stdin: strings.NewReader(""), Stdout: command.NewLines(&out), Stderr: &errOut})
	return code, out.String(), errOut.String()
}

func TestRun_Usage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "Usage:"},
		{[]string{"runn"}, 2, `no command "runn"`},
		{[]string{"--help"}, 0, "pipeline run FILE"},
		{[]string{"--version"}, 0, "pipeline dev"},
		{[]string{"run", "--onse", "x"}, 2, "unknown flag --onse"},
		{[]string{"run"}, 1, "this command takes FILE"},
		{[]string{"backfill", "x"}, 1, "this command takes FILE and STREAM"},
		{[]string{"check", "nowhere.yaml"}, 1, "nowhere.yaml cannot be read"},
		{[]string{"init", "x"}, 1, "--source and --sink"},
	} {
		code, stdout, stderr := call(c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%q: exit code %d, %s%s; want %d and %q", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

func TestInit_WritesAFileThatIsRead(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if out, err := exec.Command("go", "build", "-o", source, "../internal/pipeline/runner/testdata/source").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("TOY_PASSWORD", "very-secret-indeed")
	write("log.jsonl", "")
	sourceConfig := write("source.json", `{"log": "`+filepath.Join(dir, "log.jsonl")+`", "streams": ["items", "events", "yes"], "password": "${env:TOY_PASSWORD}"}`)
	sinkConfig := write("sink.yaml", "path: somewhere\n")
	path := filepath.Join(dir, "new.yaml")
	args := []string{"init", path, "--source", source, "--source-config", sourceConfig, "--sink", "materialize-toy", "--sink-config", sinkConfig, "--streams", "toy.items,toy.y*"}
	if code, stdout, stderr := call(args...); code != 0 || !strings.Contains(stdout, "2 streams") {
		t.Fatalf("exit code %d, %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "very-secret-indeed") || !strings.Contains(string(text), "${env:TOY_PASSWORD}") {
		t.Errorf("%v: the file holds %s", err, text)
	}
	f, err := config.Read(path)
	if err != nil || f.Source.Name != source || len(f.Streams) != 2 || f.Streams[1].Pattern != "toy.yes" || !strings.Contains(string(f.Source.Config), `"very-secret-indeed"`) || string(f.Sink.Config) != `{"path":"somewhere"}` {
		t.Errorf("read back: %+v, %v", f, err)
	}
	if code, _, stderr := call(args...); code != 1 || !strings.Contains(stderr, "is there already") {
		t.Errorf("a second time: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := call(append(args[:1:1], append([]string{filepath.Join(dir, "other.yaml")}, append(args[2:len(args)-1:len(args)-1], "toy.ittems")...)...)...); code != 1 || !strings.Contains(stderr, `the nearest is "toy.items"`) {
		t.Errorf("a misspelt stream: exit code %d, %s", code, stderr)
	}
}

// The SQL has to run as it stands: the slot is named as source-postgres names it, and the checkpoint stands in the configured schema.
func TestLeftovers_NameWhatIsThere(t *testing.T) {
	for _, c := range []struct{ pipeline, sink, slot, checkpoints string }{
		{"shop", `{}`, "'flow_shop'", `"public"."flow_checkpoints_v1"`},
		{"Acme Co/shop-1", `{"schema":"mart"}`, "'flow_acme_co_shop_1_ec348546'", `"mart"."flow_checkpoints_v1"`},
		{strings.Repeat("capture-", 12), `{}`, "'flow_capture_capture_capture_capture_capture_capture_c_", `"public"."flow_checkpoints_v1"`},
	} {
		lines := strings.Join(leftovers(runner.Remains{
			Source: config.Connector{Name: "source-postgres", Config: []byte(`{}`)}, Sink: config.Connector{Name: "materialize-postgres", Config: []byte(c.sink)}, Pipeline: c.pipeline,
		}), "\n")
		for _, want := range []string{"pg_drop_replication_slot(" + c.slot, "DELETE FROM " + c.checkpoints} {
			if !strings.Contains(lines, want) {
				t.Errorf("%s is missing in\n%s", want, lines)
			}
		}
	}
}

func TestLeftovers_AreQuoted(t *testing.T) {
	lines := strings.Join(leftovers(runner.Remains{
		Source: config.Connector{Name: "/x/source-postgres", Config: []byte(`{"advanced":{"slotName":"s'1"}}`)}, Sink: config.Connector{Name: "materialize-postgres"},
		Pipeline: "o'shop", Tables: [][]string{{"public", `or"ders`}},
	}), "\n")
	for _, want := range []string{"pg_drop_replication_slot('s''1')", `DROP TABLE "public"."or""ders";`, "materialization = 'o''shop'"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s is missing in\n%s", want, lines)
		}
	}
}
