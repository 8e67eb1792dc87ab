package s3test

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/servetest"
)

// object answers HeadObject and GetObject: 403, 404, 412, InvalidObjectState, 416, in S3's order.
func (s *Server) object(w http.ResponseWriter, r *http.Request, key string, answer Answer) {
	e, ok := s.bucket.Get(key)
	switch match := r.Header.Get("If-Match"); {
	case s.Denied[key]:
		fail(w, r, http.StatusForbidden, "AccessDenied")
		return
	case !ok:
		fail(w, r, http.StatusNotFound, "NoSuchKey")
		return
	case match != "" && match != `"`+e.Version+`"`:
		fail(w, r, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	case e.Archived && r.Method == http.MethodGet:
		fail(w, r, http.StatusForbidden, "InvalidObjectState")
		return
	}
	body, status := e.Data, http.StatusOK
	if asked := r.Header.Get("Range"); asked != "" && !s.Quirks.WholeBodies {
		from, to, ok := servetest.ParseRange(asked, int64(len(e.Data)))
		if !ok {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", len(e.Data)))
			fail(w, r, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		body, status = e.Data[from:to], http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(e.Data)))
	}
	s.describe(w.Header(), e)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		s.Send(w, r, body, answer)
	}
}

func (s *Server) describe(h http.Header, e memblob.Entry) {
	h.Set("Accept-Ranges", "bytes")
	h.Set("ETag", `"`+e.Version+`"`)
	h.Set("Last-Modified", e.Modified.UTC().Format(http.TimeFormat))
	h.Set("Content-Type", "binary/octet-stream")
	if e.ContentType != "" {
		h.Set("Content-Type", e.ContentType)
	}
	if e.ContentEncoding != "" {
		h.Set("Content-Encoding", e.ContentEncoding)
	}
	if e.Class == "INTELLIGENT_TIERING" && e.Archived {
		h.Set("x-amz-archive-status", "ARCHIVE_ACCESS")
	}
	if e.Class != "" && e.Class != "STANDARD" {
		h.Set("x-amz-storage-class", e.Class)
	}
	if e.Restored {
		h.Set("x-amz-restore", `ongoing-request="false", expiry-date="`+s.bucket.Now().Add(48*time.Hour).UTC().Format(http.TimeFormat)+`"`)
	}
}
