package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSinks_AnySplitOfTheOutput(t *testing.T) {
	const text = "one\n\nthree is longer\nfour\n"
	for size := 1; size <= len(text); size++ {
		var c counter
		var lines []string
		s := splitter{line: func(line []byte) error { lines = append(lines, string(line)); return nil }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			for _, sink := range []interface{ Write([]byte) (int, error) }{&c, &s} {
				if _, err := sink.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
			}
			rest = rest[n:]
		}
		if c.lines != 4 || c.bytes != int64(len(text)) || s.bytes != c.bytes {
			t.Errorf("in pieces of %d: %d lines, %d and %d bytes", size, c.lines, c.bytes, s.bytes)
		}
		if got := strings.Join(lines, "\n") + "\n"; got != text {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

func TestSplitter_StopsAtAnError(t *testing.T) {
	broken := errors.New("no such line")
	n := 0
	s := splitter{line: func([]byte) error {
		if n++; n == 2 {
			return broken
		}
		return nil
	}}
	if _, err := fmt.Fprint(&s, "a\nb\nc\n"); !errors.Is(err, broken) || n != 2 {
		t.Errorf("after %d lines: %v", n, err)
	}
}
