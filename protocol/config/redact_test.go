package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol/config"
)

func TestSecrets_FindsEveryOneInEverySpelling(t *testing.T) {
	key := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END KEY-----\n"
	c := server{
		Address: "db", User: "me", Password: `p@ss "w`,
		Credentials: &credentials{UserPassword: &userPassword{Password: "x"}},
		Tunnel:      &tunnel{SSH: &forwarding{Endpoint: "ssh://u@h", PrivateKey: key}},
		Headers:     []header{{"name", "v1"}, {"name", ""}},
	}
	for _, given := range []any{c, &c} {
		got := config.Secrets(given)
		for _, want := range []string{
			`p@ss "w`, `p@ss \"w`, `p%40ss+%22w`, `p%40ss%20%22w`, "x", "v1", key, strings.ReplaceAll(key, "\n", `\n`), "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
		} {
			if !slices.Contains(got, want) {
				t.Errorf("%q is missing in %q", want, got)
			}
		}
		for _, no := range []string{"", "short", "db", "me", "name", "ssh://u@h", "-----BEGIN KEY-----"} {
			if slices.Contains(got, no) {
				t.Errorf("%q is no secret", no)
			}
		}
		if !slices.IsSortedFunc(got, func(a, b string) int { return len(b) - len(a) }) {
			t.Errorf("not sorted by length: %q", got)
		}
	}
	if got := config.Secrets((*server)(nil)); got != nil {
		t.Errorf("of nil: %q", got)
	}
	if got := config.Secrets(server{}); got != nil {
		t.Errorf("of an empty config: %q", got)
	}
}

func TestRedact(t *testing.T) {
	for _, c := range []struct{ name, message, secret, want string }{
		{"long, anywhere", "xhunter2x", "hunter2", "x***x"},
		{"short, alone", "password a: a, 'a'", "a", "password ***: ***, '***'"},
		{"short, inside words", "a failed attempt at aa", "a", "*** failed attempt at aa"},
		{"at both ends", "pw and pw", "pw", "*** and ***"},
		{"none", "nothing", "", "nothing"},
		{"beside an umlaut", "äpw pwä pw", "pw", "äpw pwä ***"},
	} {
		if got := config.Redact(c.message, []string{c.secret}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
