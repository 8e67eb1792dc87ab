package s3test

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type listing struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string   `xml:",omitempty"`
	Prefix                *string
	StartAfter            string `xml:",omitempty"`
	EncodingType          string `xml:",omitempty"`
	KeyCount              *int
	MaxKeys               int    `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	IsTruncated           bool
	Contents              []content
}

type content struct {
	Key           string
	LastModified  string
	ETag          string
	Size          int
	StorageClass  string
	RestoreStatus *restoreStatus
}

type restoreStatus struct {
	IsRestoreInProgress bool
	RestoreExpiryDate   string
}

// list answers ListObjectsV2. A token holds the last key and the number of the page, as nobody outside may know.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, number := q.Get("start-after"), 1
	if token := q.Get("continuation-token"); token != "" {
		text, err := base64.URLEncoding.DecodeString(token)
		count, last, ok := strings.Cut(string(text), " ")
		if number, _ = strconv.Atoi(count); err != nil || !ok {
			fail(w, r, http.StatusBadRequest, "InvalidArgument")
			return
		}
		after = last
	}
	encode := func(key string) string { return key }
	out := listing{Name: s.bucket.Name}
	if q.Get("encoding-type") == "url" && !s.Quirks.PlainKeys {
		out.EncodingType = "url"
		encode = func(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "%2F", "/") }
	}
	size := s.bucket.PageSize
	if most, err := strconv.Atoi(q.Get("max-keys")); err == nil {
		size = min(size, most)
	}
	if !s.Quirks.EmptyPages || number%2 == 0 {
		page, more := s.bucket.Page(q.Get("prefix"), after, size)
		for _, e := range page {
			c := content{
				Key: encode(e.Key), LastModified: e.Modified.UTC().Format("2006-01-02T15:04:05.000Z"), ETag: `"` + e.Version + `"`, Size: len(e.Data), StorageClass: e.Class,
			}
			if c.StorageClass == "" {
				c.StorageClass = "STANDARD"
			}
			if strings.Contains(r.Header.Get("X-Amz-Optional-Object-Attributes"), "RestoreStatus") && e.Restored {
				c.RestoreStatus = &restoreStatus{RestoreExpiryDate: s.bucket.Now().Add(48 * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z")}
			}
			out.Contents = append(out.Contents, c)
			after = e.Key
		}
		out.IsTruncated = more
	} else {
		out.IsTruncated = true
	}
	if s.Quirks.SameToken {
		out.IsTruncated, number = true, 0
		after = ""
		out.Contents = nil
	}
	if out.IsTruncated {
		out.NextContinuationToken = base64.URLEncoding.EncodeToString([]byte(strconv.Itoa(number+1) + " " + after))
	}
	if !s.Quirks.Terse {
		prefix, count := encode(q.Get("prefix")), len(out.Contents)
		out.Prefix, out.KeyCount, out.MaxKeys = &prefix, &count, size
		out.StartAfter, out.ContinuationToken = encode(q.Get("start-after")), q.Get("continuation-token")
	}
	w.Header().Set("Content-Type", "application/xml")
	writeXML(w, out)
}
