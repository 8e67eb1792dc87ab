package fileblob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"github.com/estuary/connectors/internal/blob/blobtest"
	"github.com/estuary/connectors/internal/blob/fileblob"
)

func open(t *testing.T, dir string) (*fileblob.Bucket, *test.Hook) {
	t.Helper()
	logger, hook := test.NewNullLogger()
	b, err := fileblob.Open(dir, logrus.NewEntry(logger))
	if err != nil {
		t.Fatal(err)
	}
	return b, hook
}

// put replaces a file as one should: written elsewhere, renamed.
func put(t *testing.T, dir, key string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.WriteFile(aside, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBucket_Conforms(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Store {
		dir := t.TempDir()
		b, _ := open(t, dir)
		return blobtest.Store{
			Bucket: b, Put: func(key string, data []byte) { put(t, dir, key, data) },
			Delete: func(key string) { os.Remove(filepath.Join(dir, key)) },
			// A path is clean, begins with no slash, and is either a file or a directory.
			Holds: func(key string) bool {
				return filepath.Clean(key) == key && !strings.HasPrefix(key, "/") && !strings.HasPrefix(key, ".") && key != "a" && key != "é"
			},
		}
	})
}
