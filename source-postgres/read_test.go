package main

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/keyrange"
	"github.com/estuary/connectors/protocol"
)

func TestIdle(t *testing.T) {
	bs := bindings("orders")
	own := keyrange.Hash("public.orders")
	for _, c := range []struct {
		name string
		bs   []protocol.Binding
		r    protocol.Range
		want string
	}{
		{"everything", bs, protocol.FullRange, ""},
		{"its own hash alone", bs, protocol.Range{Begin: own, End: own}, ""},
		{"what begins after it", bs, protocol.Range{Begin: own + 1, End: 0xffffffff}, "none of the 1 configured tables belongs to the range of this process"},
		{"no streams", nil, protocol.FullRange, "no stream is configured"},
	} {
		if got := idle(c.bs, c.r); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
