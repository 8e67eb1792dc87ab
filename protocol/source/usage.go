package source

import (
	"fmt"
	"io"
	"strings"

	"github.com/estuary/connectors/internal/command"
)

func (c connector) usage(w io.Writer) {
	same := strings.Repeat(" ", len(c.name))
	fmt.Fprintf(w, "%s captures data from %s and prints it as JSON, one message a line.\n\n", c.name, c.title)
	command.Usage(w, [][2]string{
		{c.name + " spec", "print the schema of the config"},
		{c.name + " check --config FILE", "look for everything that would stop a read"},
		{same + "   [--catalog FILE | --streams GLOBS]", "... of these streams"},
		{c.name + " discover --config FILE", "list the streams"},
		{same + "   [--configured [--streams GLOBS]]", "... as a catalog for read"},
		{c.name + " read --config FILE --catalog FILE", "read until caught up"},
		{c.name + " read --config FILE --streams GLOBS", "the same without a catalog"},
		{same + "   [--state FILE]", "go on from the STATE messages of an earlier run"},
		{same + "   [--tail]", "go on after catching up (with --streams)"},
		{c.name, "speak the Flow capture protocol: requests on stdin, one JSON object a line"},
	}, "GLOBS are comma-separated names with * and ?, matched against namespace.name and name: --streams 'public.*,orders'.", c.docs)
}
