package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"testing"

	"github.com/estuary/connectors/internal/blob/gcstest"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/servetest"
	"github.com/estuary/connectors/internal/filesource/filesourcetest"
	"github.com/estuary/connectors/protocol/protocoltest"
)

const secret = "not-to-be-printed"

func login(key string) string {
	return fmt.Sprintf(`"credentials":{"auth_type":"CredentialsJSON","credentials_json":%q}`, key)
}

// TestConformance drives the built binary as its runners do, over a local directory, and over a service with all that a service does.
func TestConformance(t *testing.T) {
	config := func(bucket, endpoint string) json.RawMessage {
		return fmt.Appendf(nil, `{"bucket":%q,%s,"advanced":{"endpoint":%q,"pollInterval":"1s"}}`, bucket, login(secret), endpoint)
	}
	connector := filesourcetest.Connector{
		Binary: filesourcetest.Build(t, "source-gcs"), Config: config, Secret: secret,
		// bug streams-files-parser 128: predecessor: check succeeded where nobody listens
		Unreachable: json.RawMessage(`{"bucket":"trips","advanced":{"endpoint":"http://127.0.0.1:1"}}`),
	}
	protocoltest.Source(t, func(tb testing.TB) *protocoltest.Fixture { return filesourcetest.Fixture(tb, connector) })
	private := privateKey(t)
	filesourcetest.Service(t, filesourcetest.Store{
		Binary: connector.Binary, Serve: serve, Secrets: []string{private[40:80], token, secret},
		Login:   func(endpoint string) string { return login(key(endpoint, private)) },
		Machine: []string{"GOOGLE_APPLICATION_CREDENTIALS=/nonesuch/key.json", "STORAGE_EMULATOR_HOST="},
		Wrong: []filesourcetest.Wrong{
			{Name: "a key that was withdrawn", Access: filesourcetest.Access{Refuses: true}, Cure: "Invalid JWT Signature (invalid_grant): check that the key still exists"},
			{Name: "no key", Login: login(secret), Cure: "paste the JSON"},
			{Name: "a key without its private part", Login: login(`{"type":"service_account","token_uri":"ENDPOINT/token"}`), Cure: "paste the JSON"},
			{Name: "older place", Login: `"googleCredentials":"{\"type\":\"service_account\"}"`, Cure: "paste the JSON"},
		},
		NoClass: "ARCHIVE",
	})
}

const token = "token-of-the-service"

func serve(memory *memblob.Bucket, a filesourcetest.Access) *servetest.Server {
	gcs := gcstest.Start(memory)
	gcs.Token, gcs.Public, gcs.NoTokens = token, a.Public, a.Refuses
	if a.Pays {
		gcs.BilledTo = "payer"
	}
	return &gcs.Server
}

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// key is that of a service account whose tokens the service gives out.
func key(endpoint, private string) string {
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "payer", "private_key_id": "1", "private_key": private, "client_email": "reader@payer.iam", "token_uri": endpoint + "/token",
	})
	if err != nil {
		panic(err) // strings have a JSON form
	}
	return string(text)
}
