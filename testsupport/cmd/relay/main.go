// Command relay stands between a pipeline and a connector and kills when a plan says so; see package relay.
package main

import (
	"fmt"
	"os"

	"github.com/estuary/connectors/testsupport/relay"
)

func main() {
	exit, err := relay.Run(os.Args[0], os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
	}
	os.Exit(exit)
}
