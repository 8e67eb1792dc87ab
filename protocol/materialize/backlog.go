package materialize

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/estuary/connectors/internal/command"
)

const (
	// backlogMemory is how many bytes of loads are kept in memory while they cannot be evaluated yet.
	backlogMemory = 16 << 20
	// backlogDisk bounds the temporary file that takes the rest.
	backlogDisk = 4 << 30
)

// backlog keeps the loads of a transaction that arrive before the one before it is acknowledged: the runner may send all of them first, and waits for an
// answer to its commit meanwhile, so they have to be taken. In memory first, then in a temporary file.
type backlog struct {
	lines  int
	memory []byte
	file   *os.File
	size   int64 // of file
	limit  int   // of memory
	reader *command.LineReader
}

// add keeps a copy of a line.
func (b *backlog) add(line []byte) error {
	if len(b.memory)+len(line) >= b.limit && len(b.memory) > 0 {
		if err := b.spill(); err != nil {
			return err
		}
	}
	b.memory = append(append(b.memory, line...), '\n')
	b.lines++
	return nil
}

func (b *backlog) spill() error {
	if b.size+int64(len(b.memory)) > backlogDisk {
		return command.Problem(
			fmt.Sprintf("the runner sends more than %d bytes of keys to load before it acknowledges the transaction before", int64(backlogDisk)), "make its transactions smaller",
		)
	}
	if b.file == nil {
		f, err := os.CreateTemp("", "materialize-loads-*")
		if err != nil {
			return fmt.Errorf("making a file for keys that wait: %w", err)
		}
		b.file = f
		if err := os.Remove(f.Name()); err != nil { // it ends with the process, however that ends
			return fmt.Errorf("making a file for keys that wait: %w", err)
		}
	}
	n, err := b.file.WriteAt(b.memory, b.size)
	b.size += int64(n)
	if err != nil {
		return fmt.Errorf("writing keys that wait to a file in %s: %w", os.TempDir(), err)
	}
	b.memory = b.memory[:0]
	return nil
}

// next returns the lines in the order in which they came, and nil after the last one. A line is valid until the next call.
func (b *backlog) next() ([]byte, error) {
	if b.lines == 0 {
		return nil, nil
	}
	if b.reader == nil {
		var all io.Reader = bytes.NewReader(b.memory)
		if b.file != nil {
			all = io.MultiReader(io.NewSectionReader(b.file, 0, b.size), all)
		}
		b.reader = command.NewLineReader(all)
	}
	line, err := b.reader.Next()
	if err != nil {
		return nil, fmt.Errorf("reading keys that waited: %w", err)
	}
	b.lines--
	return line, nil
}

// reset forgets what was read.
func (b *backlog) reset() {
	if cap(b.memory) > blockBytes {
		b.memory = nil
	}
	b.memory, b.reader, b.size, b.lines = b.memory[:0], nil, 0, 0
	if b.file != nil {
		b.file.Close()
		b.file = nil
	}
}
