package main

import (
	"fmt"
	"testing"
)

func TestInOrder(t *testing.T) {
	line := func(file string) []byte {
		return fmt.Appendf(nil, `{"type":"RECORD","record":{"data":{"_meta":{"file":%q,"offset":0}}}}`, file)
	}
	var o inOrder
	for _, l := range [][]byte{line("b/a"), []byte(`{"type":"STATE"}`), line("b/a"), line("b/b")} {
		if err := o.take(l); err != nil {
			t.Fatal(err)
		}
	}
	if o.records != 3 {
		t.Errorf("%d records, want 3", o.records)
	}
	if o.take(line("b/a")) == nil || o.take([]byte(`{"type":"RECORD","record":{}}`)) == nil {
		t.Error("a record out of order, or without a file, is taken")
	}
}

func TestSmallObject_IsAKilobyte(t *testing.T) {
	for _, n := range []int{0, 9, 19999} {
		if size := len(smallObject(n)); size != 1024 {
			t.Errorf("object %d has %d bytes", n, size)
		}
	}
}
