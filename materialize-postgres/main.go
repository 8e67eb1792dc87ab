// Command materialize-postgres keeps tables of a PostgreSQL database up to date with collections of documents.
package main

import "github.com/estuary/connectors/protocol/materialize"

var version = "dev" // set when a release is built

func main() {
	materialize.Main(materialize.Connector[config, resource]{
		Name: "materialize-postgres", Title: "PostgreSQL", Version: version,
		DocsURL:     "https://github.com/estuary/connectors/tree/main/materialize-postgres",
		MemoryBytes: memoryBytes,
		New:         newSink,
	})
}
