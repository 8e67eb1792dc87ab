package command

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// bug materializations 4: the predecessor's reader of 2022 took a full buffer for an error
// bug materializations 7: the predecessor's line scanner cut lines at 64 KiB (2025)
func TestLineReader_LinesOfAnyLength(t *testing.T) {
	want := []string{"{}", strings.Repeat("a", readBytes-1), strings.Repeat("b", readBytes), strings.Repeat("c", 3*readBytes+1), "{1}", strings.Repeat("d", 5<<20), "last"}
	r := NewLineReader(strings.NewReader("\n \r\n" + strings.Join(want, "\r\n") + "\n\n"))
	if first, err := r.First(); err != nil || first != '\n' {
		t.Fatalf("the first byte is %q, %v", first, err)
	}
	for i, w := range want {
		if got, err := r.Next(); err != nil || string(got) != w {
			t.Fatalf("line %d has %d bytes, %v, want %d", i, len(got), err, len(w))
		}
	}
	if got, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last line came %q, %v", got, err)
	}
}

func TestLineReader_LastLineNeedsNoNewline(t *testing.T) {
	r := NewLineReader(strings.NewReader("{}\n{\"a\":1}"))
	for _, want := range []string{"{}", `{"a":1}`} {
		if got, err := r.Next(); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestLineReader_BrokenInput(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := NewLineReader(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(broken)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Next(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "reading stdin: ") {
		t.Errorf("got %q, %v", got, err)
	}
}
