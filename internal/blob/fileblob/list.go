package fileblob

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/estuary/connectors/internal/blob"
)

// List implements blob.Bucket. Memory is that of the names in the directories that are open, one a level.
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		w := walk{bucket: b, prefix: prefix, after: after, listed: time.Now().UTC(), ended: ctx.Err, yield: yield}
		w.directory("")
	}
}

type walk struct {
	bucket        *Bucket
	prefix, after string
	listed        time.Time
	ended         func() error
	yield         func(blob.Object, error) bool
}

// directory lists what is below a directory, whose key ends with a slash or is empty. false: the listing has ended.
func (w *walk) directory(at string) bool {
	entries, err := os.ReadDir(w.bucket.path(at))
	if at != "" && w.missing(at, err) {
		return true // removed since it was found
	}
	if missing(err) {
		w.yield(blob.Object{}, absent(w.bucket.root, err))
		return false
	}
	if err != nil {
		return w.fail(at, err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if name[0] == '.' || !utf8.ValidString(name) {
			w.bucket.names.Do(func() {
				w.bucket.log.Infof("passing over %q: names that begin with a dot or are not UTF-8 are not read; there may be more of them", w.bucket.path(at+name))
			})
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		if w.reaches(at + name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		key := at + name
		if strings.HasSuffix(key, "/") {
			if !w.directory(key) {
				return false
			}
			continue
		}
		if err := w.ended(); err != nil {
			return w.fail(key, err)
		}
		o, ok, err := w.bucket.object(key)
		switch {
		case w.missing(key, err):
			// Removed since, or a link to nothing.
		case err != nil:
			return w.fail(key, err)
		case ok:
			o.Listed = w.listed
			if !w.yield(o, nil) {
				return false
			}
		}
	}
	return true
}

// missing tells whether nothing is to be read at a key, and says so where something is there.
func (w *walk) missing(key string, err error) bool {
	if errors.Is(err, syscall.ENAMETOOLONG) {
		w.bucket.depths.Do(func() {
			w.bucket.log.Warnf("passing over %.200q…: what lies that deep has a path longer than the system opens; there may be more of it", key)
		})
	}
	return missing(err)
}

// reaches tells whether a key, or for a directory one below it, may be in the listing. A directory is compared with as much of the key to start after as
// it is long: the key may be in it.
func (w *walk) reaches(key string) bool {
	if below := strings.HasSuffix(key, "/"); below {
		return (strings.HasPrefix(key, w.prefix) || strings.HasPrefix(w.prefix, key)) && (key > w.after || strings.HasPrefix(w.after, key))
	}
	return strings.HasPrefix(key, w.prefix) && key > w.after
}

func (w *walk) fail(key string, err error) bool {
	if ended := w.ended(); ended != nil {
		err = fmt.Errorf("listing %s: %w", w.bucket.path(key), ended)
	} else {
		err = problem("listing", w.bucket.path(key), err)
	}
	w.yield(blob.Object{}, err)
	return false
}
