package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3test"
	"github.com/estuary/connectors/internal/blob/servetest"
	"github.com/estuary/connectors/internal/filesource/filesourcetest"
	"github.com/estuary/connectors/protocol/protocoltest"
)

const secret = "not-to-be-printed"

func login(id, secret string) string {
	return fmt.Sprintf(`"credentials":{"auth_type":"AWSAccessKey","awsAccessKeyId":%q,"awsSecretAccessKey":%q}`, id, secret)
}

// TestConformance drives the built binary as its runners do, over a local directory, and over a service with all that a service does.
func TestConformance(t *testing.T) {
	config := func(bucket, endpoint string) json.RawMessage {
		return fmt.Appendf(nil, `{"bucket":%q,%s,"advanced":{"endpoint":%q,"pollInterval":"1s"}}`, bucket, login("AKIA0", secret), endpoint)
	}
	connector := filesourcetest.Connector{
		Binary: filesourcetest.Build(t, "source-s3"), Config: config, Secret: secret,
		// bug streams-files-parser 128: predecessor: check succeeded where nobody listens
		Unreachable: config("trips", "http://127.0.0.1:1"),
	}
	protocoltest.Source(t, func(tb testing.TB) *protocoltest.Fixture { return filesourcetest.Fixture(tb, connector) })
	filesourcetest.Service(t, filesourcetest.Store{
		Binary: connector.Binary, Serve: serve, Secrets: []string{secret, "of-the-machine"},
		Login:   func(string) string { return login("AKIA0", secret) },
		Machine: []string{"AWS_ACCESS_KEY_ID=AKIA9", "AWS_SECRET_ACCESS_KEY=of-the-machine", "AWS_EC2_METADATA_DISABLED=true"},
		Wrong: []filesourcetest.Wrong{
			{Name: "wrong secret", Login: login("AKIA0", "of-the-machine"), Cure: "check awsAccessKeyId and awsSecretAccessKey"},
			{Name: "unknown key", Login: login("AKIA1", secret), Cure: "check awsAccessKeyId and awsSecretAccessKey"},
			{Name: "the machine's", Login: `"credentials":{"auth_type":"AWSDefault"}`, Cure: "check the AWS credentials of the environment"},
			{Name: "older places", Login: fmt.Sprintf(`"awsAccessKeyId":"AKIA1","awsSecretAccessKey":%q`, secret), Cure: "check awsAccessKeyId and awsSecretAccessKey"},
		},
		Archives: true, NoClass: "GLACIER_IR",
	})
}

func serve(memory *memblob.Bucket, a filesourcetest.Access) *servetest.Server {
	memory.Versions = memblob.MD5
	s3 := s3test.Start(memory)
	s3.Secrets, s3.Public, s3.RequesterPays = map[string]string{"AKIA0": secret}, a.Public, a.Pays
	return &s3.Server
}
