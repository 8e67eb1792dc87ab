package s3blob_test

import (
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/blobtest"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3blob"
	"github.com/estuary/connectors/internal/blob/s3test"
)

// serve starts a service with pages of two objects, and ETags as S3 makes them.
func serve(t *testing.T) (*memblob.Bucket, *s3test.Server) {
	t.Helper()
	mem := memblob.New("bucket")
	mem.PageSize, mem.Versions = 2, memblob.MD5
	s3 := s3test.Start(mem)
	t.Cleanup(s3.Close)
	return mem, s3
}

// open opens the bucket, in a hurry.
func open(t *testing.T, c s3blob.Config) *s3blob.Bucket {
	t.Helper()
	c.Bucket = "bucket"
	if c.Patience == (blob.Patience{}) {
		c.Patience = blob.Patience{Wait: time.Millisecond, Stall: 5 * time.Second}
	}
	b, err := s3blob.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBucket_Conforms(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Store {
		mem, s3 := serve(t)
		return blobtest.Store{
			Bucket: open(t, s3blob.Config{Endpoint: s3.Endpoint()}),
			Put:    func(key string, data []byte) { mem.Put(memblob.Entry{Key: key, Data: data, ContentEncoding: "gzip"}) }, Delete: mem.Delete,
		}
	})
}
