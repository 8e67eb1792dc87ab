package gcsblob_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/gcsblob"
	"github.com/estuary/connectors/internal/blob/gcstest"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/protocol"
)

func list(t *testing.T, b *gcsblob.Bucket) (objects []blob.Object, err error) {
	t.Helper()
	for o, err := range b.List(t.Context(), "", "") {
		if err != nil {
			return objects, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func read(t *testing.T, b *gcsblob.Bucket, key, version string, off, n int64) (string, blob.Info, error) {
	t.Helper()
	body, info, err := b.Open(t.Context(), key, version, off, n)
	if err != nil {
		return "", info, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), info, err
}

// bug streams-files-parser 51: predecessor, listing and reading told different times, and an object was read again and again
func TestModified_IsThatOfTheContent(t *testing.T) {
	mem, gcs := serve(t)
	at := time.Date(2031, 5, 6, 7, 8, 9, 123e6, time.UTC)
	mem.Put(memblob.Entry{Key: "k", Data: []byte("x"), Modified: at})
	mem.Put(memblob.Entry{Key: "l", Data: []byte("x"), Modified: at})
	mem.Put(memblob.Entry{Key: "m", Data: []byte("x"), Modified: at})
	now := at.Add(time.Hour).Truncate(time.Second)
	mem.Now = func() time.Time { now = now.Add(time.Second); return now }
	b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint()})
	look := func() {
		t.Helper()
		first := now.Add(time.Second)
		found, err := list(t, b)
		if err != nil || len(found) != 3 || !found[0].Modified.Equal(at) || !found[0].Listed.Equal(first) || !found[2].Listed.Equal(first) {
			t.Errorf("%+v, %v; the first answer was given %v", found, err, first)
		}
		if stat, err := b.Stat(t.Context(), "k"); err != nil || !stat.Modified.Equal(at) {
			t.Errorf("%+v, %v", stat, err)
		}
	}
	look()
	// Somebody edits labels, or moves the object into another class.
	gcs.Updated = at.Add(time.Minute)
	look()
	// Whole seconds, as reading tells them, are no time to compare with.
	if _, info, err := read(t, b, "k", "", 0, -1); err != nil || !info.Modified.IsZero() {
		t.Errorf("%+v, %v", info, err)
	}
}

// bug streams-files-parser 52: google-cloud-go #1743, #1800, #1734: objects with a content encoding are served decompressed
func TestOpen_ReadsAsStored(t *testing.T) {
	mem, gcs := serve(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(strings.Repeat("a,b\n", 1000)))
	z.Close()
	mem.Put(memblob.Entry{Key: "k.csv", Data: packed.Bytes(), ContentEncoding: "gzip", ContentType: "text/csv"})
	b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint()})
	text, info, err := read(t, b, "k.csv", "", 0, -1)
	if err != nil || text != packed.String() || info.Size != int64(packed.Len()) || info.ContentEncoding != "gzip" || info.ContentType != "text/csv" {
		t.Errorf("%d bytes of %d, %+v, %v", len(text), packed.Len(), info, err)
	}
	if text, _, err = read(t, b, "k.csv", info.Version, 10, 5); err != nil || text != packed.String()[10:15] {
		t.Errorf("%q, %v", text, err)
	}
	if stat, err := b.Stat(t.Context(), "k.csv"); err != nil || stat.ContentEncoding != "gzip" || stat.ContentType != "text/csv" {
		t.Errorf("%+v, %v", stat, err)
	}
}

func TestOpen_GoesOnWhereTheBodyBroke(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	for name, breaks := range map[string]gcstest.Answer{"cut": {Cut: 5000}, "cut before the first byte": {Cut: -1}, "stalled": {Stall: 5000}} {
		mem, gcs := serve(t)
		version := mem.Put(memblob.Entry{Key: "k", Data: data})
		var asked []string
		gcs.Script = func(r gcstest.Request) gcstest.Answer {
			asked = append(asked, r.Header.Get("Range")+" "+r.Query.Get("ifGenerationMatch"))
			if r.Number <= 3 {
				return breaks
			}
			return gcstest.Answer{}
		}
		b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint(), Patience: blob.Patience{Wait: time.Millisecond, Stall: 50 * time.Millisecond}})
		if text, _, err := read(t, b, "k", "", 0, -1); err != nil || text != string(data) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(text), len(data), err)
		}
		if len(asked) != 4 || asked[0] != " " || asked[3] != "bytes=15000-16383 "+version && breaks.Cut >= 0 {
			t.Errorf("%s: asked for %q", name, asked)
		}
	}
}

func TestOpen_TellsWhatHappenedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*memblob.Bucket)
		want    error
	}{
		"replaced": {func(mem *memblob.Bucket) { mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 100_000)}) }, blob.ErrChanged},
		"deleted":  {func(mem *memblob.Bucket) { mem.Delete("k") }, blob.ErrNotFound},
	} {
		mem, gcs := serve(t)
		mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 100_000)})
		gcs.Script = func(r gcstest.Request) gcstest.Answer {
			if r.Number > 1 {
				c.happens(mem)
				return gcstest.Answer{}
			}
			return gcstest.Answer{Cut: 50_000}
		}
		if text, _, err := read(t, open(t, gcsblob.Config{Endpoint: gcs.Endpoint()}), "k", "", 0, -1); !errors.Is(err, c.want) || len(text) != 50_000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
}

func TestOpen_GivesUpOnABodyThatAlwaysBreaks(t *testing.T) {
	mem, gcs := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 1000)})
	gcs.Script = func(gcstest.Request) gcstest.Answer { return gcstest.Answer{Cut: 1} }
	text, _, err := read(t, open(t, gcsblob.Config{Endpoint: gcs.Endpoint()}), "k", "", 0, -1)
	if protocol.KindOf(err) != protocol.Transient || len(text) != 6 || gcs.Requests(gcstest.Get) != 6 {
		t.Errorf("%d bytes after %d requests, %v", len(text), gcs.Requests(gcstest.Get), err)
	}
}

func TestOpen_ChecksTheSum(t *testing.T) {
	mem, gcs := serve(t)
	mem.Put(memblob.Entry{Key: "k", Data: []byte("0123456789")})
	for sum, right := range map[string]bool{"crc32c=KAwGng==": true, "crc32c=AAAAAA==": false} {
		gcs.Script = func(gcstest.Request) gcstest.Answer { return gcstest.Answer{Header: http.Header{"X-Goog-Hash": {sum}}} }
		if _, _, err := read(t, open(t, gcsblob.Config{Endpoint: gcs.Endpoint()}), "k", "", 0, -1); (err == nil) != right {
			t.Errorf("%s: %v", sum, err)
		}
	}
}

func TestOpen_RetriesWhatMayPass(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503, 408} {
		mem, gcs := serve(t)
		mem.Put(memblob.Entry{Key: "k", Data: []byte("x")})
		gcs.Script = func(r gcstest.Request) gcstest.Answer {
			if r.Number == 1 {
				return gcstest.Answer{Status: status}
			}
			return gcstest.Answer{}
		}
		b := open(t, gcsblob.Config{Endpoint: gcs.Endpoint()})
		if text, _, err := read(t, b, "k", "", 0, -1); text != "x" || err != nil {
			t.Errorf("%d, once: %q, %v", status, text, err)
		}
		if found, err := list(t, b); len(found) != 1 || err != nil {
			t.Errorf("%d, once: %v, %v", status, found, err)
		}
		gcs.Script = func(gcstest.Request) gcstest.Answer { return gcstest.Answer{Status: status} }
		b = open(t, gcsblob.Config{Endpoint: gcs.Endpoint(), Attempts: 2})
		if text, _, err := read(t, b, "k", "", 0, -1); text != "" || protocol.KindOf(err) != protocol.Transient {
			t.Errorf("%d, always: %q, %v", status, text, err)
		}
		if found, err := list(t, b); len(found) != 0 || protocol.KindOf(err) != protocol.Transient {
			t.Errorf("%d, always: %v, %v", status, found, err)
		}
	}
}

func TestList_RefusesAnotherOrder(t *testing.T) {
	mem, gcs := serve(t)
	for _, key := range []string{"a", "b", "c"} {
		mem.Put(memblob.Entry{Key: key})
	}
	gcs.Backwards = true
	if found, err := list(t, open(t, gcsblob.Config{Endpoint: gcs.Endpoint()})); err == nil || !strings.Contains(err.Error(), `"a" after "b"`) {
		t.Errorf("%v, %v", found, err)
	}
}
