package parser

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// maxStaged bounds the temporary file of an input that can be read once only, and that of a compressed file that must be read at random.
const maxStaged = 4 << 30

// staged is a temporary file, deleted as soon as it exists where the system allows it, so that no end of the process leaves it behind.
type staged struct {
	file *os.File
	size int64
	gone bool
}

func stage(r io.Reader, most int64) (*staged, error) {
	f, err := os.CreateTemp("", "parser-*")
	if err != nil {
		return nil, fmt.Errorf("making a temporary file: %w", err)
	}
	s := &staged{file: f, gone: os.Remove(f.Name()) == nil}
	s.size, err = io.Copy(f, io.LimitReader(r, most+1))
	if err == nil && s.size > most {
		err = fileError(KindLimit, "an input that can be read only in order is kept in a temporary file of at most %d bytes: give the file itself", most)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *staged) close() error {
	err := s.file.Close()
	if !s.gone {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// ranges reads a source at random, each time by its own span: for readers that fetch what they need in pieces of a good size.
type ranges struct{ source *source }

func (r ranges) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegative
	}
	if r.source.local != nil {
		return r.source.local.file.ReadAt(p, off)
	}
	n := min(int64(len(p)), r.source.size-off)
	if n <= 0 {
		return 0, io.EOF
	}
	body, err := r.source.part(off, n)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	got, err := io.ReadFull(body, p[:n])
	if err == nil && n < int64(len(p)) {
		err = io.EOF
	}
	return got, err
}

// errNegative is of directories that a stranger has made up.
var errNegative = errors.New("it points before the beginning of the file")

// skippable is how many bytes are read and thrown away rather than opening the source again.
const skippable = 256 << 10

// sequence reads a source at random, for readers that mostly go forward: it keeps one body open and goes on in it. Budget bounds what is read through it
// until it is lifted; negative: nothing does.
type sequence struct {
	source *source
	body   io.ReadCloser
	at     int64
	budget int64
}

var errBudget = errors.New("too much was read")

func (s *sequence) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegative
	}
	if s.budget >= 0 {
		if s.budget -= int64(len(p)); s.budget < 0 {
			return 0, errBudget
		}
	}
	if s.source.local != nil {
		return s.source.local.file.ReadAt(p, off)
	}
	if off >= s.source.size {
		return 0, io.EOF
	}
	if s.body == nil || off < s.at || off-s.at > skippable {
		s.close()
		body, err := s.source.from(off)
		if err != nil {
			return 0, err
		}
		s.body, s.at = body, off
	}
	if off > s.at {
		n, err := io.CopyN(io.Discard, s.body, off-s.at)
		s.at += n
		if err != nil {
			s.close()
			return 0, err
		}
	}
	n, err := io.ReadFull(s.body, p[:min(int64(len(p)), s.source.size-off)])
	s.at += int64(n)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	if err != nil {
		s.close()
	}
	return n, err
}

func (s *sequence) close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}
