package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/pipeline"
)

var servers pgtest.Shared

func TestMain(m *testing.M) {
	if err := pipeline.UseMemory(); err != nil {
		panic(err)
	}
	servers.Run(m)
}

// stage is a destination as it was before a change, of which each cut gets a copy, and one that was made from scratch.
type stage struct {
	*evolution
	t        *testing.T
	cluster  *pgtest.Cluster
	last     string            // program of the applies that finish; empty: the same
	template string            // database that is as it was before the change
	restore  string            // makes another one so, of which these are left
	free     chan string       // by tests that have ended
	scratch  string            // database that was made from scratch
	before   map[string]string // catalog of the template
	want     map[string]string // catalog in the end
	rows     map[string]string // what kept and the rows of before say in the end
	full     map[string]string // rows of scratch, whose tables hold a document each
}

func newStage(t *testing.T, program string, e *evolution) *stage {
	t.Helper()
	c := servers.Cluster(t, pgtest.DefaultVersion)
	s := &stage{evolution: e, t: t, cluster: c, template: c.NewDatabase(t), scratch: c.NewDatabase(t), free: make(chan string, 100)}
	none := func(*table) bool { return false }
	if e.from != nil {
		first := start(t, program, newGate(t, c).config(c, s.template))
		first.validate(nil, e.from)
		first.mustApply(nil, e.from)
		s.exec(e.user)
		first.store(e.from, none)
		first.end()
		s.exec(e.late)
	}
	s.learn()
	fresh := start(t, program, newGate(t, c).config(c, s.scratch))
	fresh.validate(nil, e.to)
	fresh.mustApply(nil, e.to)
	fresh.store(e.to, none)
	fresh.end()
	s.want = pairs(t, c, s.scratch, catalogQuery)
	maps.Copy(s.want, e.edits)
	s.full = pairs(t, c, s.scratch, rowsQuery(e.to, everything))
	s.rows = pairs(t, c, s.scratch, rowsQuery(e.to[:1], s.stay))
	maps.Copy(s.rows, keptRows)
	return s
}

func (s *stage) exec(statements []string) {
	s.t.Helper()
	for _, sql := range statements {
		if err := s.cluster.Exec(s.template, sql); err != nil {
			s.t.Fatal(err)
		}
	}
}

// learn reads how to make another database like the template, and tries it.
func (s *stage) learn() {
	s.t.Helper()
	rows, err := s.cluster.Query(s.template, restoreQuery)
	if err != nil {
		s.t.Fatal(err)
	}
	s.restore = rows[0][0]
	database, back := s.take(s.t)
	defer back()
	s.before = pairs(s.t, s.cluster, s.template, catalogQuery)
	for _, d := range compare("the restored database", pairs(s.t, s.cluster, database, catalogQuery), s.before) {
		s.t.Fatal(d)
	}
}

// take returns a database that is as it was before the change, and what gives it back.
func (s *stage) take(t *testing.T) (database string, back func()) {
	t.Helper()
	select {
	case database = <-s.free:
	default:
		database = s.cluster.NewDatabase(s.t)
	}
	if err := s.cluster.Exec(database, "DROP SCHEMA IF EXISTS lake, second CASCADE; "+s.restore); err != nil {
		t.Fatal(err)
	}
	return database, func() { s.free <- database }
}

// played is what became of one apply that was cut short, and of the next one.
type played struct {
	statements []string // those of the first apply
	fired      bool     // it was cut short
	different  []string // what is not as it has to be in the end
}

// play cuts one apply short at a statement, lets the next one finish, and looks at everything.
func (s *stage) play(t *testing.T, program string, at int, how cut, fill bool) (p played) {
	t.Helper()
	database, back := s.take(t)
	defer back()
	g := newGate(t, s.cluster)
	first := start(t, program, g.config(s.cluster, database))
	g.arm(at, how, first.process.Kill)
	description, err := first.apply(s.from, s.to)
	p.statements, p.fired = g.counted()
	g.arm(0, "", nil)
	switch {
	case p.fired && err == nil:
		t.Fatalf("an apply whose statement %d was cut short is answered: %s", at, description)
	case p.fired:
		if err := first.cutShort(how); err != nil {
			t.Error(err)
		}
	case err != nil:
		exit, _ := first.process.Wait(patience)
		t.Fatalf("an apply that nobody disturbed: %v: %s", err, exit.Stderr)
	default:
		first.end()
	}
	if p.fired && looks(p.statements[at-1]) && !slices.ContainsFunc(p.statements[:at-1], func(sql string) bool { return !looks(sql) }) { // nothing was changed yet
		p.different = compare("after a look", pairs(t, s.cluster, database, catalogQuery), s.before)
		return p
	}
	if s.last != "" {
		program = s.last
	}
	p.different = s.finish(t, program, g, database, fill)
	return p
}

// finish applies again and returns what is different from a destination that was made from scratch, from what a user had, and from what doing nothing leaves.
func (s *stage) finish(t *testing.T, program string, g *gate, database string, fill bool) []string {
	t.Helper()
	last := start(t, program, g.config(s.cluster, database))
	last.validate(s.from, s.to)
	last.mustApply(s.from, s.to)
	if different := compare("in the end", pairs(t, s.cluster, database, catalogQuery), s.want); different != nil {
		return different
	}
	before := pairs(t, s.cluster, database, fingerprintQuery)
	if description := last.mustApply(s.to, s.to); description != "" {
		return []string{"an apply that has nothing to do says that it did " + description}
	}
	queries := []string{fingerprintQuery}
	want := before
	if s.from != nil {
		queries, want = append(queries, kept, rowsQuery(s.to[:1], s.stay)), maps.Clone(before)
		maps.Copy(want, s.rows)
	}
	different := compare("after an apply that has nothing to do", pairs(t, s.cluster, database, queries...), want)
	if fill { // the tables take the documents that those from scratch took
		last.validate(s.to, s.to)
		last.store(s.to, func(b *table) bool { return s.from != nil && (b.name == "wide" || b.name == "same") })
		different = append(different, compare("after a transaction", pairs(t, s.cluster, database, rowsQuery(s.to, everything)), s.full)...)
	}
	last.end()
	return different
}

// stay are the fields of the widened table that hold the same as before, in whatever form.
func (s *stage) stay(*table) []string { return s.same }

// looks tells that a statement changes nothing.
func looks(sql string) bool { return strings.HasPrefix(strings.TrimSpace(sql), "SELECT") }

// everywhere cuts an apply at each of its statements: before it, and before its answer.
func (s *stage) everywhere(t *testing.T, program string, ways func(n int, sql string) []cut, wanted ...string) {
	t.Helper()
	untouched := s.play(t, program, 0, "", true)
	for _, d := range untouched.different {
		t.Fatal(d)
	}
	all := strings.Join(untouched.statements, "\n")
	for _, step := range wanted {
		if !strings.Contains(all, step) {
			t.Errorf("the test does not bite: nothing has %q: %s", step, all)
		}
	}
	cuts := 0
	t.Run("cut", func(t *testing.T) {
		for i, sql := range untouched.statements {
			for _, how := range ways(i, sql) {
				cuts++
				t.Run(fmt.Sprintf("%s %d", how, i+1), func(t *testing.T) {
					t.Parallel()
					p := s.play(t, program, i+1, how, how == unheard)
					if !p.fired {
						t.Error("it was not cut short")
					}
					for _, d := range p.different {
						t.Errorf("%s: %s", sql, d)
					}
				})
			}
		}
	})
	t.Logf("%d statements, %d applies cut short", len(untouched.statements), cuts)
}

// Each step is cut short before it is done, which is after the one before, and every other one before its answer is heard; what only looks, in one way.
func TestApply_CutShortAnywhere(t *testing.T) {
	program := binary.Build(t, "materialize-postgres")
	ways := func(n int, sql string) []cut {
		if looks(sql) {
			return []cut{[]cut{killed, severed, unheard}[n%3]}
		}
		return [][]cut{{killed}, {severed, unheard}}[n%2]
	}
	newStage(t, program, convergence()).everywhere(t, program, ways,
		"CREATE SCHEMA", "CREATE TABLE", "COMMENT ON TABLE", "ADD COLUMN", "DROP NOT NULL", "USING", "TRUNCATE", "DROP CONSTRAINT", "ADD PRIMARY KEY", "CREATE INDEX mine")
}

// steps cuts what changes something, once each.
func steps(n int, sql string) []cut {
	if looks(sql) {
		return nil
	}
	return []cut{[]cut{killed, unheard}[n%2]}
}

func TestApply_CutShortInAnEmptyDatabase(t *testing.T) {
	program := binary.Build(t, "materialize-postgres")
	newStage(t, program, &evolution{to: convergence().to}).everywhere(t, program, steps, "CREATE SCHEMA", "flow_checkpoints", "CREATE TABLE")
}

// PostgreSQL changes types in place. Here it is made one that cannot, so that each column goes by way of a temporary one.
func TestApply_CutShortAmidTemporaryColumns(t *testing.T) {
	program := binary.BuildChanged(t, "materialize-postgres", "materialize-postgres/dialect.go", "clauses := make([]string, len(changes))", `return ""; clauses := make([]string, len(changes))`)
	s := newStage(t, program, byCopies())
	const rename = `RENAME COLUMN "bytes_json_flowtmp1" TO "bytes_json"` // the last of them
	s.everywhere(t, program, func(n int, sql string) []cut {
		if !strings.Contains(sql, `"wide"`) || strings.Contains(sql, rename) {
			return nil
		}
		return steps(n, sql)
	}, `ADD COLUMN IF NOT EXISTS "int_num_flowtmp1"`, "WHERE true", `DROP COLUMN "int_num"`, rename)
	// A connector that changes types in place, too, takes up what such a one has left.
	before := s.play(t, program, 0, "", false).statements
	s.last = binary.Build(t, "materialize-postgres")
	at := slices.IndexFunc(before, func(sql string) bool { return strings.Contains(sql, rename) }) + 1
	for _, d := range s.play(t, program, at, killed, true).different {
		t.Errorf("before %s, and then in place: %s", rename, d)
	}
}

// The suite bites: a step of convergence that only the apply does that began the change is missing after a cut, and only then.
func TestApply_FindsAStepThatIsNotTakenUpAgain(t *testing.T) {
	t.Parallel() // most of the time is compiling
	program := binary.BuildChanged(t, "materialize-postgres", "internal/sqlsink/diff.go", "if len(wanted) == 0 || sameSet(f.live.Key, wanted) {", "if len(wanted) == 0 || !f.keyless {")
	s := newStage(t, program, convergence())
	untouched := s.play(t, program, 0, "", false)
	for _, d := range untouched.different {
		t.Error(d)
	}
	at := slices.IndexFunc(untouched.statements, func(sql string) bool { return strings.Contains(sql, `"again" DROP CONSTRAINT`) }) + 1
	found := s.play(t, program, at, unheard, false).different
	if len(found) != 2 || !strings.Contains(found[0], `"lake.again index again_pkey" is missing`) || !strings.Contains(found[1], `"lake.again key" is missing`) {
		t.Errorf("cut short after the key is dropped, it finds %q", found)
	}
}
