package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

const (
	// publishLockTimeout bounds one attempt to lock a table: while the lock is waited for, everybody else who wants to write waits behind us.
	publishLockTimeout = 2 * time.Second
	// publishPause between attempts lets those writers through.
	publishPause = time.Second
	// publishPatience is how long a table's lock is tried for.
	publishPatience = 60 * time.Second
)

// publication is the publication that the log is read through. Its methods use conn, one call at a time.
type publication struct {
	conn     *pgx.Conn
	config   *config
	name     string
	version  int
	patience time.Duration
	told     map[string]bool // warnings that were given
}

func newPublication(conn *pgx.Conn, c *config, version int) *publication {
	return &publication{conn: conn, config: c, name: c.Advanced.PublicationName, version: version, patience: publishPatience, told: map[string]bool{}}
}

// publicationState is what the catalog says of a publication.
type publicationState struct {
	Exists    bool
	AllTables bool `json:"puballtables"`
	Insert    bool `json:"pubinsert"`
	Update    bool `json:"pubupdate"`
	Delete    bool `json:"pubdelete"`
	Truncate  bool `json:"pubtruncate"` // 11
	ViaRoot   bool `json:"pubviaroot"`  // 13
	// MayAlter: the current user is in the owner's role, or may create it if it does not exist.
	MayAlter bool
	// Standby: nothing can be written on this server.
	Standby bool
	tables  map[sqlcapture.TableName]publishedTable
}

// publishedTable is a table as it is published.
type publishedTable struct {
	filtered bool     // a row filter
	columns  []string // nil: unknown, before 15, when there were no column lists
}

func (s *publicationState) has(t sqlcapture.TableName) bool {
	_, ok := s.tables[t]
	return ok
}

// state reads the publication. Columns that the server's version lacks stay false.
func (p *publication) state(ctx context.Context) (*publicationState, error) {
	s := &publicationState{tables: map[sqlcapture.TableName]publishedTable{}}
	var text []byte
	err := p.conn.QueryRow(ctx, `SELECT to_jsonb(p), pg_has_role(p.pubowner, 'USAGE'), pg_is_in_recovery() FROM pg_publication p WHERE pubname = $1`, p.name).
		Scan(&text, &s.MayAlter, &s.Standby)
	if errors.Is(err, pgx.ErrNoRows) {
		err = p.conn.QueryRow(ctx, `SELECT has_database_privilege(current_database(), 'CREATE'), pg_is_in_recovery()`).Scan(&s.MayAlter, &s.Standby)
		return s, p.config.explain("looking up publication "+p.name, err)
	}
	if err != nil {
		return nil, p.config.explain("looking up publication "+p.name, err)
	}
	s.Exists = true
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("reading the state of publication %s: %w", p.name, err)
	}
	rows, err := p.conn.Query(ctx, `SELECT to_jsonb(t) FROM pg_publication_tables t WHERE pubname = $1`, p.name)
	if err != nil {
		return nil, p.config.explain("listing the tables of publication "+p.name, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		var t struct {
			Schema    string   `json:"schemaname"`
			Table     string   `json:"tablename"`
			Columns   []string `json:"attnames"`
			RowFilter *string  `json:"rowfilter"`
		}
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("listing the tables of publication %s: %w", p.name, err)
		}
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("listing the tables of publication %s: %w", p.name, err)
		}
		s.tables[sqlcapture.TableName{Schema: t.Schema, Name: t.Table}] = publishedTable{filtered: t.RowFilter != nil, columns: t.Columns}
	}
	return s, p.config.explain("listing the tables of publication "+p.name, rows.Err())
}

// ensure makes the publication if there is none, without tables. It has to exist before the slot does: decoding looks a publication up as it was when
// the change was made, and fails for ever on a change from before its time.
func (p *publication) ensure(ctx context.Context) error {
	s, err := p.state(ctx)
	if err != nil || s.Exists {
		return err
	}
	if problem := p.creatable(s, nil); problem != nil {
		return problem
	}
	if _, err := p.conn.Exec(ctx, p.createSQL(nil)); err != nil && pgserver.State(err) != codeDuplicateObject {
		return p.config.explain("creating publication "+p.name, err)
	}
	log.WithField("publication", p.name).Info("created the publication")
	return nil
}

// creatable tells what keeps us from creating the publication. rs are the tables for the SQL that a person would run.
func (p *publication) creatable(s *publicationState, rs []*relation) *protocol.Problem {
	if s.MayAlter && !s.Standby && !p.config.Advanced.ReadOnlyCapture {
		return nil
	}
	fix := "create it as the owner of the tables"
	if len(rs) == 0 {
		fix += ", then add them to it"
	}
	switch {
	case s.Standby:
		fix = "create it on the primary"
	case p.config.Advanced.ReadOnlyCapture:
		fix = "a read-only capture does not create it; create it as the owner of the tables"
	}
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("publication %q does not exist", p.name), Fix: fix, SQL: strings.TrimSpace(identifySQL(rs) + " " + p.createSQL(rs) + ";")}
}

// identifySQL gives an identity to those tables that have none.
func identifySQL(rs []*relation) string {
	var list []string
	for _, r := range rs {
		if !r.identified() {
			list = append(list, identityFullSQL(r))
		}
	}
	return strings.Join(list, " ")
}

// createSQL is without its final semicolon. It never says FOR ALL TABLES.
func (p *publication) createSQL(rs []*relation) string {
	sql := "CREATE PUBLICATION " + quote(p.name)
	for i, r := range rs {
		if i == 0 {
			sql += " FOR TABLE "
		} else {
			sql += ", "
		}
		sql += r.sqlOnly()
	}
	if p.version >= 130000 {
		sql += " WITH (publish_via_partition_root = true)"
	}
	return sql
}

func (p *publication) addSQL(r *relation) string {
	return "ALTER PUBLICATION " + quote(p.name) + " ADD TABLE " + r.sqlOnly()
}

// lacking tells what has to be done so that the log delivers the table: add it, or (problem) something that only a person can do.
func (p *publication) lacking(s *publicationState, r *relation) (add bool, problem *protocol.Problem) {
	if r.Kind == "p" && s.Exists && !s.ViaRoot {
		return false, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("publication %q delivers the changes of partitioned table %s under its partitions' names", p.name, r),
			Fix: "let it deliver them under the table's name", SQL: "ALTER PUBLICATION " + quote(p.name) + " SET (publish_via_partition_root = true);",
		}
	}
	if s.has(r.tableName()) {
		return false, nil
	}
	problem = &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("table %s is not in publication %q", r, p.name), SQL: p.addSQL(r) + ";"}
	updates := !s.Exists || s.Update || s.Delete
	switch {
	case updates && !r.identified():
		problem.Fix = "it has no replica identity, so that UPDATE and DELETE on it would fail once it is published: give it a primary key or the identity FULL, and add it; " +
			"or only add it, if its rows are only ever inserted"
		if p.mayAdd(s, r) {
			problem.Fix = "it has no replica identity, so that UPDATE and DELETE on it would fail once it is published: give it a primary key or the identity FULL, and it will be added; " +
				"if its rows are only ever inserted, add it as it is (" + problem.SQL + ")"
			problem.SQL = ""
		}
		problem.SQL = strings.TrimSpace(identityFullSQL(r) + " " + problem.SQL)
	case s.Standby:
		problem.Fix = "add it on the primary"
	case p.config.Advanced.ReadOnlyCapture:
		problem.Fix = "a read-only capture does not add it; add it as its owner"
	case !p.mayAdd(s, r):
		problem.Fix = fmt.Sprintf("add it as the owner of both, or as a superuser; user %q is neither", p.config.User)
	default:
		return true, nil
	}
	return false, problem
}

// mayAdd tells whether we may put the table into the publication, which we may have to create first.
func (p *publication) mayAdd(s *publicationState, r *relation) bool {
	return r.Owned && s.MayAlter && !s.Standby && !p.config.Advanced.ReadOnlyCapture
}

// identityFullSQL gives a table the identity FULL, or each partition that has none, since they do not inherit it.
func identityFullSQL(r *relation) string {
	if len(r.Leaves) == 0 {
		return "ALTER TABLE " + r.sqlName() + " REPLICA IDENTITY FULL;"
	}
	var list []string
	for _, l := range r.Leaves {
		if !l.Identified && l.Kind != "f" {
			list = append(list, "ALTER TABLE "+l.Name+" REPLICA IDENTITY FULL;")
		}
	}
	return strings.Join(list, " ")
}

// publish adds what the publication lacks. Each table that cannot be added is a *sqlcapture.TableProblem in the joined error.
func (p *publication) publish(ctx context.Context, rs []*relation) error {
	rs = slices.DeleteFunc(slices.Clone(rs), func(r *relation) bool { return !r.capturable() })
	s, err := p.state(ctx)
	if err != nil {
		return err
	}
	if !s.Exists {
		if problem := p.creatable(s, rs); problem != nil {
			return problem
		}
		if err := p.ensure(ctx); err != nil {
			return err
		}
		if s, err = p.state(ctx); err != nil {
			return err
		}
	}
	var failed []error
	for _, r := range rs {
		add, problem := p.lacking(s, r)
		if add {
			if problem, err = p.add(ctx, r); err != nil {
				return err
			}
		}
		if problem != nil {
			failed = append(failed, &sqlcapture.TableProblem{Table: r.tableName(), Problem: problem})
		}
	}
	for _, w := range p.warnings(s, rs) {
		p.warn(w)
	}
	return errors.Join(failed...)
}

// add puts a table into the publication while nobody has uncommitted changes of it: changes made before it was published are left out of the log
// when they commit, and a later chunk would be the first to show them.
func (p *publication) add(ctx context.Context, r *relation) (*protocol.Problem, error) {
	begin := time.Now()
	for {
		err := p.tryAdd(ctx, r)
		switch pgserver.State(err) {
		case codeLockNotAvailable:
		case codeDuplicateObject: // somebody else was faster
			return nil, nil
		case codeNoTable, codeNoSchema: // gone since it was described
			return nil, nil
		case codeInsufficientPriv:
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("table %s is not in publication %q, and user %q may not add it", r, p.name, p.config.User),
				Fix: "add it as its owner", SQL: p.addSQL(r) + ";", Err: err,
			}, nil
		default:
			if err == nil {
				log.WithFields(log.Fields{"publication": p.name, "table": r.String()}).Info("added the table to the publication")
			}
			return nil, p.config.explain("adding table "+r.String()+" to publication "+p.name, err)
		}
		who, whoErr := p.lockHolders(ctx, r)
		if whoErr != nil {
			who = "unknown: " + whoErr.Error() // only for people
		}
		if time.Since(begin) >= p.patience {
			return &protocol.Problem{
				Kind: protocol.Transient, Summary: fmt.Sprintf("table %s could not be added to publication %q, because transactions that changed it do not end (%s)", r, p.name, who),
				Fix: "end them", Err: err,
			}, nil
		}
		log.WithFields(log.Fields{"table": r.String(), "waitingFor": who}).Info("adding the table to the publication waits for transactions that changed it")
		if err := sleep(ctx, publishPause); err != nil {
			return nil, err
		}
	}
}

func (p *publication) tryAdd(ctx context.Context, r *relation) error {
	tx, err := p.conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after a commit it does nothing; else the first error counts
	for _, sql := range []string{
		fmt.Sprintf("SET LOCAL lock_timeout = %d", publishLockTimeout.Milliseconds()),
		"LOCK TABLE " + r.sqlOnly() + " IN SHARE ROW EXCLUSIVE MODE",
		p.addSQL(r),
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return tx.Commit(ctx)
}

// lockHolders names who has a lock on the table that keeps us out.
func (p *publication) lockHolders(ctx context.Context, r *relation) (string, error) {
	const query = `SELECT DISTINCT coalesce('pid ' || l.pid || coalesce(' of user ' || a.usename, ''), 'a prepared transaction') FROM pg_locks l
		LEFT JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'relation' AND l.granted AND l.relation = ANY($1) AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND l.mode NOT IN ('AccessShareLock', 'RowShareLock') ORDER BY 1`
	oids := []int64{int64(r.OID)}
	for _, l := range r.Leaves {
		oids = append(oids, int64(l.OID))
	}
	rows, err := p.conn.Query(ctx, query, oids)
	if err != nil {
		return "", fmt.Errorf("looking for the locks on %s: %w", r, err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var who string
		if err := rows.Scan(&who); err != nil {
			return "", fmt.Errorf("looking for the locks on %s: %w", r, err)
		}
		list = append(list, who)
	}
	return shorten(list), rows.Err()
}

// warnings tells what the publication leaves out of the log without being wrong.
func (p *publication) warnings(s *publicationState, rs []*relation) []string {
	if !s.Exists {
		return nil
	}
	var list []string
	var missing []string
	for _, op := range []struct {
		name string
		on   bool
	}{{"insert", s.Insert}, {"update", s.Update}, {"delete", s.Delete}, {"truncate", s.Truncate || p.version < 110000}} {
		if !op.on {
			missing = append(missing, op.name)
		}
	}
	if len(missing) > 0 {
		list = append(list, fmt.Sprintf("publication %q does not publish %s, so the capture never learns of it: ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate')",
			p.name, strings.Join(missing, ", "), quote(p.name)))
	}
	for _, r := range rs {
		t, ok := s.tables[r.tableName()]
		if !ok {
			continue
		}
		if t.filtered {
			list = append(list, fmt.Sprintf("publication %q has a row filter on %s: the backfill reads all rows, the log has changes of some only", p.name, r))
		}
		var lost []string
		for _, c := range r.Columns {
			if t.columns != nil && !slices.Contains(t.columns, c.Name) {
				lost = append(lost, readable(c.Name))
			}
		}
		if len(lost) > 0 {
			list = append(list, fmt.Sprintf("publication %q has a column list on %s: the backfill reads %s, the log has no changes of it", p.name, r, shorten(lost)))
		}
		if !r.identified() && (s.Update || s.Delete) {
			list = append(list, fmt.Sprintf("table %s is published without a replica identity, so UPDATE and DELETE on it fail: %s", r, identityFullSQL(r)))
		}
	}
	return list
}

// warn gives each warning once.
func (p *publication) warn(text string) {
	if !p.told[text] {
		p.told[text] = true
		log.Warn(text)
	}
}
