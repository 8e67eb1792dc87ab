package transact

import (
	"bytes"
	"syscall"
	"testing"
)

// TestSpool_FreedRunsTakeNoSpace looks at what the file has of the disk.
func TestSpool_FreedRunsTakeNoSpace(t *testing.T) {
	s := &spool{dir: t.TempDir(), limit: 64 << 20}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	blocks := func() int64 {
		var st syscall.Stat_t
		if err := syscall.Fstat(int(s.file.Fd()), &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	var runs []run
	for i := range 4 {
		r, err := s.write(func(w *runWriter) error {
			for range 1 << 10 {
				if err := w.append(bytes.Repeat([]byte{byte(i + 1)}, 1<<10)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	if got := blocks(); got < 4<<20 {
		t.Fatalf("four runs of a MiB take %d bytes", got)
	}
	s.free(runs[0])
	s.free(runs[2])
	if got := blocks(); got > 3<<20 {
		t.Errorf("two runs that are left take %d bytes", got)
	}
	b, err := s.read(runs[1], make([]byte, 4096)).nextBytes()
	if err != nil || b != 2 {
		t.Errorf("a run beside a freed one reads %d, %v", b, err)
	}
	s.free(runs[1])
	s.free(runs[3])
	if got := blocks(); got != 0 || s.end != 0 {
		t.Errorf("without runs the file takes %d bytes and goes on at %d", got, s.end)
	}
}

// nextBytes returns the first byte of what is left.
func (r *runReader) nextBytes() (byte, error) {
	if err := r.need(1); err != nil {
		return 0, err
	}
	return r.buf[r.from], nil
}
