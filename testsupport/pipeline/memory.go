package pipeline

import (
	"fmt"
	"os"
	"syscall"
)

// memory is where Linux keeps files in memory.
const memory = "/dev/shm"

// roomBytes is more than the servers of a suite take.
const roomBytes = 6 << 30

// UseMemory makes the temporary folder one in memory, where there is room for that: the databases of a suite are made several times as fast. Call it before
// the first server is started; who has set TMPDIR knows better.
func UseMemory() error {
	if os.Getenv("TMPDIR") != "" || room(memory) < roomBytes {
		return nil
	}
	if err := os.Setenv("TMPDIR", memory); err != nil {
		return fmt.Errorf("using %s for temporary files: %w", memory, err)
	}
	return nil
}

// room is how many bytes are free in a folder; 0 when there is no such folder.
func room(dir string) uint64 {
	var free syscall.Statfs_t
	if err := syscall.Statfs(dir, &free); err != nil {
		return 0
	}
	return free.Bavail * uint64(free.Bsize) //nolint:gosec // a block's size is positive
}
