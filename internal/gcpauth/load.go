package gcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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
		if json.Unmarshal([]byte(c.Key.JSON), &head) != nil || head.Type == "" {
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
				Kind: protocol.Config, Summary: "the environment offers no Google Cloud credentials", Err: err,
				Fix: "set GOOGLE_APPLICATION_CREDENTIALS to the path of a key, log in with gcloud auth application-default login, or choose another way in the config",
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
	if ok && refused.Response != nil {
		p.Summary = "Google Cloud gives no token: " + reason(refused)
		if code := refused.Response.StatusCode; code < 500 && code != http.StatusTooManyRequests {
			p.Kind, p.Fix = protocol.Config, "check that the key still exists and its account is enabled"
		}
	}
	return p
}

// reason is what an answer says in one sentence (RFC 6749, 5.2). The library's own text has its body in it, line by line.
func reason(refused *auth.Error) string {
	var body struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(refused.Body, &body); err != nil || body.Code == "" {
		return refused.Response.Status
	}
	if body.Description == "" {
		return body.Code
	}
	return strings.TrimSuffix(body.Description, ".") + " (" + body.Code + ")"
}
