package gcsblob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/gcpauth"
	"github.com/estuary/connectors/protocol"
)

// What was being done, for messages.
const (
	listing = "listing"
	looking = "looking at"
	reading = "reading"
)

// status is the HTTP status of an answer, 0: there was none.
func status(err error) int {
	if refused, ok := errors.AsType[*googleapi.Error](err); ok {
		return refused.Code
	}
	return 0
}

// problem says what an answer means.
func (b *Bucket) problem(ctx context.Context, doing, key string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", doing, b.url(key), ctx.Err())
	}
	if _, ok := errors.AsType[*auth.Error](err); ok {
		return gcpauth.Problem(ctx, err)
	}
	message, code := err.Error(), status(err)
	if refused, ok := errors.AsType[*googleapi.Error](err); ok && refused.Message != "" {
		message = refused.Message
	}
	person := func(fix string, cause error) error {
		return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%s %s was refused: %s", doing, b.url(key), message), Fix: fix, Err: cause}
	}
	switch {
	case errors.Is(err, storage.ErrBucketNotExist) || code == http.StatusNotFound && doing == listing:
		return person("check the name of the bucket, and the endpoint if there is one", err)
	case errors.Is(err, storage.ErrObjectNotExist) || code == http.StatusNotFound:
		return fmt.Errorf("%s %s: %w", doing, b.url(key), blob.ErrNotFound)
	case code == http.StatusPreconditionFailed:
		return fmt.Errorf("%s %s: %w", doing, b.url(key), blob.ErrChanged)
	case code == http.StatusBadRequest && strings.Contains(message, "requester pays"):
		return person("set advanced.requesterPays", err)
	case code == http.StatusForbidden || code == http.StatusUnauthorized:
		right := "storage.objects.get"
		if doing == listing {
			right = "storage.objects.list"
		}
		fix := "grant " + right + " on the bucket, which the role Storage Object Viewer has"
		if c := b.config.Credentials; c == nil || c.Key == nil && c.Default == nil {
			fix = "give credentials, or let everybody have " + right + " on the bucket, which the role Storage Object Viewer has"
		}
		return person(fix, fmt.Errorf("%w: %w", blob.ErrDenied, err))
	case code == 0:
		return blob.Unanswered(doing+" "+b.url(key), b.config.Endpoint, err)
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("%s %s: the service answered %d, %s", doing, b.url(key), code, message), Err: err}
	}
	return fmt.Errorf("%s %s: %w", doing, b.url(key), err)
}
