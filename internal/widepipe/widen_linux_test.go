package widepipe

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A pipe takes all of it without a reader. What is no pipe stays as it is.
func TestWiden_APipeHoldsMore(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	Widen(w)
	if err := w.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, Bytes)); err != nil {
		t.Fatalf("%d bytes fit in: %v", n, err)
	}
	if err := w.SetWriteDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write([]byte{0}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a full pipe takes one more byte: %v", err)
	}
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	Widen(f)
	if _, err := f.WriteString("text"); err != nil {
		t.Error(err)
	}
	Widen(nil)
}
