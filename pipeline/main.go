// Command pipeline copies from a source into a sink, without any platform.
package main

import (
	"os"

	"github.com/estuary/connectors/internal/command"
)

var version = "dev" // set when a release is built

func main() {
	p := command.OS()
	exit := p.Exit
	p.Exit = func(code int) { // of a second signal, or when the next checkpoint is too far away
		leaving.run()
		exit(code)
	}
	go p.Watch()
	os.Exit(run(p))
}
