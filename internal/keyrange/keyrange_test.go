package keyrange

import (
	"fmt"
	"testing"

	"github.com/estuary/connectors/protocol"
)

// The vectors pin the hash: a changed one would move units between the processes of a running capture.
func TestHash_Vectors(t *testing.T) {
	for unit, want := range map[string]uint32{
		"": 0xdeff486a, "a": 0x79d9811d, "foo/bar.csv": 0x09dab79d,
		"foo": 0xf6c33e11, "bucket/path/to/file.csv": 0xe0aafbff, "my-bucket/2022/04/01/data.csv.gz": 0x912df886,
		"topic:0": 0x7e515cb0, "topic:1": 0xbe866097, "shardId-000000000000": 0x97eb2a69,
	} {
		if got := Hash(unit); got != want {
			t.Errorf("Hash(%q) = %08x, want %08x", unit, got, want)
		}
	}
}

// States of file sources name keys and versions by the whole sum.
func TestSum64_Vectors(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0xdeff486a61098734, "a": 0x79d9811d30170260, "foo": 0xf6c33e1133c51128, "bucket/path/to/file.csv": 0xe0aafbff13ca09c7,
		"my-bucket/2022/04/01/data.csv.gz": 0x912df88620fc5726,
	} {
		if got := Sum64(text); got != want {
			t.Errorf("Sum64(%q) = %016x, want %016x", text, got, want)
		}
	}
}

func TestOwns_BoundsAreInclusive(t *testing.T) {
	const h = 0x79d9811d // of "a"
	for _, c := range []struct {
		r    protocol.Range
		want bool
	}{
		{protocol.FullRange, true},
		{protocol.Range{Begin: h, End: h}, true},
		{protocol.Range{Begin: 0, End: h}, true},
		{protocol.Range{Begin: h, End: 0xffffffff}, true},
		{protocol.Range{Begin: 0, End: h - 1}, false},
		{protocol.Range{Begin: h + 1, End: 0xffffffff}, false},
	} {
		if got := Owns(c.r, "a"); got != c.want {
			t.Errorf("Owns(%08x-%08x, a) = %v, want %v", c.r.Begin, c.r.End, got, c.want)
		}
	}
}

// Three thirds of the key space must divide the units among them: each unit has exactly one owner.
func TestOwns_ThirdsDivideUnits(t *testing.T) {
	thirds := []protocol.Range{{Begin: 0, End: 0x55555554}, {Begin: 0x55555555, End: 0xaaaaaaa9}, {Begin: 0xaaaaaaaa, End: 0xffffffff}}
	owned := make([]int, len(thirds))
	for i := range 300 {
		owners := 0
		for p, r := range thirds {
			if Owns(r, fmt.Sprintf("public.table_%d", i)) {
				owners++
				owned[p]++
			}
		}
		if owners != 1 {
			t.Fatalf("unit %d has %d owners, want 1", i, owners)
		}
	}
	for p, n := range owned {
		if n < 50 {
			t.Errorf("process %d owns %d of 300 units, want an even share", p, n)
		}
	}
}
