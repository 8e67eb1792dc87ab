package compress

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// numbers are bytes of which each place is another one.
func numbers(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(string(rune('a'+i%26)) + strings.Repeat("x", i%7))
	}
	return b.String()
}

func TestAhead_GivesWhatTheReaderGives(t *testing.T) {
	text := numbers(3 << 20)
	gone := errors.New("gone")
	for _, size := range []int{0, 1, aheadAfter - 1, aheadAfter, aheadAfter + 1, aheadAfter + aheadBytes, aheadAfter + 5*aheadBytes + 3, len(text)} {
		for name, in := range map[string]func() io.Reader{
			"whole":             func() io.Reader { return strings.NewReader(text[:size]) },
			"halves":            func() io.Reader { return iotest.HalfReader(strings.NewReader(text[:size])) },
			"data with the end": func() io.Reader { return iotest.DataErrReader(strings.NewReader(text[:size])) },
		} {
			a := NewAhead(in())
			got, err := io.ReadAll(iotest.HalfReader(a))
			if err != nil || string(got) != text[:size] {
				t.Errorf("%s, %d bytes: got %d bytes, %v", name, size, len(got), err)
			}
			if n, err := a.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s, %d bytes: after the end came %d, %v", name, size, n, err)
			}
			a.Close()
		}
		a := NewAhead(io.MultiReader(strings.NewReader(text[:size]), iotest.ErrReader(gone)))
		if got, err := io.ReadAll(a); err != gone || string(got) != text[:size] {
			t.Errorf("a failure after %d bytes: got %d bytes, %v", size, len(got), err)
		}
		a.Close()
	}
}

// A reader that is given up leaves no goroutine behind, and its memory is that of its buffers.
func TestAhead_CloseEndsItAnywhere(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, n := range []int64{0, 1, aheadAfter, aheadAfter + 1, aheadAfter + aheadBytes, aheadAfter + 10*aheadBytes} {
		s, err := Open(bytes.NewReader(packed(t, Gzip, strings.Repeat("0", 20<<20))), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, s, n); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s.Close()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, %d were there before", runtime.NumGoroutine(), before)
		}
	}
}

// What a codec warns of while it works ahead is told by whoever reads.
func TestAhead_WarningsComeWithTheRead(t *testing.T) {
	text := strings.Repeat("0123456789", 200000)
	warned := 0
	s, err := Open(strings.NewReader(string(packed(t, Gzip, text))+"junk"), false, func(string) { warned++ })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, err := io.CopyN(io.Discard, s, 1<<20); err != nil || warned != 0 {
		t.Fatalf("after %d bytes: %d warnings, %v", n, warned, err)
	}
	if rest, err := io.ReadAll(s); err != nil || len(rest) != len(text)-1<<20 || warned != 1 {
		t.Errorf("got %d bytes, %d warnings, %v", len(rest), warned, err)
	}
}
