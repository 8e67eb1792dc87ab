package memblob_test

import (
	"testing"

	"github.com/estuary/connectors/internal/blob/blobtest"
	"github.com/estuary/connectors/internal/blob/memblob"
)

func TestBucket_Conforms(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blobtest.Store {
		b := memblob.New("b")
		b.PageSize = 2
		return blobtest.Store{Bucket: b, Put: func(key string, data []byte) { b.Put(memblob.Entry{Key: key, Data: data}) }, Delete: b.Delete}
	})
}
