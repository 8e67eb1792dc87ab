package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pipeline-")
	if err != nil {
		return "", err
	}
	for _, pkg := range []string{"../../../pipeline", "./testdata/source", "./testdata/sink", "./testdata/airbyte"} {
		if out, err := exec.Command("go", "build", "-o", dir+"/", pkg).CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w: %s", pkg, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

type object = map[string]any

// shop is a pipeline between the toys.
type shop struct {
	t       *testing.T
	bin     string
	dir     string
	source  object
	sink    object
	streams string
	name    string // of the source's program
	state   string // the store's path; "": not named
}

func newShop(t *testing.T) *shop {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t, bin: bin, dir: t.TempDir(), name: "source", streams: "[{stream: items, table: things}, 'toy.*']"}
	s.source = object{"log": s.path("log.jsonl"), "streams": []string{"items", "events"}}
	s.sink = object{"path": s.path("db.json")}
	s.append("")
	return s
}

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

// append adds lines to what the source captures.
func (s *shop) append(lines string) {
	s.t.Helper()
	f, err := os.OpenFile(s.path("log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(lines)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// write writes the pipeline's file.
func (s *shop) write() {
	s.t.Helper()
	source, _ := json.Marshal(s.source)
	sink, _ := json.Marshal(s.sink)
	text := fmt.Sprintf("source: {connector: %s, config: %s}\nsink: {connector: sink, config: %s}\nstreams: %s\n", s.name, source, sink, s.streams)
	if s.state != "" {
		text += "state: " + s.state + "\n"
	}
	if err := os.WriteFile(s.path("shop.yaml"), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// command prepares a command of pipeline on the file.
func (s *shop) command(args ...string) *exec.Cmd {
	s.write()
	for i, arg := range args {
		if arg == "FILE" {
			args[i] = s.path("shop.yaml")
		}
	}
	cmd := exec.Command(filepath.Join(s.bin, "pipeline"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// try runs a command and returns what it printed on both outputs.
func (s *shop) try(args ...string) (stdout, stderr string, err error) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	err = cmd.Run()
	timer.Stop()
	return out.String(), errOut.String(), err
}

// must runs a command that has to succeed.
func (s *shop) must(args ...string) string {
	s.t.Helper()
	stdout, stderr, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("pipeline %v: %v\n%s%s", args, err, stdout, stderr)
	}
	return stdout
}

// lastLine is what a person reads of a failed command.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return lines[len(lines)-1]
}

type table struct {
	Columns []string
	Rows    map[string]map[string]json.RawMessage
	Log     []map[string]json.RawMessage
	Emptied int
}

type database struct {
	Checkpoints map[string]json.RawMessage
	Tables      map[string]*table
	Txns, Loads int
}

func (s *shop) database() database {
	s.t.Helper()
	var db database
	raw, err := os.ReadFile(s.path("db.json"))
	if err == nil {
		err = json.Unmarshal(raw, &db)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

// column is a table as the text of one column by key, keys ascending.
func (d database) column(name, column string) string {
	t := d.Tables[name]
	if t == nil {
		return "no table"
	}
	var list []string
	for key, row := range t.Rows {
		list = append(list, key+string(row[column]))
	}
	for _, row := range t.Log {
		list = append(list, string(row[column]))
	}
	if t.Log == nil {
		sortStrings(list)
	}
	return strings.Join(list, " ")
}

func sortStrings(list []string) {
	for i := range list {
		for j := i; j > 0 && (len(list[j]) < len(list[j-1]) || len(list[j]) == len(list[j-1]) && list[j] < list[j-1]); j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

func (s *shop) expect(table, column, want string) {
	s.t.Helper()
	if got := s.database().column(table, column); got != want {
		s.t.Errorf("column %s of table %s:\n got %s\nwant %s", column, table, got, want)
	}
}
