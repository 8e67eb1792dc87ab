package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore_RemembersAcrossOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.state")
	s := open(t, path)
	cp := Checkpoint{Pipeline: "x", Epoch: 1, Txn: 7, Capture: json.RawMessage(`{"shared":{"lsn":"0/1"}}`), Backfill: map[string]uint32{"public/a": 2}, MaxKeys: map[string][]byte{"a": {0x15, 1}, "b": {}}}
	for _, err := range []error{
		s.Commit(1, cp.JSON(), json.RawMessage(`{"s":1}`)),
		s.SetApplied(json.RawMessage(`{"bindings":[]}`), json.RawMessage(`{"s":2}`)),
		s.SetCounters(map[string]uint32{"public/a": 2}, map[string]uint32{"public/a": 1}),
		s.SetStreams(map[string]string{"public/a": "a"}),
		s.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, path)
	r, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(r.Checkpoint)
	if err != nil || string(back.JSON()) != string(cp.JSON()) || back.MaxKeys["b"] == nil {
		t.Errorf("got the checkpoint %s, %v; want %s", r.Checkpoint, err, cp.JSON())
	}
	if string(r.SinkState) != `{"s":2}` || r.Epoch != 1 || r.Backfill["public/a"] != 2 || r.Resets["public/a"] != 1 || r.Streams["public/a"] != "a" {
		t.Errorf("got %+v", r)
	}
	if err := s.Reset(2, map[string]uint32{"public/a": 3}); err != nil {
		t.Fatal(err)
	}
	if r, err = s.Read(); err != nil || r.Checkpoint != nil || r.SinkState != nil || r.Applied == nil || r.Epoch != 2 || r.Backfill["public/a"] != 3 {
		t.Errorf("after a reset: %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpen_SecondOneIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.state")
	s := open(t, path)
	if _, err := Open(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "another pipeline process uses the store") {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpen_DamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.state")
	if err := os.WriteFile(path, []byte(strings.Repeat("no store at all ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "damaged or no store") {
		t.Errorf("got %v", err)
	}
}

// The database under the store trusts its file. Whatever has become of it, there is a sentence and no panic, and what is returned is JSON.
func TestOpen_DamagedPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.state")
	s := open(t, path)
	for _, err := range []error{s.Commit(1, json.RawMessage(`{"txn":1}`), nil), s.SetApplied(json.RawMessage(`{"bindings":[]}`), json.RawMessage(`{"s":2}`)), s.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	look := func(name string, raw []byte) (err error) {
		path := filepath.Join(t.TempDir(), "x.state")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		var r Record
		if err == nil {
			r, err = s.Read()
			_ = s.Close() // what it says no longer counts
		}
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "cannot be opened") {
				t.Errorf("%s: got %v", name, err)
			}
			return err
		}
		for _, raw := range []json.RawMessage{r.Checkpoint, r.SinkState, r.Applied} {
			if raw != nil && !json.Valid(raw) {
				t.Errorf("%s: got %q", name, raw)
			}
		}
		return nil
	}
	page := os.Getpagesize()
	for n := 0; n < len(whole); n += page {
		if err := look(fmt.Sprint("the first bytes: ", n), whole[:n]); err != nil && !strings.Contains(err.Error(), "move it away") {
			t.Errorf("the first %d bytes: got %v", n, err)
		}
		zeroed := slices.Clone(whole)
		clear(zeroed[n:min(n+page, len(whole))])
		_ = look(fmt.Sprint("a page of zeros at ", n), zeroed)
	}
	spoilt := bytes.ReplaceAll(whole, []byte(`{"bindings":[]}`), []byte(`{"bindings":[}}`))
	_ = look("a value that is no JSON", spoilt)
	if refused < 5 {
		t.Errorf("only %d damaged files were refused", refused)
	}
}

// A disk without room, which a limit of the size of files stands for: nothing stays of a store that could not be made, so the next start makes it.
func TestOpen_WithoutRoom(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(before.Cur)
	path := filepath.Join(t.TempDir(), "x.state")
	failed := 0
	for room := uint64(0); room <= 64<<10; room += 2 << 10 {
		limit(room)
		s, err := Open(path)
		limit(before.Cur)
		if err == nil {
			if err := errors.Join(s.Close(), os.Remove(path)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		failed++
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("with room for %d bytes something stays: %v", room, err)
		}
	}
	if failed < 4 {
		t.Errorf("only %d had not enough room", failed)
	}
	// One that was there before stays.
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	limit(4 << 10)
	s, err := Open(path)
	limit(before.Cur)
	if err == nil {
		err = s.Close()
	}
	if _, gone := os.Stat(path); gone != nil {
		t.Errorf("a store that was there is gone after %v", err)
	}
}

func TestParse_ForeignCheckpoint(t *testing.T) {
	if _, err := Parse([]byte(`{"txn":"x"}`)); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("got %v", err)
	}
}

// A place where no store can be is told before a run, by the sentence that the run would end with, and looking makes no file.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "no", "x.state"), "there is no folder " + filepath.Join(dir, "no") + ": make it"},
		{filepath.Join(file, "x.state"), file + " is no folder"},
		{dir, "it is no file"},
	} {
		_, looked := Look(c.path)
		_, opened := Open(c.path)
		if looked == nil || opened == nil || looked.Error() != opened.Error() || !strings.Contains(looked.Error(), c.want) {
			t.Errorf("%s: Look says %v, Open %v, want both: %s", c.path, looked, opened, c.want)
		}
	}
	path := filepath.Join(dir, "x.state")
	if r, err := Look(path); err != nil || r.Epoch != 0 {
		t.Errorf("of one that is not there: %+v, %v", r, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking has made the file")
	}
	s := open(t, path)
	if err := s.SetApplied(json.RawMessage(`{"x":1}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(path); !errors.Is(err, ErrLocked) {
		t.Errorf("of one that is in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Look(path); err != nil || string(r.Applied) != `{"x":1}` {
		t.Errorf("got %+v, %v", r, err)
	}
	if os.Getuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil { //nolint:gosec // a folder that can be entered
		t.Fatal(err)
	}
	if _, err := Look(filepath.Join(dir, "y.state")); err == nil || !strings.Contains(err.Error(), "may not make files in "+dir) {
		t.Errorf("got %v", err)
	}
}
