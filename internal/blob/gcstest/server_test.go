package gcstest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/blob/gcstest"
	"github.com/estuary/connectors/internal/blob/memblob"
)

// What the service answers to whoever does not know it by its library.
func TestServer_AnswersAsTheService(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("plain text"))
	z.Close()
	mem := memblob.New("bucket")
	mem.PageSize = 2
	for _, key := range []string{"a", "b/c", "d"} {
		mem.Put(memblob.Entry{Key: key, Data: []byte("0123456789"), Version: "17"})
	}
	mem.Put(memblob.Entry{Key: "z", Data: packed.Bytes(), Version: "18", ContentEncoding: "gzip"})
	gcs := gcstest.Start(mem)
	defer gcs.Close()
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for _, c := range []struct {
		path   string
		header [2]string
		status int
		answer string // header: value, or a part of the body
	}{
		{"b/bucket/o/a", [2]string{}, 200, `"generation":"17"`},
		{"b/bucket/o/b%2Fc?alt=media", [2]string{}, 200, "0123456789"},
		{"b/bucket/o/b%2Fc?alt=media", [2]string{}, 200, "X-Goog-Generation: 17"},
		{"b/bucket/o/a?alt=media", [2]string{"Range", "bytes=2-3"}, 206, "Content-Range: bytes 2-3/10"},
		{"b/bucket/o/a?alt=media", [2]string{"Range", "bytes=10-"}, 416, "range"},
		{"b/bucket/o/a?alt=media&ifGenerationMatch=16", [2]string{}, 412, "pre-conditions"},
		{"b/bucket/o/a?alt=media&generation=16", [2]string{}, 404, "No such object"},
		{"b/bucket/o/none?alt=media&ifGenerationMatch=16", [2]string{}, 404, "No such object"},
		{"b/other/o/a", [2]string{}, 404, "bucket does not exist"},
		{"b/bucket/o/a", [2]string{"Authorization", "Bearer x"}, 401, "Invalid Credentials"},
		{"b/bucket/o/z?alt=media", [2]string{"Accept-Encoding", "gzip"}, 200, "Content-Encoding: gzip"},
		{"b/bucket/o/z?alt=media", [2]string{"Range", "bytes=2-3"}, 200, "plain text"},
		{"b/bucket/o/z?alt=media", [2]string{}, 200, "Warning: 214"},
		{"b/bucket/o", [2]string{}, 200, "nextPageToken"},
		{"b/bucket/o?startOffset=b/c", [2]string{}, 200, `"name":"b/c"`},
		{"b/bucket/o?startOffset=b/c&prefix=d", [2]string{}, 200, `"name":"d"`},
		{"b/bucket/o?pageToken=%25", [2]string{}, 400, "page token"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gcs.Endpoint()+"/storage/v1/"+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		answer, err := client.Do(r)
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
			t.Errorf("%s %q: %d\n%s\nwant %d, %q", c.path, c.header, answer.StatusCode, all, c.status, c.answer)
		}
	}
}
