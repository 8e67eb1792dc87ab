package s3blob

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/estuary/connectors/internal/blob"
)

// List implements blob.Bucket: a thousand objects a request. Only the token says whether there are more: pages may be empty, and nothing that a page tells
// about the request is relied upon, since compatible stores leave it out.
func (b *Bucket) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		pages := pages{bucket: b, prefix: prefix, last: after}
		for pages.more(ctx) {
			for i := range pages.page.Contents {
				o, err := pages.object(&pages.page.Contents[i])
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
		if pages.err != nil {
			yield(blob.Object{}, pages.err)
		}
	}
}

// pages walks over the answers of one listing.
type pages struct {
	bucket *Bucket
	prefix string
	last   string // key: the greatest so far, at first where the listing starts
	listed time.Time

	page  *s3.ListObjectsV2Output
	count int
	// A token that comes again would list for ever. The one kept is replaced at every power of two, which finds a circle of any length.
	token, kept string
	err         error
}

func (p *pages) more(ctx context.Context) bool {
	in := &s3.ListObjectsV2Input{
		Bucket: &p.bucket.config.Bucket, EncodingType: types.EncodingTypeUrl, RequestPayer: p.bucket.payer(),
		OptionalObjectAttributes: []types.OptionalObjectAttributes{types.OptionalObjectAttributesRestoreStatus},
	}
	if p.prefix != "" {
		in.Prefix = &p.prefix
	}
	switch {
	case p.page == nil && p.last != "":
		in.StartAfter = &p.last
	case p.page == nil:
	case p.token == "":
		return false
	default:
		in.ContinuationToken = &p.token
	}
	p.err = p.bucket.follow(func(options func(*s3.Options)) (err error) {
		p.page, err = p.bucket.client.ListObjectsV2(ctx, in, options)
		return err
	})
	if p.err != nil {
		p.err = p.bucket.problem(ctx, listing, p.prefix, p.err)
		return false
	}
	if p.count++; p.listed.IsZero() {
		p.listed = time.Now().UTC()
		if told, ok := middleware.GetServerTime(p.page.ResultMetadata); ok {
			p.listed = told.UTC()
		}
	}
	p.token = ""
	if aws.ToBool(p.page.IsTruncated) {
		p.token = aws.ToString(p.page.NextContinuationToken)
		if p.token == "" || p.token == p.kept {
			p.err = fmt.Errorf("listing %s: after %d answers the store says that there are more, and gives the token %q again", p.bucket.url(p.prefix), p.count, p.token)
			return false
		}
		if p.count&(p.count-1) == 0 {
			p.kept = p.token
		}
	}
	return true
}

func (p *pages) object(o *types.Object) (blob.Object, error) {
	key := aws.ToString(o.Key)
	if p.page.EncodingType == types.EncodingTypeUrl {
		decoded, err := url.QueryUnescape(key)
		if err != nil {
			return blob.Object{}, fmt.Errorf("listing %s: key %q is not URL-encoded, which the store says it is: %w", p.bucket.url(p.prefix), key, err)
		}
		key = decoded
	}
	if !strings.HasPrefix(key, p.prefix) || key <= p.last {
		return blob.Object{}, fmt.Errorf("listing %s: the store lists %q after %q, which is not the order of bytes that a resumed listing needs", p.bucket.url(p.prefix), key, p.last)
	}
	p.last = key
	restored := o.RestoreStatus != nil && !aws.ToBool(o.RestoreStatus.IsRestoreInProgress) && o.RestoreStatus.RestoreExpiryDate != nil
	class := string(o.StorageClass)
	return blob.Object{
		Key: key, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified).UTC(), Version: version(o.ETag), Class: class,
		Archived: archived(class) && !restored, Restored: archived(class) && restored, Listed: p.listed,
	}, nil
}

// version is an ETag without its quotes.
func version(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

// archived tells whether objects of a class must be restored first. GLACIER_IR need not be.
func archived(class string) bool {
	return class == string(types.ObjectStorageClassGlacier) || class == string(types.ObjectStorageClassDeepArchive)
}
