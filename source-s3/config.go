package main

import (
	"errors"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/protocol"
)

// config is the connector's configuration.
type config struct {
	filesource.Place
	Region      string              `json:"region,omitempty" title:"Region" doc:"Region of the bucket. Unless given: us-east-1 with an endpoint, else where the bucket says it is."`
	Credentials awsauth.Credentials `json:"credentials,omitempty" title:"Credentials" doc:"How to log in; unless given: anonymously, for public buckets." oneof:"auth_type"`
	filesource.Reading

	// The places of earlier configurations.
	AccessKeyID     string `json:"awsAccessKeyId,omitempty" title:"Access key ID" doc:"Older place of credentials.awsAccessKeyId." hidden:"true"`
	SecretAccessKey string `json:"awsSecretAccessKey,omitempty" title:"Secret access key" doc:"Older place of credentials.awsSecretAccessKey." secret:"true" hidden:"true"`
}

// Validate looks at what the schema of the configuration cannot say. It touches no network.
func (c *config) Validate() error {
	_, err := filesource.NewSettings(c.Place, c.Reading)
	flat := c.AccessKeyID != "" || c.SecretAccessKey != ""
	problem := func(summary, fix string) error {
		return errors.Join(err, &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix})
	}
	switch {
	case flat && c.Credentials != awsauth.Credentials{}:
		return problem("credentials are given twice: as credentials, and as awsAccessKeyId and awsSecretAccessKey", "remove the latter")
	case flat && (c.AccessKeyID == "" || c.SecretAccessKey == ""):
		return problem("of awsAccessKeyId and awsSecretAccessKey only one is given", "give both, or none for a public bucket")
	}
	return err
}

// login is the way to log in, from either place; none is anonymous.
func (c *config) login() *awsauth.Credentials {
	if c.AccessKeyID != "" {
		return &awsauth.Credentials{AccessKey: &awsauth.AccessKey{ID: c.AccessKeyID, Secret: c.SecretAccessKey}}
	}
	return &c.Credentials
}
