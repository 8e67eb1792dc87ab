// Command source-s3 captures the files in a bucket of Amazon S3, of a service that speaks its protocol, or in a local directory.
package main

import (
	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/protocol/source"
)

var version = "dev" // set when a release is built

func main() {
	source.Main(source.Connector[config, filesource.Resource]{
		Name: "source-s3", Title: "Amazon S3", Version: version,
		DocsURL:      "https://github.com/estuary/connectors/tree/main/source-s3",
		ResourcePath: filesource.ResourcePath,
		MemoryBytes:  filesource.MemoryBytes,
		New:          newSource,
	})
}
