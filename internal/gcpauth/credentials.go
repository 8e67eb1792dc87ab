package gcpauth

import (
	"bytes"
	"encoding/json"

	"github.com/estuary/connectors/protocol"
)

// Credentials is the choice of a way to log in. A nil *Credentials, and none chosen, is anonymous.
type Credentials struct {
	Key       *Key       `json:"CredentialsJSON" title:"Service account" doc:"By the key of a service account."`
	Default   *Default   `json:"ApplicationDefault" title:"Environment" doc:"By what the environment offers: GOOGLE_APPLICATION_CREDENTIALS, gcloud's login, or the machine's service account."`
	Anonymous *Anonymous `json:"Anonymous" title:"Anonymous" doc:"Without credentials, for what is public."`
}

// Key is a key file's content.
type Key struct {
	JSON string `json:"credentials_json" title:"Key" doc:"JSON of the key, as Google Cloud gives it out: a text, or the object itself." secret:"true" multiline:"true" object:"true"`
}

// Default is the client library's own search.
type Default struct{}

// Anonymous sends requests without a token.
type Anonymous struct{}

// FromJSON reads a key given as a JSON object, or as a string that holds one. Nothing, null and "" are anonymous.
func FromJSON(raw json.RawMessage) (*Credentials, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, noKey(err)
		}
		if text == "" {
			return nil, nil
		}
	}
	if text[0] != '{' {
		return nil, noKey(nil)
	}
	return &Credentials{Key: &Key{JSON: text}}, nil
}

// noKey must not show what was given: a part of it may be the secret.
func noKey(err error) error {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: "the Google Cloud credentials are no key of a service account", Fix: "paste the JSON object that Google Cloud gave out, whole", Err: err,
	}
}
