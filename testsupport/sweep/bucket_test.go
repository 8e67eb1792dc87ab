package sweep

import (
	"sync"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3test"
)

// bucket is the fake of S3, whose clock the test moves: times are whole seconds, and as many changes as it likes happen inside one.
type bucket struct {
	mem    *memblob.Bucket
	s3     *s3test.Server
	coming map[string]memblob.Entry

	mu    sync.Mutex
	clock time.Time
	gets  int
}

const (
	pageSize = 50
	cutEvery = 200 // one body in so many breaks off
)

func newBucket(t *testing.T) *bucket {
	t.Helper()
	b := &bucket{mem: memblob.New(bucketName), coming: map[string]memblob.Entry{}, clock: time.Date(2026, 1, 20, 3, 4, 5, 0, time.UTC)}
	b.mem.Now, b.mem.PageSize = b.now, pageSize
	b.s3 = s3test.Start(b.mem)
	b.s3.Script = b.script
	t.Cleanup(b.s3.Close)
	return b
}

// script lets bodies break off, more and more of them behind the part that is fetched at once.
func (b *bucket) script(r s3test.Request) s3test.Answer {
	if r.Op != s3test.Get {
		return s3test.Answer{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gets++; b.gets%cutEvery == 0 {
		return s3test.Answer{Cut: int64(b.gets) * 40_009 % bigBytes}
	}
	return s3test.Answer{}
}

func (b *bucket) config(advanced map[string]any) map[string]any {
	advanced["endpoint"] = b.s3.Endpoint()
	return map[string]any{"bucket": bucketName, "advanced": advanced}
}

func (b *bucket) put(key string, content *body, hourBack bool) (object, error) {
	at := b.second()
	if hourBack {
		at = at.Add(-time.Hour)
	}
	return b.enter(memblob.Entry{Key: key, Data: content.data, Modified: at}), nil
}

func (b *bucket) enter(e memblob.Entry) object {
	return object{b.mem.Put(e), e.Modified}
}

func (b *bucket) begin(key string, content *body) error {
	b.coming[key] = memblob.Entry{Key: key, Data: content.data, Modified: b.second()}
	return nil
}

func (b *bucket) end(key string) (object, error) {
	e := b.coming[key]
	delete(b.coming, key)
	return b.enter(e), nil
}

// second is the clock's time as the store notes it.
func (b *bucket) second() time.Time { return b.now().Truncate(time.Second) }

func (b *bucket) remove(key string) error {
	b.mem.Delete(key)
	return nil
}

func (b *bucket) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bucket) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

func (b *bucket) opened() int { return b.s3.Requests(s3test.Get) }
