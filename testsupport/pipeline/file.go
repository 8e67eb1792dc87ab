package pipeline

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/estuary/connectors/internal/pgtest"
)

// File is a pipeline's file.
type File struct {
	Name    string           `json:"name,omitempty"`
	Source  Side             `json:"source"`
	Sink    Side             `json:"sink"`
	Streams []map[string]any `json:"streams"`
}

// Side is a connector with its configuration.
type Side struct {
	Connector string         `json:"connector"`
	Config    map[string]any `json:"config"`
}

// Write writes the file. JSON is YAML.
func (f *File) Write(path string) error {
	raw, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the pipeline's file %s: %w", path, err)
	}
	return nil
}

// Streams makes entries of names.
func Streams(names ...string) []map[string]any {
	list := make([]map[string]any, len(names))
	for i, name := range names {
		list[i] = map[string]any{"stream": name}
	}
	return list
}

// Capture is the configuration of source-postgres for a database, by the superuser; advanced may be nil.
func Capture(c *pgtest.Cluster, database string, advanced map[string]any) map[string]any {
	return map[string]any{"address": c.Addr(), "user": pgtest.User, "password": pgtest.Password, "database": database, "advanced": advanced}
}

// Materialize is the configuration of materialize-postgres: rows of deleted documents go. address is a proxy's, or empty for the server's own.
func Materialize(c *pgtest.Cluster, address, database string) map[string]any {
	if address == "" {
		address = c.Addr()
	}
	return map[string]any{"address": address, "user": pgtest.User, "password": pgtest.Password, "database": database, "hardDelete": true}
}
