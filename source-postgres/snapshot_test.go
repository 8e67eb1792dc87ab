package main

import (
	"testing"

	"github.com/estuary/connectors/sqlcapture"
)

func TestSnapshot_SeesTransactionsAcrossTheWrapAround(t *testing.T) {
	cases := []struct {
		name string
		text string
		xid  uint32
		want bool
	}{
		{"before xmin", "100:105:", 99, true},
		{"between, not running", "100:105:101", 102, true},
		{"running", "100:105:101,103", 103, false},
		{"xmax itself", "100:105:", 105, false},
		{"after xmax", "100:105:", 200, false},
		{"xmax beyond the wrap, id before it", "4294967290:4294967300:", 4294967291, true},
		{"xmax beyond the wrap, running id before it", "4294967290:4294967300:4294967291", 4294967291, false},
		{"xmax beyond the wrap, id after it", "4294967290:4294967300:", 3, true},
		{"xmax before the wrap, id after it", "4294967280:4294967290:", 5, false},
		{"second epoch", "8589934600:8589934610:8589934605", 13, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseSnapshot(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.sees(sqlcapture.TxnID(c.xid)); got != c.want {
				t.Errorf("snapshot %s sees %d: got %t, want %t", c.text, c.xid, got, c.want)
			}
		})
	}
}

func TestParseSnapshot_RefusesWhatIsNone(t *testing.T) {
	for _, text := range []string{"", "1:2", "a:2:", "1:b:", "1:2:x"} {
		if _, err := parseSnapshot(text); err == nil {
			t.Errorf("parseSnapshot(%q) gave no error", text)
		}
	}
}
