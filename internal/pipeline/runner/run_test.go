package runner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	itemsSchema  = `{"stream":"items","schema":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"_meta":{"type":"object","properties":{"op":{"type":"string"}}}},"required":["id"],"reduce":{"strategy":"merge"}}}` + "\n"
	eventsSchema = `{"stream":"events","schema":{"type":"object","properties":{"id":{"type":"integer"},"_meta":{"type":"object"}},"required":["id"]}}` + "\n"
	commit       = `{"stream":"","commit":true}` + "\n"
)

func item(id int, name, op string) string {
	return fmt.Sprintf(`{"stream":"items","doc":{"id":%d,"name":%q,"_meta":{"op":%q}}}`+"\n", id, name, op)
}

func event(id int) string {
	return fmt.Sprintf(`{"stream":"events","doc":{"id":%d,"_meta":{"op":"c"}}}`+"\n", id)
}

func TestRun_Once(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + item(1, "one", "c") + item(2, "two", "c") + event(7) + event(7) + commit + item(1, "uno", "u") + commit)
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"uno" [2]"two"`)
	s.expect("events", "id", "7 7")

	s.append(item(2, "two", "d") + item(3, "three", "c") + commit)
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"uno" [3]"three"`)
	s.expect("events", "id", "7 7")
	if db := s.database(); db.Loads > 2 {
		t.Errorf("%d keys were loaded, but only key 2 could be there", db.Loads)
	}
	before := s.database().Txns
	s.must("run", "--once", "FILE")
	if db := s.database(); db.Txns != before {
		t.Error("a run with nothing to copy wrote documents")
	}
}

func TestRun_MergesUpdatesThatLeaveColumnsOut(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + item(1, "one", "c") + commit)
	s.must("run", "--once", "FILE")
	s.append(`{"stream":"items","doc":{"id":1,"_meta":{"op":"u"}}}` + "\n" + commit)
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"one"`)
	s.expect("things", "_meta/op", `[1]"u"`)
}

// The destination's checkpoint counts: with the store deleted the run goes on from there.
func TestRun_StoreDeleted(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + event(1) + item(1, "one", "c") + commit)
	s.must("run", "--once", "FILE")
	if err := os.Remove(s.path("shop.state")); err != nil {
		t.Fatal(err)
	}
	s.append(event(2) + item(1, "uno", "u") + item(2, "two", "c") + commit)
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1 2")
	s.expect("things", "name", `[1]"uno" [2]"two"`)
}

func TestRun_DestinationEmptied(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + item(1, "one", "c") + commit)
	s.must("run", "--once", "FILE")
	var status struct{ Txn int }
	if err := json.Unmarshal([]byte(s.must0("status", "--json", "FILE")), &status); err != nil || status.Txn == 0 {
		t.Fatalf("the status says transaction %d, %v", status.Txn, err)
	}
	if err := os.Remove(s.path("db.json")); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := s.try("run", "--once", "FILE")
	want := fmt.Sprintf("Destination %s knows nothing of pipeline shop, which has committed %d transactions: wrong database, or restored empty. To start over: pipeline reset %s",
		s.path("db.json"), status.Txn, s.path("shop.yaml"))
	if err == nil || lastLine(stderr) != want {
		t.Errorf("got %v, %s\nwant %s", err, lastLine(stderr), want)
	}
	if _, err := os.Stat(s.path("db.json")); err == nil {
		t.Error("something was written into the destination")
	}
	s.must("reset", "--yes", "FILE")
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[1]"one"`)
}

// must0 is must for commands whose exit code says something else than failure.
func (s *shop) must0(args ...string) string {
	stdout, _, _ := s.try(args...)
	return stdout
}

func TestReset_StartsOver(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + item(1, "one", "c") + event(1) + commit)
	s.must("run", "--once", "FILE")
	s.must("reset", "--yes", "FILE")
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1")
	if e := s.database().Tables["events"].Emptied; e != 1 {
		t.Errorf("the table was emptied %d times", e)
	}
	if _, stderr, err := s.try("reset", "FILE"); err == nil || !strings.Contains(stderr, "nothing was reset") {
		t.Errorf("a reset without the name: %v, %s", err, stderr)
	}
}

func TestBackfill_StartsOneStreamOver(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + item(1, "one", "c") + event(1) + commit)
	s.must("run", "--once", "FILE")
	if _, stderr, err := s.try("backfill", "FILE", "toy.itens"); err == nil || !strings.Contains(stderr, `the nearest is "toy.items"`) {
		t.Errorf("a misspelt stream: %v, %s", err, stderr)
	}
	s.must("backfill", "FILE", "events") // the namespace may be left out, as in the file
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1")
	db := s.database()
	if db.Tables["events"].Emptied != 1 || db.Tables["things"].Emptied != 0 {
		t.Errorf("emptied: events %d times, things %d times; want once and never", db.Tables["events"].Emptied, db.Tables["things"].Emptied)
	}
}

// exitCode is -1 for a process that was killed.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// A stream that was left out has missed what the log said meanwhile, so it starts over when it comes back.
func TestRun_StreamComesBack(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + item(1, "one", "c") + event(1) + commit)
	s.must("run", "--once", "FILE")
	s.streams = "[{stream: items, table: things}]"
	s.append(event(2) + item(2, "two", "c") + commit)
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1")
	s.must("run", "--once", "FILE")
	s.streams = "[{stream: items, table: things}, events]"
	s.append(event(3) + commit)
	s.must("run", "--once", "FILE")
	s.expect("events", "id", "1 2 3")
	s.expect("things", "name", `[1]"one" [2]"two"`)
	if db := s.database(); db.Tables["events"].Emptied != 1 || db.Tables["things"].Emptied != 0 {
		t.Errorf("emptied: events %d times, things %d times; want once and never", db.Tables["events"].Emptied, db.Tables["things"].Emptied)
	}
}

// follow starts a run without end and returns a function that stops it.
func (s *shop) follow() (stop func() error) {
	s.t.Helper()
	cmd := s.command("run", "FILE")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if s.t.Failed() {
			s.t.Log(stderr.String())
		}
	})
	return func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Second):
			return fmt.Errorf("it goes on running after SIGTERM")
		}
	}
}

// eventually waits until the table's column is as wanted.
func (s *shop) eventually(table, column, want string) {
	s.t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(s.path("db.json")); err != nil {
			continue
		}
		if got = s.database().column(table, column); got == want {
			return
		}
	}
	s.t.Fatalf("column %s of table %s:\n got %s\nwant %s", column, table, got, want)
}

func TestRun_Follows(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema + eventsSchema + item(1, "one", "c") + commit)
	stop := s.follow()
	s.eventually("things", "name", `[1]"one"`)
	for deadline := time.Now().Add(10 * time.Second); ; {
		out, _, err := s.try("status", "FILE")
		if err == nil && strings.Contains(out, "pipeline shop: running") && strings.Contains(out, "toy.items") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("status: %v, %s", err, out)
		}
	}
	// Two runners on one file: the second ends with one sentence.
	if _, stderr, err := s.try("run", "--once", "FILE"); err == nil || strings.Count(strings.TrimSpace(stderr), "\n") != 0 || !strings.Contains(stderr, "another pipeline process uses the store") {
		t.Errorf("a second runner: %v, %s", err, stderr)
	}
	if _, stderr, err := s.try("backfill", "FILE", "toy.items"); err == nil || !strings.Contains(stderr, "another pipeline process") {
		t.Errorf("backfill while it runs: %v, %s", err, stderr)
	}
	s.append(item(2, "two", "c") + commit)
	s.eventually("things", "name", `[1]"one" [2]"two"`)
	// A new column appears without a restart, also for documents of the same checkpoint.
	s.append(item(3, "three", "c"))
	s.append(`{"stream":"items","schema":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"color":{"type":"string"},"_meta":{"type":"object","properties":{"op":{"type":"string"}}}},"required":["id"]}}` + "\n")
	s.append(`{"stream":"items","doc":{"id":4,"name":"four","color":"red","_meta":{"op":"c"}}}` + "\n" + commit)
	s.eventually("things", "color", `[1] [2] [3]null [4]"red"`)
	s.append(`{"stream":"items","doc":{"id":5,"name":"five","color":"blue","_meta":{"op":"c"}}}` + "\n" + commit)
	s.eventually("things", "color", `[1] [2] [3]null [4]"red" [5]"blue"`)
	// A reset empties the table.
	s.append(`{"stream":"items","reset":"TRUNCATE"}` + "\n" + item(9, "nine", "c") + commit)
	s.eventually("things", "name", `[9]"nine"`)
	if err := stop(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	if out, _, err := s.try("status", "FILE"); exitCode(err) != 3 {
		t.Errorf("status after the end: %v, %s", err, out)
	}
	// What the reset has raised does not make the source start over.
	s.must("run", "--once", "FILE")
	s.expect("things", "name", `[9]"nine"`)
	if e := s.database().Tables["things"].Emptied; e != 1 {
		t.Errorf("the table was emptied %d times", e)
	}
}

// `timeout` and others signal the process and then its group: two requests at once end it at once, and the status tells of no failure. A killed one does.
func TestRun_StatusOfASecondSignal(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema)
	for _, c := range []struct {
		signals []os.Signal
		code    int
		state   string
	}{{[]os.Signal{syscall.SIGTERM, syscall.SIGINT}, 3, "stopped"}, {[]os.Signal{syscall.SIGKILL}, 1, "failed"}} {
		s.append(item(1, c.state, "c") + commit)
		cmd := s.command("run", "FILE")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("things", "name", fmt.Sprintf("[1]%q", c.state))
		for _, signal := range c.signals {
			_ = cmd.Process.Signal(signal)
		}
		_ = cmd.Wait()
		if out, _, err := s.try("status", "FILE"); exitCode(err) != c.code {
			t.Errorf("%v: got exit code %d, %s", c.signals, exitCode(err), out)
		}
		if out, _, _ := s.try("status", "--json", "FILE"); !strings.Contains(out, `"state": "`+c.state+`"`) {
			t.Errorf("%v: got %s", c.signals, out)
		}
	}
}

func TestRun_ProblemsAreToldAtOnce(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema)
	s.streams = "[{stream: items, tabel: things}, {stream: toy.evnts}]"
	_, stderr, err := s.try("run", "--once", "FILE")
	if err == nil || !strings.Contains(stderr, `line 3: unknown key "tabel" of stream items: did you mean "table"?`) || !strings.Contains(stderr, `the nearest of its 2 streams is "toy.events"`) {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.streams = "[{stream: items, key: [/idd]}, toy.items]"
	_, stderr, err = s.try("run", "--once", "FILE")
	if err == nil || !strings.Contains(stderr, `no field "idd", which is a part of the key in the file: did you mean "id"?`) || !strings.Contains(stderr, `the stream "toy.items" is named twice`) {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.streams = "[{stream: items, schema: lake}]"
	if _, stderr, err = s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "and the sink's tables have none") {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.streams = "[{stream: 'toy.*', table: one}]"
	if _, stderr, err = s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "streams toy.items and toy.events would both go into one") {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.name = "no-such-source"
	if _, stderr, err = s.try("run", "--once", "FILE"); err == nil || !strings.Contains(stderr, "the connector no-such-source was not found") {
		t.Errorf("got %v, %s", err, stderr)
	}
}

func TestCheck_BothSidesWithoutSecrets(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema)
	if out := s.must("check", "FILE"); !strings.Contains(out, "2 streams can be copied") || !strings.Contains(out, "toy.items → things (by key") || !strings.Contains(out, "toy.events → events (added to only") {
		t.Errorf("got %s", out)
	}
	s.source["fail"], s.source["password"] = "the user may not read:", "open-sesame-1"
	s.sink["fail"], s.sink["password"] = "the user may not write:", "open-sesame-2"
	_, stderr, err := s.try("check", "FILE")
	if err == nil || !strings.Contains(stderr, "may not read: ***") || !strings.Contains(stderr, "may not write: ***") || strings.Contains(stderr, "open-sesame") {
		t.Errorf("got %v, %s", err, stderr)
	}
	s.streams = "[itms]"
	if _, stderr, err = s.try("check", "FILE"); err == nil || !strings.Contains(stderr, `no stream "itms"`) || !strings.Contains(stderr, "may not write: ***") {
		t.Errorf("a misspelt stream hides what is wrong elsewhere: %v, %s", err, stderr)
	}
	if _, err := os.Stat(s.path("db.json")); err == nil {
		t.Error("check has written")
	}
}

// Where no store can be, check says so beside everything else, in the words of the run.
func TestCheck_PlaceOfTheStore(t *testing.T) {
	s := newShop(t)
	s.append(itemsSchema)
	s.state = "no/such/shop.state"
	want := "there is no folder " + s.path("no/such") + ": make it, or name another place at `state:`"
	for _, command := range [][]string{{"check", "FILE"}, {"run", "--once", "FILE"}} {
		if _, stderr, err := s.try(command...); err == nil || !strings.HasSuffix(lastLine(stderr), want) {
			t.Errorf("%s: got %v, %s", command[0], err, stderr)
		}
	}
	s.state = "shop.state"
	stop := s.follow()
	s.append(item(1, "one", "c") + commit)
	s.eventually("things", "name", `[1]"one"`)
	if out := s.must("check", "FILE"); !strings.Contains(out, "The pipeline runs and keeps its store to itself") {
		t.Errorf("check beside a run: %s", out)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
