package command

import (
	"reflect"
	"slices"
	"strings"

	"github.com/jessevdk/go-flags"
)

// Flags are those of every connector. A main embeds them in its own struct of flags, whose fields are *string (nil: not given) and bool, each with the tag
// long:"name".
type Flags struct {
	Debug   bool `long:"debug"`
	Help    bool `long:"help" short:"h"`
	Version bool `long:"version"`
}

// Parse reads argv without the program's name into flags, a pointer to such a struct. Flags are written --flag v or --flag=v. It returns the command
// (empty: none; validate is another name of check) and what nobody knows, which is to be ignored: runners add flags of their own.
func Parse(argv []string, into any) (name string, ignored []string, err error) {
	if len(argv) > 0 && !strings.HasPrefix(argv[0], "-") {
		name, argv = argv[0], argv[1:]
		if name == "validate" {
			name = "check"
		}
	}
	_, switches := flagNames(into)
	known, unknown := splitFlags(argv, switches)
	rest, err := flags.NewParser(into, flags.IgnoreUnknown).ParseArgs(known)
	if err != nil {
		return name, nil, Problem("the command line cannot be used", err.Error()+"; see --help")
	}
	return name, append(unknown, rest...), nil
}

// flagNames lists the long names of a struct of flags; switches take no value.
func flagNames(of any) (all, switches []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(of).Elem()) {
		if name := f.Tag.Get("long"); name != "" {
			all = append(all, name)
			if f.Type.Kind() == reflect.Bool {
				switches = append(switches, name)
			}
		}
	}
	return all, switches
}

// splitFlags sets aside what the parser must not see: some launchers write --debug=true all the same, so a value given to a switch is dropped, and false
// leaves the switch out.
func splitFlags(argv, switches []string) (known, unknown []string) {
	for _, arg := range argv {
		name, value, assigned := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !assigned || !strings.HasPrefix(arg, "--") || !slices.Contains(switches, name) {
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

// meant returns the flag that an unknown argument is probably a slip of; empty: none. Only near misses count.
func meant(arg string, all []string) string {
	name, _, _ := strings.Cut(arg, "=")
	typed, ok := strings.CutPrefix(name, "--")
	if !ok {
		return ""
	}
	for _, flag := range all {
		if flag != "help" && flag != "version" && Distance(typed, flag) <= len(flag)/3 {
			return "--" + flag
		}
	}
	return ""
}

// Distance counts the insertions, deletions and replacements that lead from a to b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			cost := diagonal
			if from[i] != to[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
