package gcsblob

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/auth/httptransport"
	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/option"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/gcpauth"
	"github.com/estuary/connectors/protocol"
)

// Config says which bucket is read, and how. Zero values are the defaults.
type Config struct {
	Bucket        string
	Endpoint      string // URL of a service that speaks the JSON API; empty: Google's, or what STORAGE_EMULATOR_HOST names, which is asked without credentials
	Credentials   *gcpauth.Credentials
	RequesterPays bool // we pay for requests and transfer, by the project of the credentials
	Attempts      int  // of one request, until an answer came; default 8, which takes half a minute
	Patience      blob.Patience
}

// Bucket is a blob.Bucket. It needs storage.objects.list and storage.objects.get.
type Bucket struct {
	config Config
	client *storage.Client
	handle *storage.BucketHandle
}

var _ blob.Bucket = (*Bucket)(nil)

// Open makes the client. It asks nobody but the one who gives out tokens.
func Open(ctx context.Context, c Config) (*Bucket, error) {
	if c.Bucket == "" || strings.Contains(c.Bucket, "/") {
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%q is no name of a bucket", c.Bucket), Fix: "give the name alone; what follows a slash is the prefix"}
	}
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" && c.Endpoint == "" {
		c.Credentials = nil
	}
	given, err := gcpauth.Load(ctx, c.Credentials, storage.ScopeReadOnly)
	if err != nil {
		return nil, err
	}
	web, project := &http.Client{Transport: transport()}, ""
	if given != nil {
		if err = httptransport.AddAuthorizationMiddleware(web, given); err != nil {
			return nil, fmt.Errorf("preparing requests to Google Cloud Storage: %w", err)
		}
		if project, err = given.QuotaProjectID(ctx); project == "" {
			project, err = given.ProjectID(ctx)
		}
	}
	if c.RequesterPays && project == "" {
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: "requesterPays needs a project to bill, and the credentials name none", Fix: "use the key of a service account", Err: err}
	}
	web.Transport = asStored{web.Transport}
	// Whoever makes requests by web has logged in already.
	options := []option.ClientOption{option.WithHTTPClient(web), option.WithoutAuthentication(), storage.WithJSONReads()}
	if c.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(strings.TrimSuffix(c.Endpoint, "/"), "/storage/v1")+"/storage/v1/"))
	}
	client, err := storage.NewClient(ctx, options...)
	if err != nil {
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: "a client of Google Cloud Storage cannot be made: " + err.Error(), Err: err}
	}
	b := &Bucket{config: c, client: client, handle: client.Bucket(c.Bucket).Retryer(retries(c)...)}
	if c.RequesterPays {
		b.handle = b.handle.UserProject(project)
	}
	return b, nil
}

func retries(c Config) []storage.RetryOption {
	if c.Attempts == 0 {
		c.Attempts = 8
	}
	if c.Patience.Wait == 0 {
		c.Patience.Wait = 250 * time.Millisecond
	}
	return []storage.RetryOption{
		storage.WithMaxAttempts(c.Attempts), storage.WithBackoff(gax.Backoff{Initial: 2 * c.Patience.Wait, Max: 20 * time.Second, Multiplier: 2}),
	}
}

// Close frees the client's connections.
func (b *Bucket) Close() error { return b.client.Close() }

func (b *Bucket) url(key string) string { return "gs://" + b.config.Bucket + "/" + key }

// transport speaks HTTP/1.1, so that parallel reads have a connection each.
func transport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 90 * time.Second,
		ResponseHeaderTimeout: time.Minute, ExpectContinueTimeout: time.Second, ReadBufferSize: 64 << 10,
	}
}

// asStored does what the client library does not do with the JSON API.
type asStored struct{ next http.RoundTripper }

// listed is the key of a *time.Time in a listing's context: the Date of its first answer.
type listed struct{}

func (a asStored) RoundTrip(request *http.Request) (*http.Response, error) {
	media := request.URL.Query().Get("alt") == "media"
	if media {
		// Who does not accept gzip is served objects of that encoding decompressed. The library's ReadCompressed says so in a header that its own JSON half
		// refuses (google-cloud-go #1743, #1800); its XML half puts keys into paths, where not all of them survive.
		request = request.Clone(request.Context())
		request.Header.Set("Accept-Encoding", "gzip")
	}
	answer, err := a.next.RoundTrip(request)
	if err != nil {
		return answer, err
	}
	if at, ok := request.Context().Value(listed{}).(*time.Time); ok && at.IsZero() {
		if told, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			*at = told.UTC()
		}
	}
	if media && answer.StatusCode < http.StatusMultipleChoices {
		answer.Body = ending{answer.Body}
	}
	return answer, nil
}

// ending is a body that ends where it breaks. The library opens a broken one again without a limit or a pause; blob.Follow counts the bytes and has both.
type ending struct{ io.ReadCloser }

func (e ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
