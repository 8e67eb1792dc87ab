package command

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// arguments are the flags of a main in these tests.
type arguments struct {
	Config  *string `long:"config"`
	Catalog *string `long:"catalog"`
	State   *string `long:"state"`
	Streams *string `long:"streams"`
	Tail    bool    `long:"tail"`
	Flags
}

func TestParse(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		argv, name string
		want       arguments
		ignored    string
	}{
		{argv: ""},
		{argv: "spec", name: "spec"},
		{argv: "validate --config c", name: "check", want: arguments{Config: text("c")}},
		{argv: "read --config c --catalog=d --state e", name: "read", want: arguments{Config: text("c"), Catalog: text("d"), State: text("e")}},
		{argv: "read --config= --streams a,b* --tail", name: "read", want: arguments{Config: text(""), Streams: text("a,b*"), Tail: true}},
		{
			argv: "read --debug --log.level=warn --range 00-ff -x --config c", name: "read",
			want: arguments{Flags: Flags{Debug: true}, Config: text("c")}, ignored: "--log.level=warn --range 00-ff -x",
		},
		{argv: "read --debug=true --tail=false --config c", name: "read", want: arguments{Flags: Flags{Debug: true}, Config: text("c")}},
		{argv: "read --tail=maybe", name: "read", ignored: "--tail=maybe"},
		{argv: "--help", want: arguments{Flags: Flags{Help: true}}},
		{argv: "-h", want: arguments{Flags: Flags{Help: true}}},
		{argv: "--version", want: arguments{Flags: Flags{Version: true}}},
		{argv: "--log.level=debug", ignored: "--log.level=debug"},
	} {
		var got arguments
		name, ignored, err := Parse(strings.Fields(c.argv), &got)
		if err != nil || name != c.name || !reflect.DeepEqual(got, c.want) || !slices.Equal(ignored, strings.Fields(c.ignored)) {
			t.Errorf("%q: got %q, %+v, %q, %v, want %q, %+v, %q", c.argv, name, got, ignored, err, c.name, c.want, c.ignored)
		}
	}
}

func TestParse_FlagWithoutItsValue(t *testing.T) {
	_, _, err := Parse([]string{"read", "--config"}, &arguments{})
	if err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v, want a sentence that names --config", err)
	}
}

// Runners add flags of their own, so only what is nearly one of ours is taken for a slip.
func TestMeant(t *testing.T) {
	all, _ := flagNames(&arguments{})
	for arg, want := range map[string]string{
		"--confg": "--config", "--stream=a": "--streams", "--tial": "", "--tails": "--tail", "--states": "--state", "--log.level=warn": "", "--range": "", "c.json": "", "-x": "",
	} {
		if got := meant(arg, all); got != want {
			t.Errorf("%s: got %q, want %q", arg, got, want)
		}
	}
}
