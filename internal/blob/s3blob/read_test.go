package s3blob_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3blob"
	"github.com/estuary/connectors/internal/blob/s3test"
	"github.com/estuary/connectors/protocol"
)

func read(t *testing.T, b *s3blob.Bucket, key, version string) (string, blob.Info, error) {
	t.Helper()
	body, info, err := b.Open(t.Context(), key, version, 0, -1)
	if err != nil {
		return "", info, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), info, err
}

// bug streams-files-parser 53: predecessor, Go's transport decompressed bodies
func TestOpen_DoesNotDecompress(t *testing.T) {
	mem, s3 := serve(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("a,b\n1,2\n"))
	z.Close()
	mem.Put(memblob.Entry{Key: "k.gz", Data: packed.Bytes(), ContentEncoding: "gzip", ContentType: "text/csv"})
	s3.Script = func(r s3test.Request) s3test.Answer {
		if accepted := r.Header.Get("Accept-Encoding"); r.Op == s3test.Get && accepted != "identity" {
			t.Errorf("accepts %q", accepted)
		}
		return s3test.Answer{}
	}
	text, info, err := read(t, open(t, s3blob.Config{Endpoint: s3.Endpoint()}), "k.gz", "")
	if err != nil || text != packed.String() || info.ContentEncoding != "gzip" || info.ContentType != "text/csv" || info.Size != int64(packed.Len()) {
		t.Errorf("%q, %+v, %v", text, info, err)
	}
}

// Each connection breaks, the object comes whole, in the version that was asked for first.
func TestOpen_GoesOnWhereTheBodyBroke(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	for name, breaks := range map[string]s3test.Answer{"cut": {Cut: 5000}, "cut before the first byte": {Cut: -1}, "stalled": {Stall: 5000}} {
		mem, s3 := serve(t)
		mem.Put(memblob.Entry{Key: "k", Data: data})
		var asked []string
		s3.Script = func(r s3test.Request) s3test.Answer {
			asked = append(asked, r.Header.Get("Range")+" "+r.Header.Get("If-Match"))
			if r.Number <= 3 {
				return breaks
			}
			return s3test.Answer{}
		}
		b := open(t, s3blob.Config{Endpoint: s3.Endpoint(), Patience: blob.Patience{Wait: time.Millisecond, Stall: 50 * time.Millisecond}})
		if text, _, err := read(t, b, "k", ""); err != nil || text != string(data) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(text), len(data), err)
		}
		if last := asked[len(asked)-1]; len(asked) != 4 || asked[0] != " " || last != "bytes=15000-16383 \""+memblob.MD5(data)+`"` && breaks.Cut >= 0 {
			t.Errorf("%s: asked for %q", name, asked)
		}
	}
}

func TestOpen_TellsWhatHappenedMeanwhile(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 100_000)
	for name, c := range map[string]struct {
		happens func(*memblob.Bucket)
		want    error
	}{
		"replaced": {func(mem *memblob.Bucket) {
			mem.Put(memblob.Entry{Key: "k", Data: bytes.Repeat([]byte("y"), len(data))})
		}, blob.ErrChanged},
		"deleted": {func(mem *memblob.Bucket) { mem.Delete("k") }, blob.ErrNotFound},
	} {
		mem, s3 := serve(t)
		mem.Put(memblob.Entry{Key: "k", Data: data})
		s3.Script = func(r s3test.Request) s3test.Answer {
			if r.Number > 1 {
				c.happens(mem)
				return s3test.Answer{}
			}
			return s3test.Answer{Cut: 50_000}
		}
		if text, _, err := read(t, open(t, s3blob.Config{Endpoint: s3.Endpoint()}), "k", ""); !errors.Is(err, c.want) || len(text) != 50_000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestOpen_GivesUpOnABodyThatAlwaysBreaks(t *testing.T) {
	mem, s3 := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 1000)})
	s3.Script = func(s3test.Request) s3test.Answer { return s3test.Answer{Cut: 1} }
	text, _, err := read(t, open(t, s3blob.Config{Endpoint: s3.Endpoint()}), "k", "")
	if protocol.KindOf(err) != protocol.Transient || len(text) != 6 || s3.Requests(s3test.Get) != 6 {
		t.Errorf("%d bytes after %d requests, %v", len(text), s3.Requests(s3test.Get), err)
	}
}

// bug streams-files-parser 62: predecessor, answers that were no success were parsed as data
func TestOpen_RetriesWhatMayPass(t *testing.T) {
	for name, answer := range map[string]s3test.Answer{
		"SlowDown": {Status: 503, Code: "SlowDown"}, "InternalError": {Status: 500, Code: "InternalError"}, "a proxy": {Status: 502}, "RequestTimeout": {Status: 400, Code: "RequestTimeout"},
	} {
		mem, s3 := serve(t)
		mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
		s3.Script = func(r s3test.Request) s3test.Answer {
			if r.Number == 1 {
				return answer
			}
			return s3test.Answer{}
		}
		b := open(t, s3blob.Config{Endpoint: s3.Endpoint()})
		if text, _, err := read(t, b, "k", ""); text != "x" || err != nil {
			t.Errorf("%s, once: %q, %v", name, text, err)
		}
		if found, err := list(t, b, "", ""); len(found) != 1 || err != nil {
			t.Errorf("%s, once: %v, %v", name, found, err)
		}
		s3.Script = func(s3test.Request) s3test.Answer { return answer }
		b = open(t, s3blob.Config{Endpoint: s3.Endpoint(), Attempts: 1})
		if text, _, err := read(t, b, "k", ""); text != "" || protocol.KindOf(err) != protocol.Transient {
			t.Errorf("%s, always: %q, %v", name, text, err)
		}
		if found, err := list(t, b, "", ""); len(found) != 0 || protocol.KindOf(err) != protocol.Transient {
			t.Errorf("%s, always: %v, %v", name, found, err)
		}
	}
}

func TestOpen_RefusesAnswersToAnotherQuestion(t *testing.T) {
	mem, s3 := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: []byte("0123456789")})
	s3.Quirks.WholeBodies = true
	b := open(t, s3blob.Config{Endpoint: s3.Endpoint()})
	for _, off := range []int64{0, 3} {
		if body, _, err := b.Open(t.Context(), "k", "", off, 2); err == nil {
			body.Close()
			t.Errorf("a store that does not know ranges was asked for 2 bytes at %d and believed", off)
		}
	}
}
