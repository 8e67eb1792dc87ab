package source

import (
	"fmt"
	"io"
	"strings"
)

func usage(w io.Writer, name, title, docs string) {
	same := strings.Repeat(" ", len(name))
	fmt.Fprintf(w, "%s captures data from %s and prints it as JSON, one message a line.\n\nUsage:\n", name, title)
	for _, line := range [][2]string{
		{name + " spec", "print the schema of the config"},
		{name + " check --config FILE", "look for everything that would stop a read"},
		{same + "   [--catalog FILE | --streams GLOBS]", "... of these streams"},
		{name + " discover --config FILE", "list the streams"},
		{same + "   [--configured [--streams GLOBS]]", "... as a catalog for read"},
		{name + " read --config FILE --catalog FILE", "read until caught up"},
		{name + " read --config FILE --streams GLOBS", "the same without a catalog"},
		{same + "   [--state FILE]", "go on from the STATE messages of an earlier run"},
		{same + "   [--tail]", "go on after catching up (with --streams)"},
		{name, "speak the Flow capture protocol: requests on stdin, one JSON object a line"},
	} {
		fmt.Fprintf(w, "  %-*s  %s\n", len(name)+len("   [--catalog FILE | --streams GLOBS]"), line[0], line[1])
	}
	fmt.Fprint(w, `
  --debug    print more log lines (so does LOG_LEVEL=debug; error, warn, info and trace are other levels)
  --help, --version

GLOBS are comma-separated names with * and ?, matched against namespace.name and name: --streams 'public.*,orders'.
`)
	if docs != "" {
		fmt.Fprintf(w, "Documentation: %s\n", docs)
	}
}
