package gcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/estuary/connectors/protocol"
)

// Load makes credentials for the scopes; nil is anonymous. Keys that name programs, files or addresses to ask (external accounts) are not taken from a
// config: the environment may offer them.
func Load(ctx context.Context, c *Credentials, scopes ...string) (*auth.Credentials, error) {
	options := &credentials.DetectOptions{Scopes: scopes}
	var made *auth.Credentials
	var err error
	switch {
	case c == nil || c.Key == nil && c.Default == nil:
		return nil, nil
	case c.Key != nil:
		var head struct{ Type credentials.CredType }
		if json.Unmarshal([]byte(c.Key.JSON), &head) != nil {
			return nil, noKey(nil)
		}
		if head.Type == "" {
			return nil, noKey(nil)
		}
		if head.Type != credentials.ServiceAccount && head.Type != credentials.AuthorizedUser {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: "Google Cloud credentials of type " + string(head.Type) + " cannot be given in a config",
				Fix: "use the key of a service account, or ApplicationDefault",
			}
		}
		if made, err = credentials.NewCredentialsFromJSON(head.Type, []byte(c.Key.JSON), options); err != nil {
			return nil, noKey(err)
		}
	default:
		if made, err = credentials.DetectDefault(options); err != nil {
			return nil, &protocol.Problem{
				Kind: protocol.Config, Summary: "the environment offers no Google Cloud credentials", Fix: "set them there, or choose another way in the config", Err: err,
			}
		}
	}
	if _, err = made.Token(ctx); err != nil {
		return nil, Problem(ctx, err)
	}
	return made, nil
}

// Problem says what it means that no token was given.
func Problem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p := &protocol.Problem{Kind: protocol.Transient, Summary: "Google Cloud gives no token: " + err.Error(), Err: err}
	refused, ok := errors.AsType[*auth.Error](err)
	if ok && refused.Response != nil && refused.Response.StatusCode < 500 && refused.Response.StatusCode != http.StatusTooManyRequests {
		p.Kind, p.Fix = protocol.Config, "check that the key still exists and its account is enabled"
	}
	return p
}
