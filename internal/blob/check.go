package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/estuary/connectors/protocol"
)

// checkTime bounds Check: an endpoint that nobody listens on has to be told, not waited for.
const checkTime = 30 * time.Second

// Check finds out whether a bucket can be listed and read, with no more rights than reading needs: it lists the first objects, and looks at an object that
// cannot be there and has to be told as missing. (HeadBucket would want rights that reading does not.)
func Check(ctx context.Context, b Bucket, prefix string) error {
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	err := check(limited, b, prefix)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &protocol.Problem{Kind: protocol.Transient, Summary: "the bucket's service does not answer within " + checkTime.String(), Fix: "check endpoint and network", Err: err}
	}
	return err
}

func check(ctx context.Context, b Bucket, prefix string) error {
	for _, err := range b.List(ctx, prefix, "") {
		if err != nil {
			return err
		}
		break
	}
	if _, err := b.Stat(ctx, prefix+rand.Text()); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}
