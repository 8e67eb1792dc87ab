package fileblob_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/fileblob"
	"github.com/estuary/connectors/protocol"
)

func list(t *testing.T, b *fileblob.Bucket, prefix, after string) (objects []blob.Object, keys []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), prefix, after) {
		if err != nil {
			t.Fatal(err)
		}
		objects, keys = append(objects, o), append(keys, o.Key)
	}
	return objects, keys
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestList_PassesOverWhatIsNoObject(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "data/file.csv", []byte("x"))
	put(t, dir, ".hidden", []byte("x"))
	put(t, dir, ".git/config", []byte("x"))
	put(t, dir, "data/.part", []byte("x"))
	put(t, dir, "data/\xff.csv", []byte("x"))
	outside := put(t, t.TempDir(), "outside.csv", []byte("outside"))
	must(t, os.Symlink(file, filepath.Join(dir, "link.csv")))
	must(t, os.Symlink(outside, filepath.Join(dir, "out.csv")))
	must(t, os.Symlink(filepath.Join(dir, "data"), filepath.Join(dir, "again")))
	must(t, os.Symlink(filepath.Join(dir, "nothing"), filepath.Join(dir, "dangling")))
	must(t, os.Symlink(filepath.Join(dir, "circle"), filepath.Join(dir, "circle")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	b, hook := open(t, dir)
	for range 2 {
		if _, keys := list(t, b, "", ""); !slices.Equal(keys, []string{"data/file.csv", "link.csv", "out.csv"}) {
			t.Errorf("found %q", keys)
		}
	}
	if len(hook.Entries) != 2 || !strings.Contains(hook.Entries[0].Message+hook.Entries[1].Message, ".git") {
		t.Errorf("logged %d lines: %+v", len(hook.Entries), hook.Entries)
	}
	for _, key := range []string{".hidden", ".git/config", "data/.part", "data/\xff.csv", "again", "dangling", "circle", "pipe", "data", "", ".", "..", "/", "../x", "data/", "data//file.csv"} {
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("looking at %q: %v", key, err)
		}
		if _, _, err := b.Open(t.Context(), key, "", 0, -1); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("reading %q: %v", key, err)
		}
	}
}

func TestList_TellsWhatLiesTooDeep(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.csv", []byte("x"))
	deep := filepath.Join(dir, strings.Repeat("d", 200))
	put(t, deep, "deep.csv", []byte("x"))
	for range 25 { // deeper than a path of 4096 bytes reaches: what there is goes into a directory of its name
		around := filepath.Join(dir, "around")
		must(t, os.Mkdir(around, 0o755))
		must(t, os.Rename(deep, filepath.Join(around, filepath.Base(deep))))
		must(t, os.Rename(around, deep))
	}
	b, hook := open(t, dir)
	for range 2 {
		if _, keys := list(t, b, "", ""); !slices.Equal(keys, []string{"a.csv"}) {
			t.Errorf("found %.100q", keys)
		}
	}
	if len(hook.Entries) != 1 || hook.Entries[0].Level != logrus.WarnLevel || !strings.Contains(hook.Entries[0].Message, "longer than the system opens") {
		t.Errorf("logged %+v", hook.Entries)
	}
}

// bug streams-files-parser 64: predecessor (SFTP), directories before the key to start after were not listed, and their later files missed
func TestList_StartsInsideADirectory(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"a/1", "a/b/1", "a/b/2", "a/c", "a.z", "b"} {
		put(t, dir, key, []byte("x"))
	}
	b, _ := open(t, dir)
	for after, want := range map[string][]string{
		"a/b/1": {"a/b/2", "a/c", "b"},
		"a/b":   {"a/b/1", "a/b/2", "a/c", "b"},
		"a/b0":  {"a/c", "b"},
		"a":     {"a.z", "a/1", "a/b/1", "a/b/2", "a/c", "b"},
		"a.z":   {"a/1", "a/b/1", "a/b/2", "a/c", "b"},
	} {
		if _, keys := list(t, b, "", after); !slices.Equal(keys, want) {
			t.Errorf("after %q: %q, want %q", after, keys, want)
		}
	}
}

func TestModified_IsNotSetBack(t *testing.T) {
	dir, start := t.TempDir(), time.Now().Add(-time.Second)
	old := start.Add(-365 * 24 * time.Hour)
	path := put(t, dir, "k", []byte("x"))
	b, _ := open(t, dir)
	before, _ := list(t, b, "", "")
	must(t, os.Chtimes(path, old, old))
	elsewhere := put(t, t.TempDir(), "k", []byte("y"))
	must(t, os.Chtimes(elsewhere, old, old))
	if now, _ := list(t, b, "", ""); now[0].Modified.Before(start) || now[0].Modified.Before(before[0].Modified) {
		t.Errorf("modified %v after a year-old mtime was set", now[0].Modified)
	}
	must(t, os.Rename(elsewhere, path))
	now, _ := list(t, b, "", "")
	if now[0].Modified.Before(start) || now[0].Version == before[0].Version {
		t.Errorf("moved in: modified %v, version %s as before %s", now[0].Modified, now[0].Version, before[0].Version)
	}
	tick(t, b, dir, now[0].Modified)
	// A link that is made anew shows other bytes, however old the file behind it is.
	must(t, os.Symlink(path, filepath.Join(dir, "link")))
	linked, err := b.Stat(t.Context(), "link")
	must(t, err)
	if !linked.Modified.After(now[0].Modified) || linked.Version != now[0].Version {
		t.Errorf("link modified %v, file %v; version %s", linked.Modified, now[0].Modified, linked.Version)
	}
}

// tick waits for the clock that the kernel stamps files with, which moves every few milliseconds.
func tick(t *testing.T, b *fileblob.Bucket, dir string, since time.Time) {
	t.Helper()
	for {
		put(t, dir, "clock", nil)
		if now, err := b.Stat(t.Context(), "clock"); err != nil || now.Modified.After(since) {
			must(t, err)
			return
		}
	}
}

func TestOpen_WhileItIsWrittenTo(t *testing.T) {
	const first = "0123456789"
	overwrite := func(path string, flag int, text string) {
		f, err := os.OpenFile(path, os.O_WRONLY|flag, 0)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, err)
		must(t, f.Close())
	}
	for _, c := range []struct {
		name   string
		change func(dir, path string)
		want   string // of the whole body; empty: ErrChanged
		pinned error  // of opening the old version afterwards
	}{
		{"it grows", func(_, path string) { overwrite(path, os.O_APPEND, "more") }, first, nil},
		{"it is replaced", func(dir, _ string) { put(t, dir, "k", []byte("ABCDEFGHIJ")) }, first, blob.ErrChanged},
		{"it is removed", func(_, path string) { must(t, os.Remove(path)) }, first, blob.ErrNotFound},
		{"it is moved away", func(_, path string) { must(t, os.Rename(path, path+"0")) }, first, blob.ErrNotFound},
		{"its rights change", func(_, path string) { must(t, os.Chmod(path, 0o640)) }, first, blob.ErrChanged},
		{"it is overwritten", func(_, path string) { overwrite(path, 0, "ABCDEFGHIJ") }, "", blob.ErrChanged},
		{"it becomes shorter", func(_, path string) { overwrite(path, os.O_TRUNC, "ABC") }, "", blob.ErrChanged},
	} {
		dir := t.TempDir()
		path := put(t, dir, "k", []byte(first))
		b, _ := open(t, dir)
		before, err := b.Stat(t.Context(), "k")
		must(t, err)
		body, _, err := b.Open(t.Context(), "k", before.Version, 0, -1)
		must(t, err)
		head := make([]byte, 4)
		_, err = io.ReadFull(body, head)
		must(t, err)
		tick(t, b, dir, before.Modified)
		c.change(dir, path)
		rest, err := io.ReadAll(body)
		if whole := err == nil; whole != (c.want != "") || whole && string(head)+string(rest) != c.want || !whole && !errors.Is(err, blob.ErrChanged) {
			t.Errorf("%s: %q and %q, %v", c.name, head, rest, err)
		}
		body.Close()
		body, info, err := b.Open(t.Context(), "k", before.Version, 0, -1)
		if !errors.Is(err, c.pinned) || err == nil && (info.Size != int64(len(first)) || info.Version != before.Version) {
			t.Errorf("%s: opening it again: %+v, %v", c.name, info, err)
		}
		if err == nil {
			if text, err := io.ReadAll(body); err != nil || string(text) != first {
				t.Errorf("%s: opened again: %q, %v", c.name, text, err)
			}
			body.Close()
		}
		if now, err := b.Stat(t.Context(), "k"); err == nil && now.Version == before.Version {
			t.Errorf("%s: still of version %s", c.name, now.Version)
		}
	}
}

func TestOpen_WithoutDirectory(t *testing.T) {
	file := put(t, t.TempDir(), "f", nil)
	for _, root := range []string{filepath.Join(t.TempDir(), "nonesuch"), file} {
		if _, err := fileblob.Open(root, nil); protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v", root, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "d")
	must(t, os.Mkdir(dir, 0o755))
	b, _ := open(t, dir)
	must(t, os.Remove(dir))
	for _, err := range b.List(t.Context(), "", "") {
		if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "there is no directory "+dir) {
			t.Errorf("a directory that is gone was listed: %v", err)
		}
	}
}
