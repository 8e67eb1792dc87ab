package transact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/estuary/connectors/protocol"
)

// spool is the temporary file of the runs. It has no name once it is open, so that nothing of it stays behind however the process ends. Combiners that came
// from one by Split share it, and may use it at the same time.
type spool struct {
	dir   string
	limit int64 // bytes of runs that may be there

	mu   sync.Mutex // held while a run is written
	file *os.File   // nil until there is a run
	end  int64
	live int64 // bytes of runs that are there
}

// run is a piece of the spool: records of one binding, of a keyed one sorted and one for each key.
type run struct {
	offset, size int64
	sealed       bool
}

// write makes a run of what f appends to w.
func (s *spool) write(f func(w *runWriter) error) (run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "transact-*")
		if err != nil {
			return run{}, spoolProblem("cannot be made", err)
		}
		if err := os.Remove(file.Name()); err != nil {
			return run{}, spoolProblem("cannot be unlinked", errors.Join(err, file.Close()))
		}
		s.file = file
	}
	w := &runWriter{spool: s, offset: s.end}
	if err := f(w); err != nil {
		return run{}, err
	}
	if err := w.flush(); err != nil {
		return run{}, err
	}
	r := run{offset: s.end, size: w.offset - s.end}
	s.end = w.offset
	s.live += r.size
	return r, nil
}

// free gives a run's room back.
func (s *spool) free(r run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live -= r.size
	if s.file == nil {
		return
	}
	if s.live == 0 {
		// When it fails the file goes on growing behind end, which is right, too.
		if s.file.Truncate(0) == nil {
			s.end = 0
		}
		return
	}
	punch(s.file, r.offset, r.size)
}

// total returns the bytes of runs that are there.
func (s *spool) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// runBytes is the buffer of a run that is written or read.
const runBytes = 64 << 10

// runWriter appends to the spool.
type runWriter struct {
	spool  *spool
	offset int64 // of what has been written
	buf    []byte
}

func (w *runWriter) append(record []byte) error {
	if len(w.buf)+len(record) > runBytes && len(w.buf) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, record...)
	return nil
}

func (w *runWriter) flush() error {
	s := w.spool
	if s.live+w.offset-s.end+int64(len(w.buf)) > s.limit {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("one transaction holds more records than fit into %s of temporary space in %s", byteSize(s.limit), s.directory()),
			Fix: "let the source send its checkpoints (STATE) more often, or fewer streams at a time",
		}
	}
	if _, err := s.file.WriteAt(w.buf, w.offset); err != nil {
		return spoolProblem("cannot be written", err)
	}
	w.offset += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

func (s *spool) directory() string {
	if s.dir != "" {
		return s.dir
	}
	return os.TempDir()
}

func byteSize(n int64) string {
	for _, u := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d %s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func spoolProblem(what string, err error) error {
	p := &protocol.Problem{Kind: protocol.System, Summary: "the temporary file for a large transaction " + what, Fix: err.Error(), Err: err}
	if errors.Is(err, syscall.ENOSPC) {
		p.Kind, p.Fix = protocol.Config, "its disk is full; free some space, or set TMPDIR to a directory with more"
	}
	return p
}

// runReader reads a run record by record.
type runReader struct {
	file     *os.File
	at, end  int64 // of the file: what is not in buf yet
	buf      []byte
	from, to int // what is in buf
}

func (s *spool) read(r run, buf []byte) *runReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &runReader{file: s.file, at: r.offset, end: r.offset + r.size, buf: buf}
}

// next returns the bytes of the next record, valid until the next call; nil: the run has ended.
func (r *runReader) next(spans int) ([]byte, error) {
	if r.from == r.to && r.at == r.end {
		return nil, nil
	}
	if err := r.need(headerBytes); err != nil {
		return nil, err
	}
	size := sizeOf(r.buf[r.from:], spans)
	if err := r.need(size); err != nil {
		return nil, err
	}
	b := r.buf[r.from : r.from+size]
	r.from += size
	return b, nil
}

// need makes n bytes available.
func (r *runReader) need(n int) error {
	if r.to-r.from >= n {
		return nil
	}
	if n > len(r.buf) {
		grown := make([]byte, max(n, runBytes))
		copy(grown, r.buf[r.from:r.to])
		r.buf = grown
	} else {
		copy(r.buf, r.buf[r.from:r.to])
	}
	r.from, r.to = 0, r.to-r.from
	room := r.buf[r.to:]
	if left := r.end - r.at; int64(len(room)) > left {
		room = room[:left]
	}
	read, err := r.file.ReadAt(room, r.at)
	if read < len(room) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return spoolProblem("cannot be read", err)
	}
	r.at += int64(read)
	r.to += read
	if r.to < n {
		return spoolProblem("cannot be read", io.ErrUnexpectedEOF)
	}
	return nil
}
