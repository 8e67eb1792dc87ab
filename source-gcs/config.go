package main

import (
	"encoding/json"
	"errors"

	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/internal/gcpauth"
	"github.com/estuary/connectors/protocol"
)

// config is the connector's configuration.
type config struct {
	filesource.Place
	Credentials gcpauth.Credentials `json:"credentials,omitempty" title:"Credentials" doc:"How to log in; unless given: anonymously, for public buckets." oneof:"auth_type"`
	filesource.Reading

	// The place of earlier configurations.
	Key string `json:"googleCredentials,omitempty" title:"Key" doc:"Older place of credentials.credentials_json: a JSON object, or a text that holds one." secret:"true" object:"true" hidden:"true"`
}

// Validate looks at what the schema of the configuration cannot say. It touches no network.
func (c *config) Validate() error {
	_, err := filesource.NewSettings(c.Place, c.Reading)
	if c.Key != "" && c.Credentials != (gcpauth.Credentials{}) {
		return errors.Join(err, &protocol.Problem{Kind: protocol.Config, Summary: "credentials are given twice: as credentials, and as googleCredentials", Fix: "remove the latter"})
	}
	_, noKey := c.login()
	return errors.Join(err, noKey)
}

// login is the way to log in, from either place; none is anonymous.
func (c *config) login() (*gcpauth.Credentials, error) {
	if c.Key != "" {
		return gcpauth.FromJSON(json.RawMessage(c.Key))
	}
	return &c.Credentials, nil
}
