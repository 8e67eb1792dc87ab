package flow

import "testing"

// The keys are those that Flow computes, so that a state moves between runners.
func TestStateKey(t *testing.T) {
	for _, c := range []struct {
		path     []string
		backfill uint32
		want     string
	}{
		{[]string{"public", "table"}, 0, "public%2Ftable"},
		{[]string{"public", "table"}, 1, "public%2Ftable.v1"},
		{[]string{"Größe_1-a.b+c=d"}, 0, "Größe_1-a.b+c=d"},
		{[]string{"a b", "100%", "€"}, 12, "a%20b%2F100%25%2F%E2%82%AC.v12"},
		{[]string{"bad\xff"}, 0, "bad%FF"},
	} {
		if got := StateKey(c.path, c.backfill); got != c.want {
			t.Errorf("StateKey(%q, %d) = %q, want %q", c.path, c.backfill, got, c.want)
		}
	}
}
