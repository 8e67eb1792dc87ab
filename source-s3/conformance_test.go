package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/estuary/connectors/internal/filesource/filesourcetest"
	"github.com/estuary/connectors/protocol/protocoltest"
)

// TestConformance drives the built binary as its runners do, over a local directory.
func TestConformance(t *testing.T) {
	const secret = "not-to-be-printed"
	config := func(bucket, endpoint string) json.RawMessage {
		return fmt.Appendf(nil, `{"bucket":%q,"credentials":{"auth_type":"AWSAccessKey","awsAccessKeyId":"AKIA0","awsSecretAccessKey":%q},"advanced":{"endpoint":%q,"pollInterval":"1s"}}`,
			bucket, secret, endpoint)
	}
	connector := filesourcetest.Connector{
		Binary: filesourcetest.Build(t, "source-s3"), Config: config, Secret: secret,
		// bug streams-files-parser 128: predecessor: check succeeded where nobody listens
		Unreachable: config("trips", "http://127.0.0.1:1"),
	}
	protocoltest.Source(t, func(tb testing.TB) *protocoltest.Fixture { return filesourcetest.Fixture(tb, connector) })
}
