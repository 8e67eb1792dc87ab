package memblob_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
)

func TestFault_OfCallsAndBodies(t *testing.T) {
	reset := errors.New("reset")
	b := memblob.New("b")
	b.Put(memblob.Entry{Key: "k", Data: []byte("0123456789")})
	b.Fault = func(c memblob.Call) memblob.Fault {
		switch {
		case c.Op == memblob.Open && c.Number == 1:
			return memblob.Fault{Err: reset}
		case c.Op == memblob.Open && c.Number == 2:
			return memblob.Fault{Err: reset, After: 4}
		}
		return memblob.Fault{}
	}
	if _, _, err := b.Open(t.Context(), "k", "", 0, -1); !errors.Is(err, reset) {
		t.Errorf("first: %v", err)
	}
	for _, want := range []string{"2345 reset", "23456789 <nil>"} {
		body, _, err := b.Open(t.Context(), "k", "", 2, -1)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if got := fmt.Sprintf("%s %v", text, err); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if b.Calls(memblob.Open) != 3 || b.Calls(memblob.List) != 0 {
		t.Errorf("%d, %d calls", b.Calls(memblob.Open), b.Calls(memblob.List))
	}
}

// A bucket is changed between two pages, and between a page and a read.
func TestFault_MayChangeTheBucket(t *testing.T) {
	b := memblob.New("b")
	b.PageSize, b.Versions = 2, memblob.MD5
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, key := range []string{"a", "b", "c", "d"} {
		b.Put(memblob.Entry{Key: key, Modified: at, Archived: key == "d"})
	}
	b.Fault = func(c memblob.Call) memblob.Fault {
		if c.Op == memblob.List && c.Number == 2 {
			b.Delete("c")
			b.Restore("d")
			b.Put(memblob.Entry{Key: "aa"})
			b.Put(memblob.Entry{Key: "e", Data: []byte("x"), Modified: at})
		}
		return memblob.Fault{}
	}
	var found []string
	for o, err := range b.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprint(o.Key, o.Restored, o.Modified.Equal(at)))
	}
	if got, want := fmt.Sprint(found), "[afalse true bfalse true dtrue true efalse true]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	first, _ := b.Get("a")
	again := b.Put(memblob.Entry{Key: "a"})
	other := b.Put(memblob.Entry{Key: "a", Data: []byte("x")})
	if again != first.Version || other == first.Version {
		t.Errorf("the same bytes have versions %s and %s, others %s", first.Version, again, other)
	}
	if _, _, err := b.Open(t.Context(), "a", again, 0, -1); !errors.Is(err, blob.ErrChanged) {
		t.Error(err)
	}
}
