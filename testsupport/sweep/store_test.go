package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// store is where the files are. Whoever changes it also reads the connector's output, so it is always known what was there when a line was read.
type store interface {
	// config is the connector's configuration.
	config(advanced map[string]any) map[string]any
	// put makes or replaces a file at once, as who writes elsewhere and renames does. hourBack: the time that its writer gives it is an hour old.
	put(key string, b *body, hourBack bool) (object, error)
	// begin begins to put a new file slowly. end lets it appear, with the time at which it was begun.
	begin(key string, b *body) error
	end(key string) (object, error)
	remove(key string) error
	// now is the store's clock; pass lets it go on.
	now() time.Time
	pass(time.Duration)
	// opened is how many files were opened so far; 0 where the store cannot tell.
	opened() int
}

// object is a version of a file, as the store tells it.
type object struct {
	version  string
	modified time.Time
}

// directory is a local directory.
type directory struct{ root string } // of the bucket's folder, and of the one where files are made

const bucketName = "bkt"

func newDirectory(t *testing.T) *directory {
	t.Helper()
	d := &directory{root: t.TempDir()}
	for _, dir := range []string{bucketName, "elsewhere"} {
		if err := os.Mkdir(filepath.Join(d.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *directory) config(advanced map[string]any) map[string]any {
	advanced["endpoint"] = "file://" + d.root
	return map[string]any{"bucket": bucketName, "advanced": advanced}
}

func (d *directory) path(key string) string {
	return filepath.Join(d.root, bucketName, filepath.FromSlash(key))
}

func (d *directory) put(key string, b *body, hourBack bool) (object, error) {
	path, elsewhere := d.path(key), filepath.Join(d.root, "elsewhere", "file")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return object{}, err
	}
	if err := os.WriteFile(elsewhere, b.data, 0o600); err != nil {
		return object{}, err
	}
	if hourBack { // as cp -p leaves it
		hour := time.Now().Add(-time.Hour)
		if err := os.Chtimes(elsewhere, hour, hour); err != nil {
			return object{}, err
		}
	}
	if was, err := look(path); err == nil {
		if err := d.tick(was.modified); err != nil {
			return object{}, err
		}
	}
	if err := os.Rename(elsewhere, path); err != nil {
		return object{}, err
	}
	return look(path)
}

// begin makes the file in a folder of its own. end moves the folder in: the kernel notes that in the folder's time, not in that of what is in it.
func (d *directory) begin(key string, b *body) error {
	folder := d.aside(key)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, filepath.Base(key)), b.data, 0o600)
}

func (d *directory) end(key string) (object, error) {
	folder := filepath.Dir(d.path(key))
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return object{}, err
	}
	if err := os.Rename(d.aside(key), folder); err != nil {
		return object{}, err
	}
	return look(d.path(key))
}

func (d *directory) aside(key string) string {
	return filepath.Join(d.root, "elsewhere", strings.ReplaceAll(filepath.Dir(key), "/", "_"))
}

func (d *directory) remove(key string) error { return os.Remove(d.path(key)) }
func (d *directory) now() time.Time          { return time.Now() }
func (d *directory) pass(time.Duration)      {}
func (d *directory) opened() int             { return 0 }

// look says what a file's version is: size, time of the last change and inode.
func look(path string) (object, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return object{}, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return object{}, fmt.Errorf("looking at %s: no inode", path)
	}
	changed := time.Unix(s.Ctim.Unix())
	return object{fmt.Sprintf("%x-%x-%x", info.Size(), changed.UnixNano(), s.Ino), changed}, nil
}

// tick waits for the clock that the kernel stamps files with, which moves every few milliseconds: two versions of a file that have the same time could also
// have the same inode.
func (d *directory) tick(since time.Time) error {
	probe := filepath.Join(d.root, "elsewhere", "clock")
	for {
		if err := os.WriteFile(probe, nil, 0o600); err != nil {
			return err
		}
		if now, err := look(probe); err != nil || now.modified.After(since) {
			return err
		}
	}
}
