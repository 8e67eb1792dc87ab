package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Child finds a running child of a process by its program's name; 0: it has none now.
func Child(parent int, program string) (pid int, err error) {
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, fmt.Errorf("looking for %s below pid %d: %w", program, parent, err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name, at most 15 bytes) state ppid
		head, rest, _ := strings.Cut(string(text), ") ")
		id, short, _ := strings.Cut(head, " (")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) || fields[0] == "Z" || !strings.HasPrefix(program, short) {
			continue
		}
		return strconv.Atoi(id)
	}
	return 0, nil
}
