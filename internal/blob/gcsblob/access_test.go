package gcsblob_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/gcsblob"
	"github.com/estuary/connectors/internal/blob/gcstest"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/gcpauth"
	"github.com/estuary/connectors/protocol"
)

var private = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
})

// keyFile is the key of a service account of project p, whose tokens the service under test gives out.
func keyFile(t *testing.T, gcs *gcstest.Server) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "1", "private_key": private(), "client_email": "reader@p.iam", "token_uri": gcs.Endpoint() + "/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func byKey(t *testing.T, gcs *gcstest.Server) *gcpauth.Credentials {
	t.Helper()
	return &gcpauth.Credentials{Key: &gcpauth.Key{JSON: keyFile(t, gcs)}}
}

func TestOpen_LogsIn(t *testing.T) {
	mem, gcs := serve(t)
	gcs.Token = "secret-token"
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(keyFile(t, gcs)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	for name, c := range map[string]struct {
		given       *gcpauth.Credentials
		may, public bool
	}{
		"by a key":                    {given: byKey(t, gcs), may: true},
		"by the environment":          {given: &gcpauth.Credentials{Default: &gcpauth.Default{}}, may: true},
		"by nothing":                  {},
		"anonymously":                 {given: &gcpauth.Credentials{Anonymous: &gcpauth.Anonymous{}}},
		"by nothing, what is public":  {public: true, may: true},
		"anonymously, what is public": {given: &gcpauth.Credentials{Anonymous: &gcpauth.Anonymous{}}, public: true, may: true},
	} {
		gcs.Public = c.public
		b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint(), Credentials: c.given})
		text, _, err := read(t, b, "k", "", 0, -1)
		if may := err == nil && text == "x"; may != c.may || !may && !errors.Is(err, blob.ErrDenied) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if err = blob.Check(t.Context(), b, ""); (err == nil) != c.may {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpen_EmulatorOfTheEnvironment(t *testing.T) {
	mem, gcs := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(gcs.Endpoint(), "http://"))
	b := open(t, gcsblob.Config{Credentials: &gcpauth.Credentials{Key: &gcpauth.Key{JSON: "of no use there"}}})
	if text, _, err := read(t, b, "k", "", 0, -1); text != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestOpen_RequesterPays(t *testing.T) {
	mem, gcs := serve(t)
	gcs.BilledTo, gcs.Token = "p", "T"
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
	b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint(), Credentials: byKey(t, gcs), RequesterPays: true})
	if text, _, err := read(t, b, "k", "", 0, -1); text != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := blob.Check(t.Context(), b, ""); err != nil {
		t.Error(err)
	}
	b = open(t, gcsblob.Config{Endpoint: gcs.Endpoint(), Credentials: byKey(t, gcs)})
	if err := blob.Check(t.Context(), b, ""); protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "requesterPays") {
		t.Error(err)
	}
	if _, err := gcsblob.Open(t.Context(), gcsblob.Config{Bucket: "bucket", Endpoint: gcs.Endpoint(), RequesterPays: true}); protocol.KindOf(err) != protocol.Config {
		t.Error(err)
	}
}

func TestCheck_TellsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		config gcsblob.Config
		script gcstest.Answer
		op     gcstest.Op
		kind   protocol.Kind
		denied bool
		says   string
	}{
		"all is well":       {},
		"nobody listens":    {config: gcsblob.Config{Endpoint: "http://127.0.0.1:1"}, kind: protocol.Transient, says: "connection refused: check the network, and advanced.endpoint, which is http://127.0.0.1:1"},
		"no such host":      {config: gcsblob.Config{Endpoint: "http://nonesuch.invalid"}, kind: protocol.Transient, says: "nonesuch.invalid"},
		"no such bucket":    {config: gcsblob.Config{Bucket: "nonesuch"}, kind: protocol.Config, says: "name of the bucket"},
		"may not be listed": {script: gcstest.Answer{Status: 403}, op: gcstest.List, kind: protocol.Config, denied: true, says: "give credentials, or let everybody have storage.objects.list"},
		"may not be read":   {script: gcstest.Answer{Status: 403}, op: gcstest.Head, kind: protocol.Config, denied: true, says: "give credentials, or let everybody have storage.objects.get"},
		"overloaded":        {script: gcstest.Answer{Status: 503}, op: gcstest.List, kind: protocol.Transient, says: "listing gs://bucket/p/: the service answered 503"},
	} {
		_, gcs := serve(t)
		gcs.Script = func(r gcstest.Request) gcstest.Answer {
			if r.Op == c.op {
				return c.script
			}
			return gcstest.Answer{}
		}
		if c.config.Endpoint == "" {
			c.config.Endpoint = gcs.Endpoint() + "/"
		}
		c.config.Attempts = 2
		err := blob.Check(t.Context(), open(t, c.config), "p/")
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || protocol.KindOf(err) != c.kind) || errors.Is(err, blob.ErrDenied) != c.denied {
			t.Errorf("%s: kind %v: %v", name, protocol.KindOf(err), err)
		}
	}
	for _, bucket := range []string{"", "bucket/prefix"} {
		if _, err := gcsblob.Open(t.Context(), gcsblob.Config{Bucket: bucket}); protocol.KindOf(err) != protocol.Config {
			t.Errorf("%q: %v", bucket, err)
		}
	}
	_, gcs := serve(t)
	gcs.NoTokens = true
	_, err := gcsblob.Open(t.Context(), gcsblob.Config{Bucket: "bucket", Credentials: byKey(t, gcs)})
	if protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "Invalid JWT Signature") {
		t.Errorf("a key that was revoked: %v", err)
	}
}
