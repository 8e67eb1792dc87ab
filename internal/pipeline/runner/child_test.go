package runner

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// Wherever a start meets the limit of open files, it says which limit to raise.
func TestStart_WithoutFiles(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer limit(before.Cur)
	next, err := os.Open(os.DevNull) // the lowest descriptor that is free
	if err != nil {
		t.Fatal(err)
	}
	lowest := uint64(next.Fd())
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for more := range uint64(12) {
		limit(lowest + more)
		c, err := start("/bin/true", nil, &relay{side: sourceSide})
		limit(before.Cur)
		if err == nil {
			c.end(sinkGrace)
			continue
		}
		failed++
		if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "cannot be started") || !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("with %d more files: got %v", more, err)
		}
	}
	if failed < 6 {
		t.Errorf("only %d starts had too few files", failed)
	}
}
