package gcstest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/servetest"
)

type (
	// Op is what a request does.
	Op = servetest.Op
	// Request is what the script is asked about.
	Request = servetest.Request
	// Answer is what it says.
	Answer = servetest.Answer
)

// The requests that are understood.
const (
	List = servetest.List
	Head = servetest.Head
	Get  = servetest.Get
)

// Server answers for one bucket, whose versions must be numbers. Its fields are set before the first request.
type Server struct {
	servetest.Server
	Token     string // that requests must bear; empty: none is looked at. POST /token gives it out for any assertion
	Public    bool   // requests without a token may read, though Token is set
	BilledTo  string // the project that must be named, of a bucket whose requesters pay
	Denied    map[string]bool
	Updated   time.Time // of every object's metadata, if set: later than what was uploaded
	NoTokens  bool      // POST /token refuses
	Backwards bool      // pages come in the wrong order

	bucket *memblob.Bucket
}

// Start serves a bucket until Close.
func Start(bucket *memblob.Bucket) *Server {
	s := &Server{bucket: bucket}
	s.Server.Start(s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.bucket.Now().UTC().Format(http.TimeFormat))
	if r.URL.Path == "/token" && r.Method == http.MethodPost {
		s.token(w)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/storage/v1/b/")
	name, rest, _ := strings.Cut(rest, "/o")
	key, err := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	if !ok || err != nil || r.Method != http.MethodGet {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	q, op := r.URL.Query(), Head
	switch {
	case rest == "":
		op, key = List, q.Get("prefix")
	case q.Get("alt") == "media":
		op = Get
	}
	answer := s.Begin(w, r, op, key)
	bearer := r.Header.Get("Authorization")
	switch {
	case answer.Status != 0:
		fail(w, answer.Status, answer.Code)
	case s.Token != "" && !s.Public && bearer == "":
		fail(w, http.StatusUnauthorized, "Anonymous caller does not have storage.objects access to the bucket")
	case bearer != "" && bearer != "Bearer "+s.Token:
		fail(w, http.StatusUnauthorized, "Invalid Credentials")
	case name != s.bucket.Name:
		fail(w, http.StatusNotFound, "The specified bucket does not exist.")
	case s.BilledTo != "" && q.Get("userProject") == "":
		fail(w, http.StatusBadRequest, "Bucket is a requester pays bucket but no user project provided.")
	case s.BilledTo != "" && q.Get("userProject") != s.BilledTo, s.Denied[key]:
		fail(w, http.StatusForbidden, "The caller does not have permission")
	case op == List:
		s.list(w, q)
	default:
		s.object(w, r, op, key, answer)
	}
}

func (s *Server) token(w http.ResponseWriter) {
	if s.NoTokens {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`)
		return
	}
	write(w, map[string]any{"access_token": s.Token, "token_type": "Bearer", "expires_in": 3600})
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client has left
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message}}) //nolint:errcheck // the client has left
}

func (s *Server) list(w http.ResponseWriter, q url.Values) {
	// Page begins behind a key; the service begins at one.
	after, inclusive := q.Get("startOffset"), true
	if token := q.Get("pageToken"); token != "" {
		text, err := base64.URLEncoding.DecodeString(token)
		if err != nil {
			fail(w, http.StatusBadRequest, "Invalid page token")
			return
		}
		after, inclusive = string(text), false
	}
	items := []map[string]any{}
	size := s.bucket.PageSize
	if e, ok := s.bucket.Get(after); ok && inclusive && strings.HasPrefix(after, q.Get("prefix")) {
		items = append(items, s.describe(e))
		size--
	}
	page, more := s.bucket.Page(q.Get("prefix"), after, size)
	for _, e := range page {
		items = append(items, s.describe(e))
	}
	if s.Backwards && len(items) > 1 {
		items[0], items[1] = items[1], items[0]
	}
	out := map[string]any{"kind": "storage#objects", "items": items}
	if more {
		out["nextPageToken"] = base64.URLEncoding.EncodeToString([]byte(page[len(page)-1].Key))
	}
	write(w, out)
}

func (s *Server) describe(e memblob.Entry) map[string]any {
	updated := e.Modified
	if !s.Updated.IsZero() {
		updated = s.Updated
	}
	return map[string]any{
		"kind": "storage#object", "name": e.Key, "bucket": s.bucket.Name, "size": strconv.Itoa(len(e.Data)), "generation": e.Version, "metageneration": "1",
		"timeCreated": e.Modified.Format(time.RFC3339Nano), "updated": updated.Format(time.RFC3339Nano), "storageClass": or(e.Class, "STANDARD"),
		"contentType": or(e.ContentType, "application/octet-stream"), "contentEncoding": e.ContentEncoding,
	}
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, op Op, key string, answer Answer) {
	e, ok := s.bucket.Get(key)
	q := r.URL.Query()
	switch match := q.Get("ifGenerationMatch"); {
	case !ok || q.Get("generation") != "" && q.Get("generation") != e.Version:
		fail(w, http.StatusNotFound, "No such object: "+s.bucket.Name+"/"+key)
		return
	case match != "" && match != e.Version:
		fail(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		return
	case op == Head:
		write(w, s.describe(e))
		return
	}
	h := w.Header()
	h.Set("X-Goog-Generation", e.Version)
	h.Set("X-Goog-Metageneration", "1")
	h.Set("X-Goog-Stored-Content-Length", strconv.Itoa(len(e.Data)))
	h.Set("X-Goog-Stored-Content-Encoding", or(e.ContentEncoding, "identity"))
	h.Set("Last-Modified", e.Modified.Format(http.TimeFormat))
	h.Set("Content-Type", or(e.ContentType, "application/octet-stream"))
	if e.ContentEncoding == "gzip" && !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		s.transcode(w, r, e, answer)
		return
	}
	if e.ContentEncoding != "" {
		h.Set("Content-Encoding", e.ContentEncoding)
	}
	body, status := e.Data, http.StatusOK
	if asked := r.Header.Get("Range"); asked != "" {
		from, to, ok := servetest.ParseRange(asked, int64(len(e.Data)))
		if !ok {
			fail(w, http.StatusRequestedRangeNotSatisfiable, "The requested range cannot be satisfied.")
			return
		}
		body, status = e.Data[from:to], http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(e.Data)))
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	s.Send(w, r, body, answer)
}

// transcode sends an object decompressed and whole.
func (s *Server) transcode(w http.ResponseWriter, r *http.Request, e memblob.Entry, answer Answer) {
	z, err := gzip.NewReader(bytes.NewReader(e.Data))
	if err != nil {
		fail(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		fail(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.Header().Set("Warning", "214 UploadServer gunzipped")
	s.Send(w, r, plain, answer)
}
