// Command source-postgres captures PostgreSQL tables: their rows, and every change to them.
package main

import "github.com/estuary/connectors/protocol/source"

var version = "dev" // set when a release is built

func main() {
	source.Main(source.Connector[config, resource]{
		Name: "source-postgres", Title: "PostgreSQL", Version: version,
		DocsURL:      "https://github.com/estuary/connectors/tree/main/source-postgres",
		ResourcePath: []string{"/namespace", "/stream"},
		MemoryBytes:  memoryBytes,
		Cores:        1, // what reads the log and what prints it hand over to each other all the time
		New:          newSource,
	})
}
