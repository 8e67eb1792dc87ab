package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/estuary/connectors/internal/golden"
	configs "github.com/estuary/connectors/protocol/config"
)

// A difference here is a change of what people have stored: it needs an alias or a migration, and a line in the changelog.
func TestSpec_IsWhatWasReleased(t *testing.T) {
	for name, schema := range map[string][]byte{
		"spec.airbyte.json": configs.Schema[config](configs.Airbyte), "spec.flow.json": configs.Schema[config](configs.Flow),
		"resource.flow.json": configs.Schema[resource](configs.Flow),
	} {
		var b bytes.Buffer
		if err := json.Indent(&b, schema, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, append(b.Bytes(), '\n'))
	}
}
