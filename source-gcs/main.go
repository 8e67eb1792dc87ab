// Command source-gcs captures the files in a bucket of Google Cloud Storage, or in a local directory.
package main

import (
	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/protocol/source"
)

var version = "dev" // set when a release is built

func main() {
	source.Main(source.Connector[config, filesource.Resource]{
		Name: "source-gcs", Title: "Google Cloud Storage", Version: version,
		DocsURL:      "https://github.com/estuary/connectors/tree/main/source-gcs",
		ResourcePath: filesource.ResourcePath,
		MemoryBytes:  filesource.MemoryBytes,
		New:          newSource,
	})
}
