package apply

import (
	"sync"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/pipeline"
	"github.com/estuary/connectors/testsupport/proxy"
)

// cut is how an apply is cut short at a statement.
type cut string

const (
	killed  cut = "killed before"     // the process, with SIGKILL, and the statement is not passed on
	severed cut = "connection cut at" // the statement is not passed on either, and the process learns that its connection is gone
	unheard cut = "answer lost of"    // the server does the statement, and the connection is cut before its answer
)

// gate is the way to a server. It counts the statements of one apply and cuts it short.
type gate struct {
	*proxy.Proxy

	mu    sync.Mutex
	seen  []string // statements since arm
	at    int      // from 1; 0: never
	how   cut
	kill  func() error
	fired bool
}

func newGate(t *testing.T, c *pgtest.Cluster) *gate {
	t.Helper()
	g := &gate{}
	p, err := proxy.New(c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	g.Proxy = p
	p.OnStatement(g.statement)
	t.Cleanup(p.Close)
	return g
}

// config is the connector's, through the gate.
func (g *gate) config(c *pgtest.Cluster, database string) map[string]any {
	config := pipeline.Materialize(c, g.Addr(), database)
	config["schema"] = schema
	return config
}

// arm counts anew; at 0 nothing is cut.
func (g *gate) arm(at int, how cut, kill func() error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen, g.at, g.how, g.kill, g.fired = nil, at, how, kill, false
}

// counted returns the statements since arm, and whether one of them was cut short.
func (g *gate) counted() ([]string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen, g.fired
}

// statement comes before each one, and tells whether it is passed on.
func (g *gate) statement(sql string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, sql)
	if len(g.seen) != g.at {
		return true
	}
	g.fired = true
	switch g.how {
	case killed:
		_ = g.kill() // that it did is seen at its end
		return false
	case unheard:
		g.CutAfter(0)
		return true
	default:
		return false
	}
}
