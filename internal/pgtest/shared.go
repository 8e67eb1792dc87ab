package pgtest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared holds one cluster per version for all tests of a package. Each is started when the first test asks for it.
type Shared struct {
	Options Options // its Version is not used

	mu       sync.Mutex
	clusters map[int]*Cluster
}

// Run runs the tests and then stops the clusters. It is the whole body of a TestMain.
func (s *Shared) Run(m *testing.M) {
	code := m.Run()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clusters {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	if code != 0 {
		os.Exit(code)
	}
}

// Cluster returns the package's cluster of a version (0: DefaultVersion).
func (s *Shared) Cluster(tb testing.TB, version int) *Cluster {
	tb.Helper()
	o := s.Options
	o.Version = version
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clusters[o.version()]; c != nil {
		return c
	}
	c, err := New(o)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	if s.clusters == nil {
		s.clusters = map[int]*Cluster{}
	}
	s.clusters[o.version()] = c
	return c
}
