// Command parser reads a file of any format from stdin and writes its documents to stdout, one JSON object a line.
package main

import (
	"os"

	"github.com/estuary/connectors/internal/widepipe"
)

var version = "dev" // set when a release is built

func main() {
	widepipe.Widen(os.Stdin)
	widepipe.Widen(os.Stdout)
	os.Exit(run(process{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}))
}
