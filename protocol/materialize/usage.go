package materialize

import (
	"fmt"
	"io"
	"strings"

	"github.com/estuary/connectors/internal/command"
)

func (c connector) usage(w io.Writer) {
	fmt.Fprintf(w, "%s keeps tables in %s up to date with the documents that it is given.\n\n", c.name, c.title)
	same := strings.Repeat(" ", len(c.name))
	command.Usage(w, [][2]string{
		{c.name + " spec", "print the schema of the config"},
		{c.name + " check --config FILE", "look for everything that would stop a materialization"},
		{c.name + " write --config FILE --catalog FILE", "write the messages of an Airbyte source on stdin, print its STATEs once they are durable"},
		{same + "   [--complete-on-eof]", "... the end of stdin completes streams whose source sends no statuses"},
		{same + "   [--resumed]", "... the source starts from `state`: nothing comes twice"},
		{c.name + " state --config FILE --catalog FILE", "print where a source has to go on, for its --state; ends writes that still run"},
		{c.name, "speak the Flow materialize protocol: requests on stdin, one JSON object a line"},
	}, "", c.docs)
}
