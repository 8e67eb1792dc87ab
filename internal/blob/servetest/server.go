package servetest

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Op is what a request does.
type Op string

// The requests that are understood.
const (
	List Op = "list"
	Head Op = "head"
	Get  Op = "get"
)

// Request is one request, before it is answered.
type Request struct {
	Op     Op
	Number int    // of this Op, from 1
	Key    string // List: the prefix
	Header http.Header
	Query  url.Values
}

// Answer is what the script makes of a request. The zero Answer changes nothing.
type Answer struct {
	Status int    // instead of the right one
	Code   string // of the error, with Status
	Header http.Header
	Cut    int64 // the connection breaks after so many bytes of the body; −1: before the first
	Stall  int64 // after so many bytes of the body no more come until the client leaves
}

// Server is a service on loopback. Its fields are set before the first request.
type Server struct {
	Script    func(Request) Answer
	Latency   time.Duration // before each answer
	Bandwidth int64         // bytes per second of each connection; 0: no limit

	listener net.Listener
	http     *http.Server

	mu       sync.Mutex
	requests map[Op]int
	served   int64
}

// Start serves until Close. The handler must be no ServeMux: that one cleans paths, and keys are not paths.
func (s *Server) Start(handler http.Handler) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("starting a service on loopback: " + err.Error())
	}
	s.listener, s.requests = listener, map[Op]int{}
	s.http = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic("serving on loopback: " + err.Error())
		}
	}()
}

// Endpoint is the service's URL.
func (s *Server) Endpoint() string { return "http://" + s.listener.Addr().String() }

// Close ends all connections.
func (s *Server) Close() { s.http.Close() } //nolint:errcheck // nothing is lost in a fake

// Requests tells how many of a kind were answered.
func (s *Server) Requests(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[op]
}

// Served returns how many bytes of objects were sent.
func (s *Server) Served() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

// Begin counts a request, lets the latency pass and asks the script.
func (s *Server) Begin(w http.ResponseWriter, r *http.Request, op Op, key string) Answer {
	s.mu.Lock()
	s.requests[op]++
	request := Request{Op: op, Number: s.requests[op], Key: key, Header: r.Header, Query: r.URL.Query()}
	s.mu.Unlock()
	time.Sleep(s.Latency)
	if s.Script == nil {
		return Answer{}
	}
	answer := s.Script(request)
	for k, v := range answer.Header {
		w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	return answer
}
