package pipeline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/compare"
)

var servers pgtest.Shared

// TestMain runs more tests at a time than there are processors: most of the time is a runner's back-off.
func TestMain(m *testing.M) {
	flag.Parse()
	err := UseMemory()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		err = errors.Join(err, n.Value.Set("4"))
	}
	if err != nil {
		panic(err)
	}
	servers.Run(m)
}

// patience bounds every wait; it only has to be longer than a slow machine takes.
const patience = 90 * time.Second

// rig is a pipeline from one database into another.
type rig struct {
	t       *testing.T
	cluster *pgtest.Cluster
	program string
	path    string // of the file
	file    File
	source  string // database
	sink    string
	left    *pgx.Conn
	right   *pgx.Conn
	process *binary.Process // nil: it does not run
	said    string          // what runs that have ended wrote to stderr
}

// newRig makes two databases, and a pipeline of all tables in schema public between them. The file is written by write, so that it can be changed before.
func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigFrom(t, servers.Cluster(t, 15).NewDatabase(t))
}

// newRigFrom makes one that reads a database that is there already.
func newRigFrom(t *testing.T, source string) *rig {
	t.Helper()
	c := servers.Cluster(t, 15)
	r := &rig{t: t, cluster: c, program: binary.Build(t, "pipeline"), path: filepath.Join(t.TempDir(), "copy.yaml"), source: source, sink: c.NewDatabase(t)}
	r.left, r.right = r.connect(r.source), r.connect(r.sink)
	r.file = File{
		Source:  Side{binary.Build(t, "source-postgres"), Capture(c, r.source, map[string]any{"slotName": "slot_" + r.source})},
		Sink:    Side{binary.Build(t, "materialize-postgres"), Materialize(c, "", r.sink)},
		Streams: Streams("public.*"),
	}
	t.Cleanup(func() {
		if r.process != nil {
			_ = r.process.Kill() // a test that failed has left it
			_, _ = r.process.Wait(patience)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(r.path), lastOf(r.said))
		}
	})
	return r
}

// causes are the lines of a log that tell what went wrong, the most telling first; the last is a last word that is no log line.
var causes = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^.*(?:met a bug|panic: ).*$`), regexp.MustCompile(`(?m)^.*"level":"(?:error|fatal)".*$`), regexp.MustCompile(`(?m)^[^{\s].*$`),
}

// lastOf is the end of a log. What went wrong comes first: whoever prints it may cut it, and forty lines of progress may follow the cause.
func lastOf(s string) string {
	cause := ""
	for _, c := range causes {
		if found := c.FindAllString(s, -1); len(found) > 0 && !strings.Contains(cause, found[len(found)-1]) {
			cause += fmt.Sprintf("%.1500s\n", found[len(found)-1])
		}
	}
	if cause != "" {
		cause += "the end of the log:\n"
	}
	return cause + s[max(0, len(s)-6000):]
}

func (r *rig) connect(database string) *pgx.Conn {
	r.t.Helper()
	conn, err := pgx.Connect(context.Background(), r.cluster.DSN(database))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (r *rig) write() {
	r.t.Helper()
	if err := r.file.Write(r.path); err != nil {
		r.t.Fatal(err)
	}
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%.100s: %v", sql, err)
		}
	}
}

// one returns the only value of a query as text; "": there is no such row, or no such table yet.
func one(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	var v *string
	err := conn.QueryRow(context.Background(), sql).Scan(&v)
	var missing interface{ SQLState() string }
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &missing) && (missing.SQLState() == "42P01" || missing.SQLState() == "42703") {
		return ""
	}
	if err != nil {
		t.Fatalf("%.100s: %v", sql, err)
	}
	if v == nil {
		return "NULL"
	}
	return *v
}

// start runs the pipeline until it is stopped.
func (r *rig) start() {
	r.t.Helper()
	var err error
	if r.process, err = binary.Start(binary.Command{Path: r.program, Args: []string{"run", r.path}}); err != nil {
		r.t.Fatal(err)
	}
}

// ended waits for the end of the run.
func (r *rig) ended() binary.Exit {
	r.t.Helper()
	exit, err := r.process.Wait(patience)
	r.process = nil
	r.said += exit.Stderr
	if err != nil {
		r.t.Fatal(err)
	}
	return exit
}

// stop ends the run at its next checkpoint.
func (r *rig) stop() {
	r.t.Helper()
	if err := r.process.Signal(os.Interrupt); err != nil {
		r.t.Fatal(err)
	}
	if exit := r.ended(); exit.Code != 0 {
		r.t.Fatalf("a pipeline that was asked to stop ended with code %d: %s", exit.Code, lastOf(exit.Stderr))
	}
}

// once runs the pipeline until it has caught up.
func (r *rig) once() {
	r.t.Helper()
	if out, code := r.command("run", r.path, "--once"); code != 0 {
		r.t.Fatalf("run --once ended with code %d: %s", code, lastOf(out))
	}
}

// command runs pipeline with arguments and returns all that it printed, stdout first.
func (r *rig) command(args ...string) (out string, code int) {
	r.t.Helper()
	p, err := binary.Start(binary.Command{Path: r.program, Args: args})
	if err != nil {
		r.t.Fatal(err)
	}
	lines, err := p.Drain()
	if err != nil {
		r.t.Fatal(err)
	}
	exit, err := p.Wait(patience)
	if err != nil {
		r.t.Fatalf("pipeline %s: %v: %s", strings.Join(args, " "), err, lastOf(exit.Stderr))
	}
	for _, line := range lines {
		out += string(line) + "\n"
	}
	return out + exit.Stderr, exit.Code
}

// until asks again and again; a pipeline that has ended meanwhile is an error.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if r.process != nil && !r.process.Alive() {
			exit := r.ended()
			r.t.Fatalf("waiting for %s: the pipeline ended with code %d, signal %d: %s", what, exit.Code, exit.Signal, lastOf(exit.Stderr))
		}
		if time.Now().After(deadline) {
			said := ""
			if r.process != nil {
				said = lastOf(r.process.Stderr())
			}
			r.t.Fatalf("waiting for %s: not within %s: %s", what, patience, said)
		}
	}
}

// equal compares tables of schema public of both sides by their keys.
func (r *rig) equal(key []string, tables ...string) {
	r.t.Helper()
	for _, table := range tables {
		r.same(compare.Table(context.Background(), r.left, compare.Name{Schema: "public", Table: table}, r.right, compare.Name{Schema: "public", Table: table}, key))
	}
}

func (r *rig) same(result compare.Result, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range result.Differences {
		r.t.Error(d)
	}
}
