package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/estuary/connectors/internal/awsauth"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3blob"
	"github.com/estuary/connectors/internal/blob/s3test"
)

// What is read from the bucket: many small objects from a service that takes its time, and one large object over connections that are slow.
const (
	smallObjects   = 20_000
	smallReference = 1_000 // of them; the loop's time for all is its time for these, so many times
	smallLatency   = 5 * time.Millisecond
	largeBytes     = 512 << 20
	largeBandwidth = 50_000_000 // bytes a second for each connection
)

// bucket measures source-s3 beside a loop that lists and then gets one object after another, with the same client, and beside one plain GET. The service
// is a part of this process.
func (b *bench) bucket(ctx context.Context, r *report) error {
	small := memblob.New("bench")
	small.Versions, small.PageSize = memblob.MD5, 1000
	for n := range smallObjects {
		small.Put(memblob.Entry{Key: fmt.Sprintf("small/%05d.ndjson", n), Data: smallObject(n)})
	}
	if err := b.fetched(ctx, r, "20,000 objects of 1 KB, 5 ms for each request", "listing and getting them one by one", small, func(s *s3test.Server) { s.Latency = smallLatency },
		smallObjects, manyBars, func(ctx context.Context, c *s3blob.Bucket) (float64, error) {
			return float64(smallObjects) / smallReference, getAll(ctx, c, smallReference)
		}); err != nil {
		return err
	}
	large := memblob.New("bench")
	large.Versions = func([]byte) string { return "large" } // the checksum of so much takes its time
	data, lines := largeObject()
	large.Put(memblob.Entry{Key: "large.ndjson", Data: data})
	return b.fetched(ctx, r, "one object of 512 MiB, 50 MB/s for each connection", "one GET", large, func(s *s3test.Server) { s.Bandwidth = largeBandwidth },
		lines, largeBars, func(ctx context.Context, c *s3blob.Bucket) (float64, error) { return 1, getAll(ctx, c, 1) })
}

// fetched measures one bucket. The reference says how many times its work the whole is.
func (b *bench) fetched(ctx context.Context, r *report, what, reference string, mem *memblob.Bucket, slow func(*s3test.Server), records int64, bars bars, refer func(context.Context, *s3blob.Bucket) (float64, error)) (err error) {
	service := s3test.Start(mem)
	defer service.Close()
	slow(service)
	client, err := s3blob.Open(ctx, s3blob.Config{Bucket: mem.Name, Endpoint: service.Endpoint(), Credentials: &awsauth.Credentials{}})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-bucket-")
	if err != nil {
		return fmt.Errorf("making a folder for the connector's inputs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := filepath.Join(dir, "config.json")
	raw, err := json.Marshal(map[string]any{"bucket": mem.Name, "advanced": map[string]any{"endpoint": service.Endpoint()}})
	if err == nil {
		err = os.WriteFile(config, raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the connector's configuration: %w", err)
	}
	c, err := alternate(b.pairs, records, func() (usage, error) {
		begun := time.Now()
		times, failed := refer(ctx, client)
		u := usage{wall: time.Duration(float64(time.Since(begun)) * times)}
		b.progress("%s, reference: %s", what, seconds(u.wall.Seconds()))
		return u, failed
	}, func() (usage, error) {
		var in inOrder
		u, failed := execute(ctx, b.built.bucket, []string{"read", "--config", config, "--streams", "*"}, nil, &splitter{line: in.take})
		if failed == nil && in.records != records {
			failed = fmt.Errorf("counting what source-s3 printed: %d records, want %d", in.records, records)
		}
		b.progress("%s, source-s3: %s", what, u)
		return u, failed
	})
	if err != nil {
		return err
	}
	r.compared(what, reference, c, bars, comparison{})
	return nil
}

// inOrder counts records, which must come in the order of the keys.
type inOrder struct {
	records int64
	last    []byte
}

var fileMember = []byte(`"_meta":{"file":"`)

func (o *inOrder) take(line []byte) error {
	if !bytes.HasPrefix(line, []byte(`{"type":"RECORD"`)) {
		return nil
	}
	o.records++
	_, rest, ok := bytes.Cut(line, fileMember)
	file, _, closed := bytes.Cut(rest, []byte{'"'})
	switch {
	case !ok || !closed:
		return fmt.Errorf("reading a record: it does not say its file: %.300s", line)
	case bytes.Compare(file, o.last) < 0:
		return fmt.Errorf("reading records: %s comes after %s", file, o.last)
	}
	o.last = append(o.last[:0], file...)
	return nil
}

// getAll lists, and gets the first n objects one after another.
func getAll(ctx context.Context, bucket *s3blob.Bucket, n int) error {
	for object, err := range bucket.List(ctx, "", "") {
		if err != nil {
			return err
		}
		body, _, err := bucket.Open(ctx, object.Key, object.Version, 0, -1)
		if err != nil {
			return err
		}
		size, err := io.Copy(io.Discard, body)
		if err = errors.Join(err, body.Close()); err != nil || size != object.Size {
			return fmt.Errorf("getting %s: %d bytes of %d, %w", object.Key, size, object.Size, err)
		}
		if n--; n == 0 {
			break
		}
	}
	return nil
}

// smallObject is one line of 1,024 bytes.
func smallObject(n int) []byte {
	head := fmt.Sprintf(`{"n":%d,"filler":"`, n)
	return []byte(head + strings.Repeat("x", 1024-len(head)-3) + "\"}\n")
}

// largeObject is lines of about 500 bytes.
func largeObject() (data []byte, lines int64) {
	data = make([]byte, 0, largeBytes+1024)
	filler := strings.Repeat("some text that nobody reads, ", 16)
	for len(data) < largeBytes {
		data = fmt.Appendf(data, `{"n":%d,"filler":"%s"}`+"\n", lines, filler)
		lines++
	}
	return data, lines
}
