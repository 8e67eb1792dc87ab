package source

import (
	"strings"

	"github.com/jessevdk/go-flags"
)

// arguments is the command line. A flag that takes a value is nil when it was not given.
type arguments struct {
	command string

	Config     *string `long:"config"`
	Catalog    *string `long:"catalog"`
	State      *string `long:"state"`
	Streams    *string `long:"streams"`
	Tail       bool    `long:"tail"`
	Configured bool    `long:"configured"`
	Debug      bool    `long:"debug"`
	Help       bool    `long:"help" short:"h"`
	Version    bool    `long:"version"`

	ignored []string // what nobody knows: runners add flags of their own
}

// parseArguments reads argv without the program's name. Flags are written --flag v or --flag=v; unknown ones are ignored.
func parseArguments(argv []string) (arguments, error) {
	var a arguments
	if len(argv) > 0 && !strings.HasPrefix(argv[0], "-") {
		a.command, argv = argv[0], argv[1:]
		if a.command == "validate" {
			a.command = "check"
		}
	}
	known, unknown := splitFlags(argv)
	parser := flags.NewParser(&a, flags.IgnoreUnknown)
	rest, err := parser.ParseArgs(known)
	if err != nil {
		return arguments{}, problem("the command line cannot be used", err.Error()+"; see --help")
	}
	a.ignored = append(unknown, rest...)
	return a, nil
}

// meant returns the flag that an unknown argument is probably a slip of; empty: none. Runners add flags of their own, so only near misses count.
func meant(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	typed, ok := strings.CutPrefix(name, "--")
	if !ok {
		return ""
	}
	for _, flag := range []string{"config", "catalog", "state", "streams", "tail", "configured", "debug"} {
		if editDistance(typed, flag) <= len(flag)/3 {
			return "--" + flag
		}
	}
	return ""
}

// switches take no value. Some launchers write --debug=true all the same.
var switches = []string{"tail", "configured", "debug", "help", "version"}

// splitFlags sets aside what the parser must not see: a value given to a switch is dropped, and false leaves the switch out.
func splitFlags(argv []string) (known, unknown []string) {
	for _, arg := range argv {
		name, value, assigned := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !assigned || !strings.HasPrefix(arg, "--") || !isSwitch(name) {
			known = append(known, arg)
			continue
		}
		switch value {
		case "false", "0":
		case "true", "1", "":
			known = append(known, "--"+name)
		default:
			unknown = append(unknown, arg)
		}
	}
	return known, unknown
}

func isSwitch(name string) bool {
	for _, s := range switches {
		if s == name {
			return true
		}
	}
	return false
}
