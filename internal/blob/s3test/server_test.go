package s3test_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/s3test"
)

// What the service answers to whoever does not know it by its SDK. A fake that is too kind lets clients pass that the service refuses.
func TestServer_AnswersAsS3(t *testing.T) {
	mem := memblob.New("bucket")
	mem.PageSize = 2
	mem.Now = func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	for _, key := range []string{"a", "a\x01 +/b", "c"} {
		mem.Put(memblob.Entry{Key: key, Data: []byte("0123456789"), Version: "v1"})
	}
	mem.Put(memblob.Entry{Key: "cold", Data: []byte("x"), Version: "v1", Class: "GLACIER", Archived: true})
	s3 := s3test.Start(mem)
	defer s3.Close()
	for _, c := range []struct {
		method, path string
		header       [2]string
		status       int
		answer       string // header: value, or a part of the body
	}{
		{"GET", "/bucket/a", [2]string{}, 200, "Date: Wed, 02 Jan 2030 03:04:05 GMT"},
		{"GET", "/bucket/a", [2]string{}, 200, `Etag: "v1"`},
		{"GET", "/bucket/a", [2]string{"Range", "bytes=2-3"}, 206, "Content-Range: bytes 2-3/10"},
		{"GET", "/bucket/a", [2]string{"Range", "bytes=2-3"}, 206, "23"},
		{"GET", "/bucket/a", [2]string{"Range", "bytes=8-99"}, 206, "Content-Range: bytes 8-9/10"},
		{"GET", "/bucket/a", [2]string{"Range", "bytes=10-"}, 416, "InvalidRange"},
		{"GET", "/bucket/a", [2]string{"If-Match", `"v0"`}, 412, "PreconditionFailed"},
		{"GET", "/bucket/a", [2]string{"If-Match", `"v1"`}, 200, "0123456789"},
		{"HEAD", "/bucket/a", [2]string{"If-Match", `"v0"`}, 412, ""},
		{"GET", "/bucket/none", [2]string{"If-Match", `"v1"`}, 404, "NoSuchKey"},
		{"GET", "/bucket/a%01%20%2B/b", [2]string{}, 200, "0123456789"},
		{"GET", "/bucket/a%01+%2B/b", [2]string{}, 404, "NoSuchKey"},
		{"GET", "/bucket//a", [2]string{}, 404, "NoSuchKey"},
		{"GET", "/other/a", [2]string{}, 404, "NoSuchBucket"},
		{"GET", "/bucket/cold", [2]string{}, 403, "InvalidObjectState"},
		{"HEAD", "/bucket/cold", [2]string{}, 200, "X-Amz-Storage-Class: GLACIER"},
		{"PUT", "/bucket/a", [2]string{}, 405, "MethodNotAllowed"},
		{"GET", "/bucket?list-type=2&prefix=a", [2]string{}, 200, "<Key>a\uFFFD +/b</Key>"}, // XML cannot carry it
		{"GET", "/bucket?list-type=2&prefix=a&encoding-type=url", [2]string{}, 200, "<Key>a%01+%2B/b</Key>"},
		{"GET", "/bucket?list-type=2&max-keys=1", [2]string{}, 200, "<KeyCount>1</KeyCount>"},
		{"GET", "/bucket?list-type=2", [2]string{}, 200, "<IsTruncated>true</IsTruncated>"},
		{"GET", "/bucket?list-type=2&start-after=c", [2]string{}, 200, "<IsTruncated>false</IsTruncated>"},
		{"GET", "/bucket?list-type=2&continuation-token=x", [2]string{}, 400, "InvalidArgument"},
		{"GET", "/bucket/a", [2]string{"Authorization", "AWS4-HMAC-SHA256 Credential=AK/20300102/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=" + strings.Repeat("0", 64)}, 400, "X-Amz-Bucket-Region: us-east-1"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s3.Endpoint()+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		all := string(body)
		for name, values := range answer.Header {
			all += "\n" + name + ": " + strings.Join(values, ", ")
		}
		if answer.StatusCode != c.status || !strings.Contains(all, c.answer) {
			t.Errorf("%s %s %q: %d\n%s\nwant %d, %q", c.method, c.path, c.header, answer.StatusCode, all, c.status, c.answer)
		}
	}
}

func TestServer_HoldsItsBandwidth(t *testing.T) {
	mem := memblob.New("bucket")
	mem.Put(memblob.Entry{Key: "k", Data: make([]byte, 100_000)})
	s3 := s3test.Start(mem)
	s3.Bandwidth, s3.Latency = 1_000_000, 20*time.Millisecond
	defer s3.Close()
	start := time.Now()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s3.Endpoint()+"/bucket/k", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); n != 100_000 || err != nil || time.Since(start) < 110*time.Millisecond {
		t.Errorf("%d bytes in %v, %v", n, time.Since(start), err)
	}
	if s3.Served() != 100_000 || s3.Requests(s3test.Get) != 1 {
		t.Errorf("%d bytes in %d requests", s3.Served(), s3.Requests(s3test.Get))
	}
}
