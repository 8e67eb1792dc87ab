package s3blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
)

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	return b.head(ctx, key, "")
}

// head asks about one object; with a version it must still be there.
func (b *Bucket) head(ctx context.Context, key, pinned string) (blob.Info, error) {
	var out *s3.HeadObjectOutput
	err := b.follow(func(options func(*s3.Options)) (err error) {
		out, err = b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.config.Bucket, Key: &key, IfMatch: ifMatch(pinned), RequestPayer: b.payer()}, options)
		return err
	})
	if err != nil {
		return blob.Info{}, b.problem(ctx, looking, key, err)
	}
	// Without a class it is STANDARD; INTELLIGENT_TIERING says so elsewhere when it has put an object away.
	class, away := string(out.StorageClass), archived(string(out.StorageClass)) || out.ArchiveStatus != ""
	restored := strings.Contains(aws.ToString(out.Restore), `ongoing-request="false"`)
	return blob.Info{
		Object: blob.Object{
			Key: key, Size: aws.ToInt64(out.ContentLength), Modified: aws.ToTime(out.LastModified).UTC(), Version: version(out.ETag), Class: class,
			Archived: away && !restored, Restored: away && restored,
		},
		ContentType: aws.ToString(out.ContentType), ContentEncoding: aws.ToString(out.ContentEncoding),
	}, nil
}

func ifMatch(version string) *string {
	if version == "" {
		return nil
	}
	return aws.String(`"` + version + `"`)
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	if n == 0 {
		return b.nothing(ctx, key, version)
	}
	var info blob.Info
	body, err := blob.Follow(ctx, b.config.Patience, b.url(key), off, n, func(ctx context.Context, off, n int64) (io.ReadCloser, int64, error) {
		r, now, length, err := b.get(ctx, key, version, off, n)
		if err == nil {
			info, version = now, now.Version
		}
		return r, length, err
	})
	if errors.Is(err, errPastEnd) {
		return b.nothing(ctx, key, version)
	}
	return body, info, err
}

// nothing is the empty range of a version that is still there: S3 has no notation for it, and refuses ranges past the end with 416.
func (b *Bucket) nothing(ctx context.Context, key, version string) (io.ReadCloser, blob.Info, error) {
	info, err := b.head(ctx, key, version)
	switch {
	case err != nil:
		return nil, blob.Info{}, err
	case info.Archived:
		return nil, blob.Info{}, fmt.Errorf("reading %s: %w", b.url(key), blob.ErrArchived)
	}
	return http.NoBody, info, nil
}

var errPastEnd = errors.New("the range begins at or behind the end of the object")

// get makes one request. length is what the answer promises.
func (b *Bucket) get(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, int64, error) {
	in := &s3.GetObjectInput{Bucket: &b.config.Bucket, Key: &key, IfMatch: ifMatch(version), RequestPayer: b.payer()}
	switch {
	case n > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", off))
	}
	var out *s3.GetObjectOutput
	err := b.follow(func(options func(*s3.Options)) (err error) {
		out, err = b.client.GetObject(ctx, in, options)
		return err
	})
	if err != nil {
		if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok && answer.HTTPStatusCode() == http.StatusRequestedRangeNotSatisfiable {
			return nil, blob.Info{}, 0, errPastEnd
		}
		return nil, blob.Info{}, 0, b.problem(ctx, reading, key, err)
	}
	size, length, err := span(out, in.Range != nil, off, n)
	if err != nil {
		out.Body.Close()
		return nil, blob.Info{}, 0, fmt.Errorf("reading %s: %w", b.url(key), err)
	}
	return out.Body, blob.Info{
		Object: blob.Object{
			Key: key, Size: size, Modified: aws.ToTime(out.LastModified).UTC(), Version: strings.Trim(aws.ToString(out.ETag), `"`), Class: string(out.StorageClass),
			Restored: strings.Contains(aws.ToString(out.Restore), `ongoing-request="false"`),
		},
		ContentType: aws.ToString(out.ContentType), ContentEncoding: aws.ToString(out.ContentEncoding),
	}, length, nil
}

// span reads from an answer how large the object is and how many bytes come, and checks both against what was asked for.
func span(out *s3.GetObjectOutput, ranged bool, off, n int64) (size, length int64, err error) {
	if out.ContentLength == nil {
		return 0, 0, &protocol.Problem{Kind: protocol.Transient, Summary: "the answer does not say how long it is"}
	}
	length = *out.ContentLength
	if !ranged {
		return length, length, nil
	}
	// bytes 100-199/1000
	first, rest, _ := strings.Cut(strings.TrimPrefix(aws.ToString(out.ContentRange), "bytes "), "-")
	_, total, _ := strings.Cut(rest, "/")
	from, errFrom := strconv.ParseInt(first, 10, 64)
	size, errSize := strconv.ParseInt(total, 10, 64)
	if errFrom != nil || errSize != nil {
		return 0, 0, fmt.Errorf("the store answers the range %d+%d with Content-Range %q", off, n, aws.ToString(out.ContentRange))
	}
	if at, want := blob.Span(size, off, n); from != at || length != want {
		return 0, 0, fmt.Errorf("the store answers the range %d+%d with %d bytes at %d of %d", off, n, length, from, size)
	}
	return size, length, nil
}
