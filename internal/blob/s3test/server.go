package s3test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"

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

// Server answers for one bucket. Its fields are set before the first request.
type Server struct {
	servetest.Server
	Region        string            // us-east-1; requests signed for another are told so
	Secrets       map[string]string // access key → secret; nil: signatures are not looked at
	Public        bool              // unsigned requests may read, though Secrets are set
	SessionTokens map[string]string // access key → the token that must come with it
	RequesterPays bool
	Denied        map[string]bool // keys that answer 403
	Quirks        Quirks

	bucket *memblob.Bucket
}

// Quirks are things that compatible stores do otherwise.
type Quirks struct {
	Terse       bool // listings tell nothing of the request: no Prefix, KeyCount, StartAfter
	PlainKeys   bool // encoding-type is not known
	EmptyPages  bool // every other page is empty
	SameToken   bool // the same page and token again and again
	WholeBodies bool // Range is not known
}

// Start serves a bucket until Close.
func Start(bucket *memblob.Bucket) *Server {
	s := &Server{Region: "us-east-1", bucket: bucket}
	s.Server.Start(s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.bucket.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("x-amz-bucket-region", s.Region)
	w.Header().Set("Server", "s3test")
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	key, err := url.PathUnescape(rest)
	op := Get
	switch {
	case err != nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
		fail(w, r, http.StatusMethodNotAllowed, "MethodNotAllowed")
		return
	case key == "" && r.URL.Query().Get("list-type") == "2":
		op, key = List, r.URL.Query().Get("prefix")
	case r.Method == http.MethodHead:
		op = Head
	}
	answer := s.Begin(w, r, op, key)
	switch code, status := s.admit(r); {
	case answer.Status != 0:
		fail(w, r, answer.Status, answer.Code)
	case status != 0:
		fail(w, r, status, code)
	case name != s.bucket.Name:
		fail(w, r, http.StatusNotFound, "NoSuchBucket")
	case s.RequesterPays && r.Header.Get("X-Amz-Request-Payer") != "requester":
		fail(w, r, http.StatusForbidden, "AccessDenied")
	case op == List:
		s.list(w, r)
	default:
		s.object(w, r, key, answer)
	}
}

// fail answers an error; HEAD has no body, as everywhere.
func fail(w http.ResponseWriter, r *http.Request, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method == http.MethodHead || code == "" {
		return
	}
	writeXML(w, struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: code + " by script or by rule"})
}

func writeXML(w http.ResponseWriter, v any) {
	text, err := xml.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Write([]byte(xml.Header)) //nolint:errcheck // the client has left
	w.Write(text)               //nolint:errcheck // the client has left
}
