package s3blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
)

// What was being done, for messages.
const (
	listing = "listing"
	looking = "looking at"
	reading = "reading"
)

// problem says what an answer means. HEAD has no body, so that its codes are made of the status alone.
func (b *Bucket) problem(ctx context.Context, doing, key string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", doing, b.url(key), ctx.Err())
	}
	code, message, status := "", "", 0
	if refused, ok := errors.AsType[smithy.APIError](err); ok {
		code, message = refused.ErrorCode(), refused.ErrorMessage()
	}
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	is := func(sentinel error) error {
		return fmt.Errorf("%s %s: %w (%s)", doing, b.url(key), sentinel, or(code, http.StatusText(status)))
	}
	person := func(fix string) error {
		return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%s %s was refused: %s", doing, b.url(key), or(message, code, http.StatusText(status))), Fix: fix, Err: err}
	}
	switch {
	case code == "NoSuchBucket" || status == http.StatusNotFound && doing == listing:
		return person("check the name of the bucket, and the endpoint if there is one")
	case status == http.StatusNotFound:
		return is(blob.ErrNotFound)
	case status == http.StatusPreconditionFailed:
		return is(blob.ErrChanged)
	case code == "InvalidObjectState":
		return is(blob.ErrArchived)
	case code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch":
		if c := b.config.Credentials; c != nil && (c.Default != nil || c.Role != nil) {
			return person("check the AWS credentials of the environment")
		}
		return person("check awsAccessKeyId and awsSecretAccessKey")
	case code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired":
		return person("renew the credentials of the environment")
	case code == "RequestTimeTooSkewed":
		return person("set this machine's clock")
	case regionOf(err) != "" && regionOf(err) != *b.region.Load() || status == http.StatusMovedPermanently || code == "AuthorizationHeaderMalformed":
		return person("set the region to where the bucket is" + map[bool]string{true: ": " + regionOf(err)}[regionOf(err) != ""])
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("%s %s was refused: %s", doing, b.url(key), or(message, code, http.StatusText(status))),
			Fix: b.grant(doing, message), Err: fmt.Errorf("%w: %w", blob.ErrDenied, err),
		}
	case status == 0:
		return blob.Unanswered(doing+" "+b.url(key), b.config.Endpoint, err)
	case status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || code == "RequestTimeout":
		return &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("%s %s: the service answered %d, %s", doing, b.url(key), status, or(code, message, http.StatusText(status))), Err: err}
	}
	return fmt.Errorf("%s %s: %w", doing, b.url(key), err)
}

// grant is what a person must allow after a 403.
func (b *Bucket) grant(doing, message string) string {
	anonymous := b.config.Credentials == nil || *b.config.Credentials == (awsauth.Credentials{}) || b.config.Credentials.Anonymous != nil
	switch {
	case anonymous && doing == listing:
		return "the bucket is not public: give credentials that have s3:ListBucket on arn:aws:s3:::" + b.config.Bucket + ", and set advanced.requesterPays if it charges its readers"
	case doing == listing:
		return "grant s3:ListBucket on arn:aws:s3:::" + b.config.Bucket + "; of a bucket that charges its readers set advanced.requesterPays"
	case strings.Contains(strings.ToLower(message), "kms"):
		return "grant kms:Decrypt on the key that the object is encrypted with"
	}
	return "grant s3:GetObject on arn:aws:s3:::" + b.config.Bucket + "/*, and kms:Decrypt on the key if objects are encrypted with one of KMS"
}

// or returns the first that is not empty.
func or(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return "no reason given"
}
