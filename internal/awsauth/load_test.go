package awsauth_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

// environment is that of a machine on which nothing is set up.
func environment(t *testing.T) {
	t.Helper()
	nowhere := filepath.Join(t.TempDir(), "nothing")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_CA_BUNDLE": "",
		"AWS_CONFIG_FILE": nowhere, "AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
	} {
		t.Setenv(name, value)
	}
}

var byKey = &awsauth.Credentials{AccessKey: &awsauth.AccessKey{ID: "AK", Secret: "SK"}}

func TestLoad_MeansTheSameOnEveryMachine(t *testing.T) {
	environment(t)
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[default]\nregion = eu-west-1\naws_access_key_id = XX\naws_secret_access_key = XX\n[broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, machine := range []map[string]string{
		{},
		{"AWS_ACCESS_KEY_ID": "XX", "AWS_SECRET_ACCESS_KEY": "XX", "AWS_SESSION_TOKEN": "XX", "AWS_REGION": "eu-west-1"},
		{"AWS_PROFILE": "nonesuch"},
		{"AWS_CONFIG_FILE": file, "AWS_SHARED_CREDENTIALS_FILE": file},
	} {
		for name, value := range machine {
			t.Setenv(name, value)
		}
		for _, region := range []string{"", "ap-south-1"} {
			want := region
			if want == "" {
				want = "us-east-1"
			}
			c, err := awsauth.Load(t.Context(), byKey, region)
			if err != nil || c.Region != want {
				t.Fatalf("%v: region %q, %v", machine, c.Region, err)
			}
			if got, err := c.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "AK" || got.SecretAccessKey != "SK" || got.SessionToken != "" {
				t.Errorf("%v: %v, %v", machine, got.AccessKeyID, err)
			}
			for _, anonymous := range []*awsauth.Credentials{nil, {}, {Anonymous: &awsauth.Anonymous{}}} {
				c, err := awsauth.Load(t.Context(), anonymous, region)
				if err != nil || c.Region != want || !aws.IsCredentialsProvider(c.Credentials, aws.AnonymousCredentials{}) {
					t.Errorf("%v: anonymous: region %q, %T, %v", machine, c.Region, c.Credentials, err)
				}
			}
		}
	}
}

func TestLoad_TakesWhatTheEnvironmentOffers(t *testing.T) {
	environment(t)
	byDefault := &awsauth.Credentials{Default: &awsauth.Default{}}
	for _, c := range []*awsauth.Credentials{byDefault, {Role: &awsauth.Role{ARN: "arn:aws:iam::1:role/reader"}}} {
		if _, err := awsauth.Load(t.Context(), c, ""); protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "offers no AWS credentials: set AWS_ACCESS_KEY_ID") {
			t.Errorf("nothing is there: %v", err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "EK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "ES")
	t.Setenv("AWS_SESSION_TOKEN", "ET")
	t.Setenv("AWS_REGION", "eu-west-1")
	c, err := awsauth.Load(t.Context(), byDefault, "")
	if err != nil || c.Region != "eu-west-1" {
		t.Fatalf("region %q, %v", c.Region, err)
	}
	if got, err := c.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "EK" || got.SessionToken != "ET" {
		t.Errorf("%q, %v", got.AccessKeyID, err)
	}
	if c, err = awsauth.Load(t.Context(), byDefault, "ap-south-1"); err != nil || c.Region != "ap-south-1" {
		t.Errorf("region %q, %v", c.Region, err)
	}
}

// tokens is STS: it lets reader be assumed with one external ID.
func tokens(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked := url.Values{"Action": {"AssumeRole"}, "RoleArn": {"arn:aws:iam::1:role/reader"}, "ExternalId": {"friend"}}
	for name := range asked {
		if r.Form.Get(name) != asked.Get(name) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized: %s</Message></Error></ErrorResponse>`, name)
			return
		}
	}
	if !strings.Contains(r.Header.Get("Authorization"), "Credential=EK/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>RK</AccessKeyId>`+
		`<SecretAccessKey>RS</SecretAccessKey><SessionToken>RT</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
}

func TestLoad_AssumesARole(t *testing.T) {
	environment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "EK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "ES")
	sts := httptest.NewServer(http.HandlerFunc(tokens))
	defer sts.Close()
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	role := func(arn, external string) *awsauth.Credentials {
		return &awsauth.Credentials{Role: &awsauth.Role{ARN: arn, ExternalID: external}}
	}
	c, err := awsauth.Load(t.Context(), role("arn:aws:iam::1:role/reader", "friend"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Credentials.Retrieve(t.Context()); err != nil || got.AccessKeyID != "RK" || got.SecretAccessKey != "RS" || got.SessionToken != "RT" {
		t.Errorf("%q, %v", got.AccessKeyID, err)
	}
	for _, wrong := range []*awsauth.Credentials{role("arn:aws:iam::1:role/reader", "stranger"), role("arn:aws:iam::1:role/reader", ""), role("arn:aws:iam::1:role/other", "friend")} {
		if _, err = awsauth.Load(t.Context(), wrong, ""); protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), wrong.Role.ARN) || !strings.Contains(err.Error(), "trust policy") {
			t.Errorf("%+v: %v", wrong.Role, err)
		}
	}
}

// A proxy that signs for everybody is how many networks look from inside.
func TestLoad_TakesACertificateBundle(t *testing.T) {
	environment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "EK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "ES")
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if accepted := r.Header.Get("Accept-Encoding"); accepted != "" {
			t.Errorf("what comes in %q is decompressed", accepted)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	good, empty := filepath.Join(dir, "good.pem"), filepath.Join(dir, "empty.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := errors.Join(os.WriteFile(good, certificate, 0o600), os.WriteFile(empty, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*awsauth.Credentials{nil, byKey, {Default: &awsauth.Default{}}} {
		for _, bundle := range []string{filepath.Join(dir, "nonesuch.pem"), empty} {
			t.Setenv("AWS_CA_BUNDLE", bundle)
			if _, err := awsauth.Load(t.Context(), c, ""); protocol.KindOf(err) != protocol.Config {
				t.Errorf("%s: %v", bundle, err)
			}
		}
		for bundle, trusted := range map[string]bool{good: true, "": false} {
			t.Setenv("AWS_CA_BUNDLE", bundle)
			loaded, err := awsauth.Load(t.Context(), c, "")
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := loaded.HTTPClient.Do(r)
			if err == nil {
				answer.Body.Close()
			}
			if (err == nil) != trusted {
				t.Errorf("%+v, bundle %q: %v", c, bundle, err)
			}
		}
	}
}

func TestCredentials_AreAChoice(t *testing.T) {
	type whole struct {
		Credentials *awsauth.Credentials `json:"credentials" title:"Authentication" doc:"How to log in." oneof:"auth_type"`
	}
	for in, chosen := range map[string]func(*awsauth.Credentials) bool{
		`{"credentials":{"auth_type":"AWSAccessKey","awsAccessKeyId":"AK","awsSecretAccessKey":"SK"}}`: func(c *awsauth.Credentials) bool { return *c.AccessKey == *byKey.AccessKey },
		`{"credentials":{"auth_type":"AWSIAM","roleArn":"arn:aws:iam::1:role/r","externalId":"x"}}`: func(c *awsauth.Credentials) bool {
			return *c.Role == awsauth.Role{ARN: "arn:aws:iam::1:role/r", ExternalID: "x"}
		},
		`{"credentials":{"auth_type":"AWSIAM","roleArn":"arn:aws:iam::1:role/r"}}`: func(c *awsauth.Credentials) bool { return c.Role != nil },
		`{"credentials":{"auth_type":"AWSDefault"}}`:                               func(c *awsauth.Credentials) bool { return c.Default != nil },
		`{"credentials":{"auth_type":"AWSAnonymous"}}`:                             func(c *awsauth.Credentials) bool { return c.Anonymous != nil },
		`{}`: func(c *awsauth.Credentials) bool { return c == nil },
	} {
		c, err := config.Decode[whole]([]byte(in))
		if err != nil || !chosen(c.Credentials) {
			t.Errorf("%s: %+v, %v", in, c.Credentials, err)
		}
	}
	if _, err := config.Decode[whole]([]byte(`{"credentials":{"auth_type":"AWSAccessKey","awsAccessKeyId":"AK"}}`)); err == nil {
		t.Error("a key without its secret was taken")
	}
}
