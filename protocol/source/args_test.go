package source

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseArguments(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		argv string
		want arguments
	}{
		{"", arguments{}},
		{"spec", arguments{command: "spec"}},
		{"validate --config c", arguments{command: "check", Config: text("c")}},
		{"read --config c --catalog=d --state e", arguments{command: "read", Config: text("c"), Catalog: text("d"), State: text("e")}},
		{"read --config= --streams a,b* --tail", arguments{command: "read", Config: text(""), Streams: text("a,b*"), Tail: true}},
		{"discover --configured --config c", arguments{command: "discover", Configured: true, Config: text("c")}},
		{"read --debug --log.level=warn --range 00-ff -x --config c", arguments{
			command: "read", Debug: true, Config: text("c"), ignored: []string{"--log.level=warn", "--range", "00-ff", "-x"},
		}},
		{"read --debug=true --tail=false --config c", arguments{command: "read", Debug: true, Config: text("c")}},
		{"--help", arguments{Help: true}},
		{"-h", arguments{Help: true}},
		{"--version", arguments{Version: true}},
		{"--log.level=debug", arguments{ignored: []string{"--log.level=debug"}}},
	} {
		got, err := parseArguments(strings.Fields(c.argv))
		if len(got.ignored) == 0 {
			got.ignored = nil
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v, %v, want %+v", c.argv, got, err, c.want)
		}
	}
}

func TestParseArguments_FlagWithoutItsValue(t *testing.T) {
	_, err := parseArguments([]string{"read", "--config"})
	if err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v, want a sentence that names --config", err)
	}
}
