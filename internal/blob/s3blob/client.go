package s3blob

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
)

// Config says which bucket is read, and how. Zero values are the defaults.
type Config struct {
	Bucket        string
	Region        string // empty: us-east-1 with an Endpoint; else the environment's, and from there where the bucket is
	Endpoint      string // URL of a service that speaks S3's protocol; addressed path-style
	Credentials   *awsauth.Credentials
	RequesterPays bool // we pay for requests and transfer
	Attempts      int  // of one request, until an answer came; default 8, which takes half a minute
	Patience      blob.Patience
	HTTP          aws.HTTPClient // nil: awsauth's
}

// Bucket is a blob.Bucket. It needs s3:ListBucket and s3:GetObject, and kms:Decrypt where objects are encrypted with a key of the customer's.
type Bucket struct {
	config Config
	client *s3.Client
	region atomic.Pointer[string] // where the bucket is, as far as we know
}

var _ blob.Bucket = (*Bucket)(nil)

// Open makes the client. It asks nobody but the one who gives out credentials.
func Open(ctx context.Context, c Config) (*Bucket, error) {
	switch {
	case strings.HasSuffix(c.Bucket, "--x-s3"):
		return nil, &protocol.Problem{
			Kind: protocol.Config, Summary: "bucket " + c.Bucket + " is a directory bucket, which lists its objects in no order and cannot be read from a key on",
			Fix: "use a general purpose bucket",
		}
	case c.Bucket == "" || strings.Contains(c.Bucket, "/"):
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%q is no name of a bucket", c.Bucket), Fix: "give the name alone; what follows a slash is the prefix"}
	}
	region := c.Region
	if region == "" && c.Endpoint != "" {
		region = "us-east-1"
	}
	loaded, err := awsauth.Load(ctx, c.Credentials, region)
	if err != nil {
		return nil, err
	}
	if c.HTTP != nil {
		loaded.HTTPClient = c.HTTP
	}
	b := &Bucket{config: c}
	b.region.Store(&loaded.Region)
	b.client = s3.New(s3.Options{
		Region: loaded.Region, Credentials: loaded.Credentials, HTTPClient: loaded.HTTPClient, Retryer: retryer(c.Attempts, c.Patience.Wait),
		// A name with a dot fits no wildcard certificate, and behind an endpoint nobody promises a host per bucket.
		UsePathStyle:       c.Endpoint != "" || strings.Contains(c.Bucket, "."),
		EndpointResolverV2: &endpoints{rules: s3.NewDefaultEndpointResolverV2()},
		// Checksums of what the transport has protected already; objects put in parts have none of the whole.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}, func(o *s3.Options) {
		if c.Endpoint != "" {
			o.BaseEndpoint = aws.String(strings.TrimSuffix(c.Endpoint, "/"))
		}
	})
	return b, nil
}

// retryer is adaptive: after a SlowDown requests are sent at the rate that S3 takes. The SDK's budget of retries is for programs that are better ended; a
// sweep that meets one bad hour in ten has spent it. wait is the first back-off, doubled with each attempt up to 20 s.
func retryer(attempts int, wait time.Duration) aws.Retryer {
	if attempts == 0 {
		attempts = 8
	}
	if wait == 0 {
		wait = 250 * time.Millisecond
	}
	return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
		o.StandardOptions = append(o.StandardOptions, func(s *retry.StandardOptions) {
			s.MaxAttempts = attempts
			s.RateLimiter = ratelimit.None
			s.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
				d := min(wait<<min(attempt, 10), 20*time.Second)
				return d/2 + rand.N(d/2+1), nil
			})
		})
	})
}

func (b *Bucket) url(key string) string { return "s3://" + b.config.Bucket + "/" + key }

func (b *Bucket) payer() types.RequestPayer {
	if b.config.RequesterPays {
		return types.RequestPayerRequester
	}
	return ""
}

// follow calls, and calls again where the answer says that the bucket is in another region (301, 307, or 400 to a signature for the wrong one). With an
// endpoint the region is the user's affair: the error names the right one.
func (b *Bucket) follow(call func(options func(*s3.Options)) error) error {
	region := *b.region.Load()
	err := call(func(o *s3.Options) { o.Region = region })
	if err == nil || b.config.Endpoint != "" {
		return err
	}
	right := regionOf(err)
	if right == "" || right == region {
		return err
	}
	b.region.Store(&right)
	return call(func(o *s3.Options) { o.Region = right })
}

// regionOf returns the region that an answer says the bucket is in.
func regionOf(err error) string {
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok && answer.Response != nil {
		return answer.Response.Header.Get("X-Amz-Bucket-Region")
	}
	return ""
}
