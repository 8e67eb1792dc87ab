package gcpauth_test

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/gcpauth"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

func TestFromJSON(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "null": "", `""`: "", " null ": "",
		`{"type":"service_account"}`:               `{"type":"service_account"}`,
		` {"a": 1} `:                               `{"a": 1}`,
		`"{\"type\":\"service_account\",\"k\":1}"`: `{"type":"service_account","k":1}`,
	} {
		c, err := gcpauth.FromJSON([]byte(in))
		if err != nil || (c == nil) != (want == "") || c != nil && c.Key.JSON != want {
			t.Errorf("%s: %+v, %v", in, c, err)
		}
	}
	for _, in := range []string{`"a key"`, `7`, `["hush"]`, `true`, `"`} {
		if c, err := gcpauth.FromJSON([]byte(in)); protocol.KindOf(err) != protocol.Config || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %+v, %v", in, c, err)
		}
	}
}

func TestLoad_TellsWhatCannotWork(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nonesuch/key.json")
	for name, c := range map[string]*gcpauth.Credentials{
		"no JSON":             {Key: &gcpauth.Key{JSON: "hush"}},
		"no type":             {Key: &gcpauth.Key{JSON: `{"private_key":"hush"}`}},
		"no private key":      {Key: &gcpauth.Key{JSON: `{"type":"service_account","private_key":"hush"}`}},
		"a program to run":    {Key: &gcpauth.Key{JSON: `{"type":"external_account","credential_source":{"executable":{"command":"hush"}}}`}},
		"no file as promised": {Default: &gcpauth.Default{}},
	} {
		if got, err := gcpauth.Load(t.Context(), c, "scope"); protocol.KindOf(err) != protocol.Config || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "external_account") != (name == "a program to run") ||
			strings.HasPrefix(name, "no ") && c.Key != nil && !strings.Contains(err.Error(), "are no key of a service account") {
			t.Errorf("%s: %v, %v", name, got, err)
		} else if strings.HasPrefix(name, "no type") && !strings.Contains(err.Error(), "no key of a service account") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []*gcpauth.Credentials{nil, {}, {Anonymous: &gcpauth.Anonymous{}}} {
		if got, err := gcpauth.Load(t.Context(), c, "scope"); got != nil || err != nil {
			t.Errorf("anonymous: %v, %v", got, err)
		}
	}
}

func TestCredentials_AreAChoice(t *testing.T) {
	type whole struct {
		Credentials *gcpauth.Credentials `json:"credentials" title:"Authentication" doc:"How to log in." oneof:"auth_type"`
	}
	for in, chosen := range map[string]func(*gcpauth.Credentials) bool{
		`{"credentials":{"auth_type":"CredentialsJSON","credentials_json":"{}"}}`:    func(c *gcpauth.Credentials) bool { return c.Key.JSON == "{}" },
		`{"credentials":{"auth_type":"CredentialsJSON","credentials_json":{"a":1}}}`: func(c *gcpauth.Credentials) bool { return c.Key.JSON == `{"a":1}` },
		`{"credentials":{"auth_type":"ApplicationDefault"}}`:                         func(c *gcpauth.Credentials) bool { return c.Default != nil },
		`{"credentials":{"auth_type":"Anonymous"}}`:                                  func(c *gcpauth.Credentials) bool { return c.Anonymous != nil },
		`{}`: func(c *gcpauth.Credentials) bool { return c == nil },
	} {
		c, err := config.Decode[whole]([]byte(in))
		if err != nil || !chosen(c.Credentials) {
			t.Errorf("%s: %+v, %v", in, c.Credentials, err)
		}
	}
}
