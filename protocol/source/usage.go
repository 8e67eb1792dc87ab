package source

import (
	"fmt"
	"io"
)

func usage(w io.Writer, name, title, docs string) {
	fmt.Fprintf(w, `%[1]s captures data from %[2]s and prints it as JSON, one message a line.

Usage:
  %[1]s spec                                  print the schema of the config
  %[1]s check --config FILE                   look for everything that would stop a read
        [--catalog FILE | --streams GLOBS]      ... of these streams
  %[1]s discover --config FILE                list the streams
        [--configured [--streams GLOBS]]        ... as a catalog for read
  %[1]s read --config FILE --catalog FILE     read until caught up
  %[1]s read --config FILE --streams GLOBS    the same without a catalog
        [--state FILE]                          go on from the STATE messages of an earlier run
        [--tail]                                go on after catching up (with --streams)
  %[1]s                                       speak the Flow capture protocol: requests on stdin, one JSON object a line

  --debug    print more log lines (so does LOG_LEVEL=debug)
  --help, --version

GLOBS are comma-separated names with * and ?, matched against namespace.name and name: --streams 'public.*,orders'.
`, name, title)
	if docs != "" {
		fmt.Fprintf(w, "Documentation: %s\n", docs)
	}
}
