package servetest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ParseRange understands bytes=a-b and bytes=a-; to is exclusive. ok is false where no byte is in it: 416.
func ParseRange(text string, size int64) (from, to int64, ok bool) {
	first, last, _ := strings.Cut(strings.TrimPrefix(text, "bytes="), "-")
	from, err := strconv.ParseInt(first, 10, 64)
	to = size
	if err == nil && last != "" {
		to, err = strconv.ParseInt(last, 10, 64)
		to = min(to+1, size)
	}
	return from, to, err == nil && from < size && from < to
}

// slice is how often a connection with a bandwidth sends.
const slice = 20 * time.Millisecond

// Send writes a body as script and bandwidth want it.
func (s *Server) Send(w http.ResponseWriter, r *http.Request, body []byte, answer Answer) {
	whole := len(body)
	switch {
	case answer.Cut < 0:
		body = nil
	case answer.Cut > 0:
		body = body[:min(answer.Cut, int64(whole))]
	case answer.Stall > 0:
		body = body[:min(answer.Stall, int64(whole))]
	}
	s.mu.Lock()
	s.served += int64(len(body))
	s.mu.Unlock()
	start, sent := time.Now(), 0
	for sent < len(body) {
		piece := body[sent:]
		if s.Bandwidth > 0 {
			piece = piece[:min(len(piece), int(max(1, s.Bandwidth*int64(slice)/int64(time.Second))))]
			time.Sleep(time.Until(start.Add(time.Duration(int64(sent+len(piece)) * int64(time.Second) / s.Bandwidth))))
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		sent += len(piece)
	}
	if len(body) == whole && answer.Cut == 0 {
		return
	}
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	if answer.Stall > 0 {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler) // closes the connection
}
