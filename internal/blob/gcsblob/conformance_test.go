package gcsblob_test

import (
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/blobtest"
	"github.com/estuary/connectors/internal/blob/gcsblob"
	"github.com/estuary/connectors/internal/blob/gcstest"
	"github.com/estuary/connectors/internal/blob/memblob"
)

// serve starts a service with pages of two objects.
func serve(t *testing.T) (*memblob.Bucket, *gcstest.Server) {
	t.Helper()
	mem := memblob.New("bucket")
	mem.PageSize = 2
	gcs := gcstest.Start(mem)
	t.Cleanup(gcs.Close)
	return mem, gcs
}

// open opens the bucket, in a hurry.
func open(t *testing.T, c gcsblob.Config) *gcsblob.Bucket {
	t.Helper()
	if c.Bucket == "" {
		c.Bucket = "bucket"
	}
	if c.Patience == (blob.Patience{}) {
		c.Patience = blob.Patience{Wait: time.Millisecond, Stall: 5 * time.Second}
	}
	b, err := gcsblob.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestBucket_Conforms(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Store {
		mem, gcs := serve(t)
		return blobtest.Store{
			Bucket: open(t, gcsblob.Config{Endpoint: gcs.Endpoint()}),
			Put:    func(key string, data []byte) { mem.Put(memblob.Entry{Key: key, Data: data, ContentEncoding: "gzip"}) }, Delete: mem.Delete,
		}
	})
}
