package source

import "github.com/estuary/connectors/internal/command"

// arguments is the command line. A flag that takes a value is nil when it was not given.
type arguments struct {
	Config     *string `long:"config"`
	Catalog    *string `long:"catalog"`
	State      *string `long:"state"`
	Streams    *string `long:"streams"`
	Tail       bool    `long:"tail"`
	Configured bool    `long:"configured"`
	command.Flags
}
