package s3blob_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3blob"
	"github.com/estuary/connectors/internal/blob/s3test"
	"github.com/estuary/connectors/protocol"
)

func key(id, secret string) *awsauth.Credentials {
	return &awsauth.Credentials{AccessKey: &awsauth.AccessKey{ID: id, Secret: secret}}
}

// bug streams-files-parser 54: predecessor, public buckets were read with credentials, or not at all
// bug streams-files-parser 75: predecessor, anonymous access was lost with another version of the SDK
func TestOpen_Anonymous(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "of the machine")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the machine")
	for name, c := range map[string]*awsauth.Credentials{"none": nil, "nothing chosen": {}, "anonymous": {Anonymous: &awsauth.Anonymous{}}} {
		mem, s3 := serve(t)
		s3.Secrets, s3.Public = map[string]string{"AK": "SK"}, true
		mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
		b := open(t, s3blob.Config{Endpoint: s3.Endpoint(), Credentials: c})
		if text, _, err := read(t, b, "k", ""); text != "x" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if err := blob.Check(t.Context(), b, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s3.Public = false
		if err := blob.Check(t.Context(), b, ""); !errors.Is(err, blob.ErrDenied) {
			t.Errorf("%s, of a private bucket: %v", name, err)
		}
	}
}

func TestOpen_Signed(t *testing.T) {
	mem, s3 := serve(t)
	s3.Secrets = map[string]string{"AK": "SK"}
	odd := "dir//x/../ü +%20?.csv"
	mem.Put(memblob.Entry{Key: odd, Data: []byte("x")})
	b := open(t, s3blob.Config{Endpoint: s3.Endpoint(), Credentials: key("AK", "SK")})
	if text, _, err := read(t, b, odd, ""); text != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if found, err := list(t, b, "dir//", ""); len(found) != 1 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// bug streams-files-parser 127: predecessor, an endpoint without a region failed, and was addressed by the bucket's name
// bug streams-files-parser 128: predecessor, check succeeded at an endpoint that nobody listens on
func TestCheck_TellsWhatIsWrong(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	closed.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "AK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SK")
	t.Setenv("AWS_REGION", "eu-west-1")
	for name, c := range map[string]struct {
		config s3blob.Config
		script s3test.Answer
		op     s3test.Op
		kind   protocol.Kind
		denied bool
		says   string
	}{
		"all is well":        {config: s3blob.Config{Credentials: key("AK", "SK")}},
		"by a host's name":   {config: s3blob.Config{Credentials: key("AK", "SK"), Endpoint: "localhost"}},
		"of the machine":     {config: s3blob.Config{Credentials: &awsauth.Credentials{Default: &awsauth.Default{}}}}, // in another region
		"its region":         {config: s3blob.Config{Credentials: key("AK", "SK"), Region: "us-east-1"}},
		"nobody listens":     {config: s3blob.Config{Endpoint: nobody}, kind: protocol.Transient, says: "connection refused: check the network, and advanced.endpoint, which is " + nobody},
		"no such host":       {config: s3blob.Config{Endpoint: "http://nonesuch.invalid"}, kind: protocol.Transient, says: "nonesuch.invalid"},
		"no such key":        {config: s3blob.Config{Credentials: key("XX", "SK")}, kind: protocol.Config, says: "awsAccessKeyId"},
		"wrong secret":       {config: s3blob.Config{Credentials: key("AK", "XX")}, kind: protocol.Config, says: "awsSecretAccessKey"},
		"not signed":         {kind: protocol.Config, denied: true, says: "the bucket is not public: give credentials that have s3:ListBucket on arn:aws:s3:::bucket"},
		"another region":     {config: s3blob.Config{Credentials: key("AK", "SK"), Region: "eu-west-1"}, kind: protocol.Config, says: "where the bucket is: us-east-1"},
		"no such bucket":     {config: s3blob.Config{Credentials: key("AK", "SK"), Bucket: "nonesuch"}, kind: protocol.Config, says: "name of the bucket"},
		"may not be listed":  {config: s3blob.Config{Credentials: key("AK", "SK")}, script: s3test.Answer{Status: 403, Code: "AccessDenied"}, op: s3test.List, kind: protocol.Config, denied: true, says: "s3:ListBucket"},
		"may not be read":    {config: s3blob.Config{Credentials: key("AK", "SK")}, script: s3test.Answer{Status: 403, Code: "AccessDenied"}, op: s3test.Head, kind: protocol.Config, denied: true, says: "s3:GetObject on arn:aws:s3:::bucket/*"},
		"expired":            {config: s3blob.Config{Credentials: key("AK", "SK")}, script: s3test.Answer{Status: 400, Code: "ExpiredToken"}, op: s3test.List, kind: protocol.Config, says: "renew"},
		"a clock of its own": {config: s3blob.Config{Credentials: key("AK", "SK")}, script: s3test.Answer{Status: 403, Code: "RequestTimeTooSkewed"}, op: s3test.List, kind: protocol.Config, says: "clock"},
		"overloaded":         {config: s3blob.Config{Credentials: key("AK", "SK")}, script: s3test.Answer{Status: 503, Code: "SlowDown"}, op: s3test.List, kind: protocol.Transient, says: "the service answered 503, SlowDown"},
	} {
		_, s3 := serve(t)
		s3.Secrets = map[string]string{"AK": "SK"}
		s3.Script = func(r s3test.Request) s3test.Answer {
			if r.Op == c.op {
				return c.script
			}
			return s3test.Answer{}
		}
		switch c.config.Endpoint {
		case "":
			c.config.Endpoint = s3.Endpoint() + "/"
		case "localhost":
			// Of an address the SDK knows that it has no host for each bucket.
			c.config.Endpoint = strings.Replace(s3.Endpoint(), "127.0.0.1", "localhost", 1)
		}
		if c.config.Bucket == "" {
			c.config.Bucket = "bucket"
		}
		c.config.Attempts = 2
		b, err := s3blob.Open(t.Context(), c.config)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err = blob.Check(t.Context(), b, "p/")
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || protocol.KindOf(err) != c.kind) || errors.Is(err, blob.ErrDenied) != c.denied {
			t.Errorf("%s: kind %v: %v", name, protocol.KindOf(err), err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func TestOpen_RefusesWhatCannotWork(t *testing.T) {
	for bucket, says := range map[string]string{"data--use1-az4--x-s3": "directory bucket", "bucket/prefix": "no name of a bucket", "": "no name of a bucket"} {
		if _, err := s3blob.Open(t.Context(), s3blob.Config{Bucket: bucket}); protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", bucket, err)
		}
	}
}

func TestOpen_RequesterPays(t *testing.T) {
	mem, s3 := serve(t)
	s3.RequesterPays = true
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
	for _, pays := range []bool{true, false} {
		b := open(t, s3blob.Config{Endpoint: s3.Endpoint(), RequesterPays: pays})
		text, _, err := read(t, b, "k", "")
		if may := err == nil && text == "x"; may != pays || !pays && !errors.Is(err, blob.ErrDenied) {
			t.Errorf("pays %v: %q, %v", pays, text, err)
		}
		if err = blob.Check(t.Context(), b, ""); (err == nil) != pays || !pays && !strings.Contains(err.Error(), "requesterPays") {
			t.Errorf("pays %v: %v", pays, err)
		}
	}
}

func TestOpen_OneObjectIsForbidden(t *testing.T) {
	mem, s3 := serve(t)
	mem.Put(memblob.Entry{Key: "a", Data: []byte("x")})
	mem.Put(memblob.Entry{Key: "b", Data: []byte("x")})
	s3.Denied = map[string]bool{"a": true}
	b := open(t, s3blob.Config{Endpoint: s3.Endpoint()})
	if _, _, err := read(t, b, "a", ""); !errors.Is(err, blob.ErrDenied) || protocol.KindOf(err) != protocol.Config || !strings.Contains(err.Error(), "kms:Decrypt") {
		t.Error(err)
	}
	if text, _, err := read(t, b, "b", ""); text != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// regional is AWS's own hosts: a bucket has one for every region, and only the right one answers.
type regional struct {
	s3    *s3test.Server
	mu    sync.Mutex
	hosts []string
}

func (r *regional) Do(in *http.Request) (*http.Response, error) {
	at, err := url.Parse(r.s3.Endpoint())
	if err != nil {
		return nil, err
	}
	host := in.URL.Host
	r.mu.Lock()
	r.hosts = append(r.hosts, host)
	r.mu.Unlock()
	out := in.Clone(in.Context())
	out.Host = ""
	if bucket, ok := strings.CutSuffix(host, ".s3."+r.s3.Region+".amazonaws.com"); ok {
		// Path-style, and otherwise as it would be on the wire: a parsed path would be cleaned.
		out.URL = &url.URL{Scheme: at.Scheme, Host: at.Host, Opaque: "//" + at.Host + "/" + bucket + in.URL.EscapedPath(), RawQuery: in.URL.RawQuery}
		return http.DefaultTransport.RoundTrip(out)
	}
	status := http.StatusMovedPermanently
	if in.Header.Get("Authorization") != "" {
		status = http.StatusBadRequest
	}
	return &http.Response{
		StatusCode: status, Request: in, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Amz-Bucket-Region": {r.s3.Region}},
	}, nil
}

func TestRegion_FollowsTheBucket(t *testing.T) {
	for _, c := range []*awsauth.Credentials{nil, key("AK", "SK")} {
		for _, given := range []string{"", "eu-west-1"} {
			mem, s3 := serve(t)
			s3.Region = "ap-south-1"
			odd := "/lead//x/../y z+%.csv"
			mem.Put(memblob.Entry{Key: odd, Data: []byte("x")})
			hosts := &regional{s3: s3}
			b := open(t, s3blob.Config{HTTP: hosts, Credentials: c, Region: given})
			if err := blob.Check(t.Context(), b, ""); err != nil {
				t.Error(err)
			}
			if text, _, err := read(t, b, odd, ""); text != "x" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			first := given
			if first == "" {
				first = "us-east-1"
			}
			right := "bucket.s3.ap-south-1.amazonaws.com"
			want := []string{fmt.Sprintf("bucket.s3.%s.amazonaws.com", first), right, right, right}
			if fmt.Sprint(hosts.hosts) != fmt.Sprint(want) {
				t.Errorf("asked %q, want %q", hosts.hosts, want)
			}
		}
	}
}

func TestClose_FreesTheConnection(t *testing.T) {
	mem, s3 := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 10<<20)})
	b := open(t, s3blob.Config{Endpoint: s3.Endpoint()})
	for range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		body, _, err := b.Open(ctx, "k", "", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		body.Close()
		cancel()
	}
}

func TestOpen_BySessionOfTheEnvironment(t *testing.T) {
	mem, s3 := serve(t)
	s3.Secrets, s3.SessionTokens = map[string]string{"EK": "ES"}, map[string]string{"EK": "ET"}
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
	t.Setenv("AWS_ACCESS_KEY_ID", "EK")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "ES")
	t.Setenv("AWS_REGION", "eu-west-1") // where the machine is; an endpoint is nowhere
	for _, token := range []string{"ET", "old"} {
		t.Setenv("AWS_SESSION_TOKEN", token)
		b := open(t, s3blob.Config{Endpoint: s3.Endpoint(), Credentials: &awsauth.Credentials{Default: &awsauth.Default{}}})
		if text, _, err := read(t, b, "k", ""); (text == "x" && err == nil) != (token == "ET") || err != nil && !strings.Contains(err.Error(), "renew") {
			t.Errorf("%s: %q, %v", token, text, err)
		}
	}
}

// Requests that run at the same time share nothing that the SDK writes into, not even where all of them learn the bucket's region: without the race
// detector the runtime ended the process soon.
func TestOpen_ManyAtOnce(t *testing.T) {
	for _, at := range []string{"given", "AWS"} {
		mem, s3 := serve(t)
		s3.Secrets, s3.Region = map[string]string{"AK": "SK"}, "ap-south-1"
		odd := "/lead//x/../y z+%.csv"
		mem.Put(memblob.Entry{Key: odd, Data: []byte("x")})
		c := s3blob.Config{Credentials: key("AK", "SK"), Region: "eu-west-1", HTTP: &regional{s3: s3}}
		if at == "given" {
			c = s3blob.Config{Credentials: key("AK", "SK"), Region: s3.Region, Endpoint: s3.Endpoint()}
		} else {
			s3.Secrets = nil // the proxy of AWS's hosts changes what was signed
		}
		b := open(t, c)
		var running sync.WaitGroup
		for range 16 {
			running.Go(func() {
				for range 20 {
					if text, _, err := read(t, b, odd, ""); text != "x" || err != nil {
						t.Errorf("%s: %q, %v", at, text, err)
					}
				}
			})
		}
		running.Wait()
	}
}
