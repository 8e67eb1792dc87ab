package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	log "github.com/sirupsen/logrus"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/sqlcapture"
)

const minVersion = 100000

// check looks for everything that would stop a read of the bindings, nil: of whatever is readable. It returns joined *protocol.Problem; any other error
// means that it could not look. Nothing is written: the session is read-only. What is only worth knowing goes to the log as a warning.
func check(ctx context.Context, c *config, task string, bs []protocol.Binding) error {
	conn, err := c.connectWith(ctx, map[string]string{"default_transaction_read_only": "on"})
	if err != nil {
		return err
	}
	defer closeQuietly(conn)
	version, err := serverVersion(ctx, conn)
	if err != nil {
		return c.explain("checking the server", err)
	}
	if version < minVersion {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("the server is PostgreSQL %d.%d", version/10000, version/100%100),
			Fix: "upgrade it to 10 or newer, the first with logical replication",
		}
	}
	k, err := newCatalog(ctx, conn, c)
	if err != nil {
		return err
	}
	p := &prober{config: c, task: task, conn: conn, catalog: k, version: version}
	// The connection runs one probe at a time; a probe that could not look keeps the others from nothing.
	for _, probe := range []func(context.Context) error{p.server, p.role, p.slot, func(ctx context.Context) error { return p.tables(ctx, bs) }, p.surroundings} {
		if err := probe(ctx); err != nil {
			p.errs = append(p.errs, err)
		}
	}
	return errors.Join(p.errs...)
}

// prober gathers what the probes of one check find.
type prober struct {
	config  *config
	task    string
	conn    *pgx.Conn
	catalog *catalog
	version int
	errs    []error
	// mayReplicate and logical tell later probes whether trying makes sense.
	mayReplicate, logical bool
}

func (p *prober) found(summary, fix, sql string) {
	p.errs = append(p.errs, &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix, SQL: sql})
}

// server looks at the settings of the server.
func (p *prober) server(ctx context.Context) error {
	var walLevel string
	var recovery bool
	if err := p.conn.QueryRow(ctx, `SELECT current_setting('wal_level'), pg_is_in_recovery()`).Scan(&walLevel, &recovery); err != nil {
		return p.config.explain("asking for the server's settings", err)
	}
	p.logical = walLevel == "logical"
	switch {
	case recovery:
		p.errs = append(p.errs, p.config.standby())
	case !p.logical:
		p.found(fmt.Sprintf("the setting wal_level of the server is %s, so the log holds no row changes", walLevel), cloudOf(p.config.Address).walLevelFix(), p.walLevelSQL())
	}
	return nil
}

// standby is the problem of a server in recovery. From version 16 on it could decode its log, but its snapshots do not list the transactions that still
// run, and so cannot tell what a chunk of a backfill contains.
func (c *config) standby() *protocol.Problem {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("the server at %s is a standby, which cannot be captured", c.Address),
		Fix: "use the address of the primary (a cluster's writer endpoint)",
	}
}

// walLevelSQL is empty where the provider's console is the only way.
func (p *prober) walLevelSQL() string {
	if cloudOf(p.config.Address) != unknownCloud {
		return ""
	}
	return "ALTER SYSTEM SET wal_level = logical;"
}

// role looks at whether the user may replicate, and tries.
func (p *prober) role(ctx context.Context) error {
	// On Amazon the membership counts. Administrators' roles of the clouds (rds_superuser, cloudsqlsuperuser, azure_pg_admin) do not imply it.
	const query = `SELECT r.rolreplication OR r.rolsuper OR EXISTS (SELECT FROM pg_roles g WHERE g.rolname = 'rds_replication' AND pg_has_role(r.oid, g.oid, 'MEMBER'))
		FROM pg_roles r WHERE r.rolname = current_user`
	if err := p.conn.QueryRow(ctx, query).Scan(&p.mayReplicate); err != nil {
		return p.config.explain("asking for the user's rights", err)
	}
	if !p.mayReplicate {
		fix, sql := cloudOf(p.config.Address).replicationFix(p.config.User)
		p.found(fmt.Sprintf("user %q may not replicate", p.config.User), fix, sql)
		return nil
	}
	settings, err := p.config.pgConfig(true)
	if err != nil {
		return err
	}
	// A pooler, or a pg_hba.conf that lets ordinary connections in only, shows here; so does a server without a free WAL sender.
	conn, err := pgwire.Connect(ctx, settings)
	if err != nil {
		return p.config.explain("opening a replication connection", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is in flight
	_, err = conn.Exec(ctx, "IDENTIFY_SYSTEM")
	return p.config.explain("asking a replication connection for the server's identity", err)
}

// slot looks at the replication slot. A slot in use is no problem: the capture is running.
func (p *prober) slot(ctx context.Context) error {
	name, err := p.slotBase(ctx)
	if err != nil {
		return err
	}
	st, err := readSlot(ctx, p.conn, name)
	if err != nil {
		return p.config.explain("looking up the replication slot", err)
	}
	if st == nil {
		return p.freeSlots(ctx, name)
	}
	if problem := st.foreign(p.config.Database); problem != nil {
		p.errs = append(p.errs, problem)
		return nil
	}
	if st.Active {
		log.WithFields(log.Fields{"slot": name, "pid": st.ActivePID}).Warn("the replication slot is being read; only one process at a time can")
		return nil
	}
	if why := st.lost(); why != "" {
		p.errs = append(p.errs, &protocol.Problem{
			Kind: protocol.Config, Summary: why, Fix: "then start over (under pipeline: pipeline backfill FILE '*'), or set advanced.on_gap to rebackfill", SQL: dropSlotSQL(name),
		})
		return nil
	}
	if problem := st.unfinished(); problem != nil {
		p.errs = append(p.errs, problem)
	}
	return nil
}

// slotBase is the name that a read would use if it went on from a state: whether there will be one, check is not told.
func (p *prober) slotBase(ctx context.Context) (string, error) {
	return slotBase(ctx, p.conn, p.config, p.task, protocol.FullRange, true)
}

func (p *prober) freeSlots(ctx context.Context, name string) error {
	var used, most int
	if err := p.conn.QueryRow(ctx, `SELECT count(*)::int, current_setting('max_replication_slots')::int FROM pg_replication_slots`).Scan(&used, &most); err != nil {
		return p.config.explain("counting replication slots", err)
	}
	if used >= most {
		p.found(fmt.Sprintf("all %d replication slots of the server are taken, and %q has yet to be created", most, name),
			"drop one that nobody reads, or raise max_replication_slots and restart the server", "SELECT slot_name, database, active FROM pg_replication_slots;")
	}
	return nil
}

// tables looks at the publication and at the tables: those of the bindings, or without any at what discovery offers.
func (p *prober) tables(ctx context.Context, bs []protocol.Binding) error {
	if bs == nil {
		return p.offeredTables(ctx)
	}
	names := make([]sqlcapture.TableName, len(bs))
	for i, b := range bs {
		names[i] = tableOf(b)
	}
	relations, err := relationsByName(ctx, textFrom(p.conn), p.version, names)
	if err != nil {
		return p.config.explain("describing tables", err)
	}
	byName := map[sqlcapture.TableName]*relation{}
	for _, r := range relations {
		byName[r.tableName()] = r
	}
	var good []*relation
	for i, name := range names {
		r := byName[name]
		if r == nil {
			p.found(fmt.Sprintf("table %s.%s does not exist in database %q", readable(name.Schema), readable(name.Name), p.config.Database), "remove it from the capture, or correct its name", "")
			continue
		}
		if why := r.uncapturable(p.version); why != "" {
			p.found(fmt.Sprintf("%s %s", r, why), "remove it from the capture", "")
			continue
		}
		p.table(ctx, r, bs[i])
		good = append(good, r)
	}
	slices.SortFunc(good, func(a, b *relation) int { return strings.Compare(a.String(), b.String()) })
	return p.publication(ctx, slices.Compact(good))
}

// table looks at one bound table.
func (p *prober) table(ctx context.Context, r *relation, b protocol.Binding) {
	user := quote(p.config.User)
	if !r.SchemaUsable {
		p.found(fmt.Sprintf("user %q may not use schema %s", p.config.User, readable(r.Schema)), "grant it", "GRANT USAGE ON SCHEMA "+quote(r.Schema)+" TO "+user+";")
	}
	if !r.Readable {
		p.found(fmt.Sprintf("user %q may not read table %s", p.config.User, r), "grant it", "GRANT SELECT ON "+r.sqlName()+" TO "+user+";")
	}
	if r.Filtered {
		p.found(fmt.Sprintf("row-level security hides rows of table %s from user %q", r, p.config.User), "let it read all rows", "ALTER ROLE "+user+" BYPASSRLS;")
	}
	t, err := p.catalog.table(ctx, r)
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	if problem := t.Unreadable(); problem != nil {
		p.errs = append(p.errs, problem)
	}
	switch key := pointers(t.Key); {
	case t.Key == nil && b.Key == nil:
		log.WithField("table", r.String()).Warn("the table has neither a primary key nor a unique index that could serve as one: its rows are captured without a key, so equal rows cannot be told apart")
	case t.Key != nil && b.Key != nil && !slices.Equal(key, b.Key):
		log.WithFields(log.Fields{"table": r.String(), "configured": b.Key, "table's": key}).Warn("the configured key is not the table's own: the log tells of deleted rows by the table's own key")
	}
	if strings.Contains(r.identities(), "n") {
		log.WithField("table", r.String()).Warn("the table has REPLICA IDENTITY NOTHING: UPDATE and DELETE on it fail once it is published")
	}
}

// uncapturable says why a relation cannot be captured; empty: it can.
func (r *relation) uncapturable(version int) string {
	switch {
	case r.Kind == "v":
		return "is a view: only tables are in the log"
	case r.Kind == "m":
		return "is a materialized view: only tables are in the log"
	case r.Kind == "f":
		return "is a foreign table: its changes are in another server's log"
	case r.Kind != "r" && r.Kind != "p":
		return "is no table"
	case r.Persistence == "u":
		return "is an unlogged table: its changes are not in the log"
	case r.Persistence == "t":
		return "is a temporary table: its changes are not in the log"
	case r.Kind == "p" && version < 130000:
		return "is a partitioned table, which PostgreSQL before 13 cannot publish: capture its partitions"
	}
	return ""
}

// publication looks at whether the publication delivers the tables, or can be made to.
func (p *prober) publication(ctx context.Context, rs []*relation) error {
	pub := p.catalog.published
	s, err := pub.state(ctx)
	if err != nil {
		return err
	}
	if s.Standby {
		return nil // another server will be used
	}
	if !s.Exists {
		if problem := pub.creatable(s, rs); problem != nil {
			p.errs = append(p.errs, problem)
			return nil // its SQL lists the tables
		}
	}
	for _, r := range rs {
		if _, problem := pub.lacking(s, r); problem != nil {
			p.errs = append(p.errs, problem)
		}
	}
	for _, w := range pub.warnings(s, rs) {
		pub.warn(w)
	}
	return nil
}

// offeredTables is what is looked at while nothing is configured: unreadable tables are a problem only if there is no other.
func (p *prober) offeredTables(ctx context.Context) error {
	relations, err := p.catalog.relations(ctx, nil)
	if err != nil {
		return err
	}
	var unreadable []string
	var grants []string
	for _, r := range relations {
		if !r.SchemaUsable || !r.Readable {
			unreadable = append(unreadable, r.String())
			grants = append(grants, r.Schema)
		}
	}
	switch {
	case len(unreadable) > 0 && len(unreadable) == len(relations):
		slices.Sort(grants)
		p.found(fmt.Sprintf("user %q may read none of the %d tables in database %q", p.config.User, len(relations), p.config.Database), "grant it", p.grantSQL(slices.Compact(grants)))
	case len(unreadable) > 0:
		log.WithField("tables", shorten(unreadable)).Warn("the user may not read some of the tables")
	}
	warnOfReserved(relations)
	if err := p.warnOfUnpublished(ctx, relations); err != nil {
		return err
	}
	return p.publication(ctx, nil)
}

// warnOfUnpublished names the offered tables that a read of everything would fail for. They are no problem yet: maybe nobody wants them.
func (p *prober) warnOfUnpublished(ctx context.Context, offered []*relation) error {
	s, err := p.catalog.published.state(ctx)
	if err != nil || !s.Exists || s.Standby {
		return err
	}
	var list []string
	for _, r := range offered {
		if _, problem := p.catalog.published.lacking(s, r); problem != nil {
			list = append(list, r.String())
		}
	}
	if len(list) > 0 {
		log.WithFields(log.Fields{"tables": shorten(list), "publication": p.catalog.published.name}).
			Warn("these tables are not published as a capture needs them, and the user may not change that: check the streams that you want (--streams or --catalog) for the SQL")
	}
	return nil
}

// grantSQL lets the user read whole schemas.
func (p *prober) grantSQL(schemas []string) string {
	user := quote(p.config.User)
	if p.version >= 140000 {
		return "GRANT pg_read_all_data TO " + user + ";"
	}
	var list []string
	for _, s := range schemas {
		list = append(list, "GRANT USAGE ON SCHEMA "+quote(s)+" TO "+user+"; GRANT SELECT ON ALL TABLES IN SCHEMA "+quote(s)+" TO "+user+";")
	}
	return strings.Join(list, " ")
}

// surroundings looks at what stops nothing today.
func (p *prober) surroundings(ctx context.Context) error {
	var standbys, keep string
	err := p.conn.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names'), coalesce(current_setting('max_slot_wal_keep_size', true), '-1')`).Scan(&standbys, &keep)
	if err != nil {
		return p.config.explain("asking for the server's settings", err)
	}
	if namesEverybody(standbys) {
		log.WithField("synchronous_standby_names", standbys).Warn("the setting counts every replication connection as a synchronous standby: name the standbys in it, so that no commit waits for the capture")
	}
	if keep != "-1" {
		log.WithField("max_slot_wal_keep_size", keep).Warn("the server gives up the slot when the capture stands still for longer than this much log")
	}
	if err := p.config.warnOfMisnamed(ctx, p.conn); err != nil {
		return err
	}
	base, err := p.slotBase(ctx)
	if err != nil {
		return err
	}
	idle, err := idleSlots(ctx, p.conn, p.config, base)
	if err != nil {
		return p.config.explain("listing replication slots", err)
	}
	for _, st := range idle {
		log.WithFields(log.Fields{"slot": st.Name, "sql": dropSlotSQL(st.Name)}).Warn("nobody reads this replication slot, which makes the server keep its log: drop it if no process of the capture needs it")
	}
	return nil
}

// namesEverybody tells whether * is among the names of synchronous_standby_names, as in "*", "FIRST 1 (*)" or "ANY 2 (s1, *)".
func namesEverybody(setting string) bool {
	if open := strings.IndexByte(setting, '('); open >= 0 {
		setting = strings.TrimSuffix(strings.TrimSpace(setting[open+1:]), ")")
	}
	return slices.ContainsFunc(strings.Split(setting, ","), func(name string) bool {
		name = strings.TrimSpace(name)
		if unquoted, err := strconv.Unquote(name); err == nil {
			name = unquoted
		}
		return name == "*"
	})
}

// pointers are column names as JSON pointers.
func pointers(columns []string) []string {
	var list []string
	for _, c := range columns {
		list = append(list, "/"+pointerEscaper.Replace(c))
	}
	return list
}
