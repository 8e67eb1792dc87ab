// Command parser reads a file of any format from stdin and writes its documents to stdout, one JSON object a line.
package main

import (
	"os"
	"runtime/debug"

	"github.com/estuary/connectors/internal/widepipe"
)

var version = "dev" // set when a release is built

// memoryBytes is what the buffers of the largest row and its document, of the widest windows of codecs and of pages take together.
const memoryBytes = 448 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryBytes * 85 / 100)
	}
	widepipe.Widen(os.Stdin)
	widepipe.Widen(os.Stdout)
	os.Exit(run(process{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}))
}
