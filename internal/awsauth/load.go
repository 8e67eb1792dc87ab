package awsauth

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
)

// fallbackRegion is where STS is asked, and S3 first, when nobody named a region.
const fallbackRegion = "us-east-1"

// Load makes the SDK's configuration. region "" is the environment's for AWSDefault and AWSIAM, else us-east-1. Credentials that have to be fetched are
// fetched once here, so that their errors are told as what they are and not as those of the first request.
func Load(ctx context.Context, c *Credentials, region string) (aws.Config, error) {
	if c == nil {
		c = &Credentials{}
	}
	if c.Role == nil && c.Default == nil {
		return explicit(c, region)
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(httpClient()), config.WithRegion(region), config.WithLogger(toLog{}))
	if err != nil {
		return aws.Config{}, unreadable(err)
	}
	loaded.Region = orFallback(loaded.Region)
	if _, err = loaded.Credentials.Retrieve(ctx); err != nil {
		return aws.Config{}, fetchProblem(ctx, err)
	}
	if c.Role != nil {
		loaded.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(loaded), c.Role.ARN, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "estuary-connectors"
			if c.Role.ExternalID != "" {
				o.ExternalID = &c.Role.ExternalID
			}
		}))
		if _, err = loaded.Credentials.Retrieve(ctx); err != nil {
			return aws.Config{}, roleProblem(ctx, c.Role, err)
		}
	}
	return loaded, nil
}

// toLog takes what the SDK would write on stderr in a form of its own. It is about ways that were tried and left again.
type toLog struct{}

func (toLog) Logf(_ logging.Classification, format string, values ...any) {
	log.Debugf(format, values...)
}

// explicit is made of the config alone: the SDK's own loading fails where a variable names a profile that is not there, or a shared file is broken.
func explicit(c *Credentials, region string) (aws.Config, error) {
	made := aws.Config{Region: orFallback(region), Credentials: aws.AnonymousCredentials{}}
	if c.AccessKey != nil {
		made.Credentials = credentials.NewStaticCredentialsProvider(c.AccessKey.ID, c.AccessKey.Secret, "")
	}
	client := httpClient()
	if bundle := os.Getenv("AWS_CA_BUNDLE"); bundle != "" {
		text, err := os.ReadFile(bundle)
		if err != nil {
			return aws.Config{}, unreadable(err)
		}
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(text) {
			return aws.Config{}, unreadable(fmt.Errorf("AWS_CA_BUNDLE %s holds no certificate", bundle))
		}
		client = client.WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig.RootCAs = trusted })
	}
	made.HTTPClient = client
	return made, nil
}

func unreadable(err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "the AWS configuration of the environment cannot be read: " + err.Error(), Err: err}
}

func orFallback(region string) string {
	if region == "" {
		return fallbackRegion
	}
	return region
}

func fetchProblem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &protocol.Problem{
		Kind: protocol.Config, Summary: "the environment offers no AWS credentials", Err: err,
		Fix: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or choose another way in the config",
	}
}

func roleProblem(ctx context.Context, role *Role, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p := &protocol.Problem{Kind: protocol.Config, Summary: "role " + role.ARN + " cannot be assumed", Fix: err.Error(), Err: err}
	if refused, ok := errors.AsType[smithy.APIError](err); ok {
		p.Fix = "let its trust policy name us, and the external ID if it demands one: " + refused.ErrorMessage()
		if refused.ErrorFault() == smithy.FaultServer {
			p.Kind = protocol.Transient
		}
	}
	return p
}

// httpClient keeps bodies as they are stored: Go's transport decompresses what it has not been asked to. It speaks HTTP/1.1, so that parallel reads have a
// connection each. It is of the one type to which the SDK applies AWS_CA_BUNDLE.
func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.DisableCompression = true
		t.ForceAttemptHTTP2 = false
		t.MaxIdleConns = 256
		t.MaxIdleConnsPerHost = 128
		t.ResponseHeaderTimeout = time.Minute
		t.ReadBufferSize = 64 << 10
	})
}
