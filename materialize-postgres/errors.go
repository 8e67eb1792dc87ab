package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgconn"

	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
)

// SQLSTATEs that are decided upon. https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeNoSchema         = "3F000"
	codeNoTable          = "42P01"
	codeNoColumn         = "42703"
	codeInsufficientPriv = "42501"
	codeNotNull          = "23502"
	codeUniqueViolation  = "23505"
	codeForeignKey       = "23503"
	codeCheckViolation   = "23514"
	codeExclusion        = "23P01"
	codeRaised           = "P0001" // RAISE in a function; others of its class are mistakes in one
	codeTwice            = "21000" // "ON CONFLICT DO UPDATE command cannot affect row a second time"
	codeDiskFull         = "53100"
	codeOutOfMemory      = "53200"
	codeReadOnly         = "25006"
	codeSerialization    = "40001"
	codeDeadlock         = "40P01"
	codeLockNotAvailable = "55P03"
	codeDependent        = "2BP01"
	codeTooManyColumns   = "54011"
	codeLimit            = "54000" // a row, or an entry of an index, that is too large
	codeStackDepth       = "54001"
	codeInvalidColumn    = "42P10" // among others: a COPY into a generated column
	codeGenerated        = "428C9"
	codeUnsupported      = "0A000"
)

// explain turns an error of the server into a sentence that names the cure. doing says what was being done, in the -ing form.
func (c *config) explain(doing string, err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return c.server().Explain(doing, err)
	}
	if p := c.explainCode(doing, pg); p != nil {
		p.Err = err
		return p
	}
	known := c.server().Explain(doing, err)
	if _, isProblem := errors.AsType[*protocol.Problem](known); isProblem {
		return known
	}
	if passes(pg.Code) {
		return &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("the server at %s could not go on while %s (%s)", c.Address, doing, pg.Message), Fix: "try again", Err: err}
	}
	return known
}

// explainCode knows what may go wrong at any time.
func (c *config) explainCode(doing string, pg *pgconn.PgError) *protocol.Problem {
	problem := func(kind protocol.Kind, summary, fix string) *protocol.Problem {
		return &protocol.Problem{Kind: kind, Summary: summary, Fix: fix}
	}
	switch pg.Code {
	case codeInsufficientPriv:
		if strings.Contains(pg.Message, "for database") && doing == "connecting" {
			return nil
		}
		return c.explainPrivilege(doing, pg)
	case codeNoSchema:
		return problem(protocol.Config, fmt.Sprintf("a schema is missing while %s (%s)", doing, pg.Message), "create it, or apply the materialization again")
	case codeNoTable, codeNoColumn:
		return problem(protocol.Config, fmt.Sprintf("a table is not as it was while %s (%s)", doing, pg.Message), "bring back what was dropped or renamed, or raise the binding's backfill counter (pipeline backfill FILE STREAM), which makes and fills it anew")
	case codeDiskFull, codeOutOfMemory:
		return problem(protocol.Transient, fmt.Sprintf("the server at %s has no room left (%s)", c.Address, pg.Message), "give it more disk or memory")
	case codeReadOnly:
		return problem(protocol.Config, fmt.Sprintf("the server at %s is read-only (%s)", c.Address, pg.Message), "use the address of the primary, or switch default_transaction_read_only off")
	case codeSerialization, codeDeadlock:
		return problem(protocol.Transient, fmt.Sprintf("the transaction met another one of somebody else while %s (%s)", doing, pg.Message), "try again")
	case codeLockNotAvailable:
		p := problem(protocol.Transient, fmt.Sprintf("somebody holds what is needed for %s, and did not let go for %s", doing, lockTimeout), "end that session, or wait for it")
		p.SQL = "SELECT pid, application_name, state, query FROM pg_stat_activity WHERE pid = ANY (SELECT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity);"
		return p
	}
	return nil
}

// explainPrivilege says which grant is missing, as far as the server tells.
func (c *config) explainPrivilege(doing string, pg *pgconn.PgError) *protocol.Problem {
	p := &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("user %q lacks a privilege for %s (%s)", c.User, doing, pg.Message), Fix: "grant it"}
	user := quote(c.User)
	_, schema, ofSchema := strings.Cut(pg.Message, "for schema ")
	switch {
	case ofSchema:
		p.SQL = "GRANT USAGE, CREATE ON SCHEMA " + quote(schema) + " TO " + user + ";"
	case strings.Contains(pg.Message, "for database"):
		p.SQL = "GRANT CREATE, TEMPORARY ON DATABASE " + quote(c.Database) + " TO " + user + ";"
	case strings.Contains(pg.Message, "temporary tables"):
		p.SQL = "GRANT TEMPORARY ON DATABASE " + quote(c.Database) + " TO " + user + ";"
	case strings.Contains(pg.Message, "row-level security"):
		p.Summary = fmt.Sprintf("row-level security applies to user %q, and would hide rows from %s (%s)", c.User, doing, pg.Message)
		p.Fix, p.SQL = "switch it off for the table (ALTER TABLE … DISABLE ROW LEVEL SECURITY), or let the user bypass it", "ALTER ROLE "+user+" BYPASSRLS;"
	case pg.TableName != "":
		p.SQL = c.grant(tableName{pg.SchemaName, pg.TableName}, doing)
	case strings.Contains(pg.Message, "must be owner"):
		p.Fix = "only a table's owner may change it: make the user its owner, or a member of that role"
	}
	return p
}

// explainStep is explain for a statement of a plan.
func (c *config) explainStep(step sqlsink.Step, err error) error {
	doing := fmt.Sprintf("changing %s by %q", step.Table, shorten(step.SQL, 300))
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return c.explain(doing, err)
	}
	problem := func(summary, fix string) error {
		return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix, Err: err}
	}
	switch pg.Code {
	case codeTooManyColumns:
		return problem(fmt.Sprintf("table %s would have too many columns (%s)", step.Table, pg.Message), "select fewer fields")
	case codeDependent, codeUnsupported:
		return problem(fmt.Sprintf("something depends on table %s as it is (%s; %s)", step.Table, pg.Message, pg.Detail), "drop what depends on it, and create it again afterwards")
	}
	if p := c.explainCode(doing, pg); p != nil {
		p.Err = err
		return p
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// keyMissing is a record without a value for a part of its key.
type keyMissing struct {
	b    *binding
	part int
}

func (e *keyMissing) Error() string {
	c := e.b.columns[e.part]
	return fmt.Sprintf("a document of %s has no value at %s, which is a part of its key: rows of table %s could not be told apart", e.b.stream, c.Pointer, e.b.target.name)
}

// refused is about a value that its column cannot hold.
func (b *binding) refused(column int, value []byte, why error) error {
	var bad *badValue
	if !errors.As(why, &bad) {
		return why
	}
	c := b.columns[column]
	return &protocol.Problem{
		Kind:    protocol.Config,
		Summary: fmt.Sprintf("a document of %s has a value in field %q that column %q of table %s cannot hold: %s; it starts with %s", b.stream, c.Field, c.Name, b.target.name, bad.why, start(value)),
		Fix:     "correct the document, widen the field's schema, or leave the field out",
	}
}

// start is a value's beginning, for messages.
func start(value []byte) string {
	return shorten(strconv.QuoteToGraphic(string(value[:min(len(value), 60)])), 80)
}

func shorten(text string, most int) string {
	if len(text) > most {
		return sqlsink.CutName(text, most) + "…"
	}
	return text
}

// explainRows is explain for rows of a binding that the server refuses.
func (c *config) explainRows(k chunk, err error) error {
	b := k.b
	doing := "storing rows of " + b.stream + " into table " + b.target.name.String()
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return c.explain(doing, err)
	}
	problem := func(summary, fix string) error {
		return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix, Err: err}
	}
	if deniedTable(pg) == b.target.rows.table {
		pg.SchemaName, pg.TableName = b.target.rows.schema, b.target.rows.table
	}
	line, column := copyPlace(pg.Where)
	switch {
	case pg.Code == codeNotNull:
		field := b.fieldOf(pg.ColumnName)
		return problem(fmt.Sprintf("a document of %s has no value in field %q%s, and column %q of table %s may not be null", b.stream, field, k.row(line), pg.ColumnName, b.target.name),
			fmt.Sprintf("let the schema say that the field may be missing, and apply the materialization again, or ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL", b.target.name.sql(), quote(pg.ColumnName)))
	case pg.Code == codeTwice:
		return problem(fmt.Sprintf("two keys of %s that differ are equal in the columns of table %s (%s)", b.stream, b.target.name, pg.Message),
			"give the key columns the type text, in a new table")
	case pg.Code == codeUniqueViolation:
		return problem(fmt.Sprintf("table %s has a constraint besides its key, which a document of %s breaks (%s; %s)", b.target.name, b.stream, pg.Message, pg.Detail), "drop the constraint")
	case strings.HasPrefix(pg.Code, "23"):
		return c.explainConstraint(pg, "a document of "+b.stream+k.row(line), b.target.name, b.target.rows, err)
	case byTrigger(pg):
		return problem(fmt.Sprintf("a trigger of table %s refuses a document of %s%s: %s%s", b.target.name, b.stream, k.row(line), shorten(pg.Message, 200), inFunction(pg.Where)),
			fmt.Sprintf("correct the trigger or the documents, or switch it off (ALTER TABLE %s DISABLE TRIGGER …)", b.target.name.sql()))
	case pg.Code == codeLimit, pg.Code == codeStackDepth:
		row := k.row(line)
		if row == "" {
			row = k.widest()
		}
		return problem(fmt.Sprintf("a document of %s is beyond a limit of PostgreSQL%s: %s", b.stream, row, shorten(pg.Message, 300)), "leave large fields out, or take another key")
	case strings.HasPrefix(pg.Code, "22"):
		if column == "" {
			column = pg.ColumnName
		}
		place := fmt.Sprintf("a value in field %q that column %q of", b.fieldOf(column), column)
		if column == "" { // a cast inside the server, which names none
			place = "a value that a column of"
		}
		return problem(fmt.Sprintf("a document of %s has %s table %s cannot hold%s: %s", b.stream, place, b.target.name, k.row(line), shorten(pg.Message, 200)),
			"correct the document, widen the field's schema, or leave the field out")
	}
	if refused := unwritable(pg.Code, pg.Message, b, err); refused != nil {
		return refused
	}
	return c.explain(doing, err)
}

// explainConstraint names the constraint that something breaks; name is the table that people see, rows where its rows go.
func (c *config) explainConstraint(pg *pgconn.PgError, what string, name, rows tableName, err error) error {
	kind := map[string]string{codeNotNull: "the column", codeCheckViolation: "the check constraint", codeForeignKey: "the foreign key", codeExclusion: "the exclusion constraint"}[pg.Code]
	if kind == "" {
		kind = "the constraint"
	}
	table := name // or another one, to which a trigger writes
	if n := (tableName{pg.SchemaName, pg.TableName}); pg.TableName != "" && n != rows {
		table = n
	}
	if pg.Code == codeCheckViolation && pg.ConstraintName == "" && pg.TableName != "" {
		return noPartition(pg, what, table, err)
	}
	p := &protocol.Problem{
		Kind: protocol.Config, Summary: fmt.Sprintf("%s %q of table %s refuses %s: %s", kind, pg.ConstraintName, table, what, shorten(pg.Message, 200)),
		Fix: "drop the constraint, or correct the documents", Err: err,
	}
	if pg.ConstraintName != "" {
		p.SQL = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;", table.sql(), quote(pg.ConstraintName))
	}
	return p
}

// noPartition explains a row that a partitioned table has no place for: the server calls that a check constraint without a name.
func noPartition(pg *pgconn.PgError, what string, table tableName, err error) error {
	p := &protocol.Problem{Kind: protocol.Config, Err: err}
	if strings.Contains(pg.Message, "partition constraint") {
		p.Summary = fmt.Sprintf("table %s is a partition, and %s belongs into another one: %s", table, what, shorten(pg.Message, 200))
		p.Fix = "write to the partitioned table instead"
		return p
	}
	p.Summary = fmt.Sprintf("no partition of table %s takes %s: %s", table, what, shorten(pg.Message, 200))
	if pg.Detail != "" {
		p.Summary += " (" + shorten(strings.TrimSuffix(pg.Detail, "."), 200) + ")"
	}
	const suffix = "_default"
	rest := tableName{table.schema, sqlsink.CutName(table.table, maxNameBytes-len(suffix)) + suffix}
	p.Fix = "add a partition for it, or one for all rows that no other takes"
	p.SQL = fmt.Sprintf("CREATE TABLE %s PARTITION OF %s DEFAULT;", rest.sql(), table.sql())
	return p
}

// explainCommit is explain for a COMMIT, which looks at deferred constraints and runs deferred triggers.
func (t *transactor) explainCommit(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok || !strings.HasPrefix(pg.Code, "23") && !byTrigger(pg):
		return t.config.explain("committing", err)
	case pg.TableName == "":
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("a deferred trigger refuses documents of this transaction: %s%s", shorten(pg.Message, 200), inFunction(pg.Where)),
			Fix: "correct the trigger or the documents, or switch it off (ALTER TABLE … DISABLE TRIGGER …)", Err: err,
		}
	}
	name, what := tableName{pg.SchemaName, pg.TableName}, "what this transaction stores"
	for _, b := range t.bindings {
		if b.target.rows == name {
			what = "a document of " + b.stream
		}
	}
	return t.config.explainConstraint(pg, what, name, name, err)
}

// byTrigger tells that a user's function refuses a row: by RAISE, whatever its code, or by a mistake of its own. What passes by itself does not count.
func byTrigger(pg *pgconn.PgError) bool {
	for _, class := range []string{"P0", "09", "27", "38", "39"} {
		if strings.HasPrefix(pg.Code, class) {
			return true
		}
	}
	return !passes(pg.Code) && inFunction(pg.Where) != ""
}

// passes tells codes of what is over after a while: lost connections (08), met transactions (40), room (53), objects in use (55), operators (57), files (58).
// Limits (54) and states of the transaction (25: read-only) do not.
func passes(code string) bool {
	return len(code) == 5 && slices.Contains([]string{"08", "40", "53", "55", "57", "58"}, code[:2])
}

// inFunction names the function in the context of an error: "PL/pgSQL function refuse() line 2 at RAISE"; "": there is none.
func inFunction(where string) string {
	_, rest, ok := strings.Cut(where, "PL/pgSQL function ")
	name, _, named := strings.Cut(rest, " line ")
	if !ok || !named {
		return ""
	}
	return ", raised in " + name
}

// copyPlace reads line and column out of the context of an error in a COPY: `COPY t, line 3, column a: "x"`.
func copyPlace(where string) (line int, column string) {
	_, rest, ok := strings.Cut(where, ", line ")
	if !ok {
		return 0, ""
	}
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(rest)
	}
	line, _ = strconv.Atoi(rest[:digits]) // only digits
	if _, rest, ok = strings.Cut(rest[digits:], ", column "); ok {
		column, _, _ = strings.Cut(rest, `: "`)
		column, _, _ = strings.Cut(column, ": null input")
	}
	return line, column
}

// row names the row of a line (from 1) of the chunk by its first column.
func (k chunk) row(line int) string {
	if k.binary {
		return k.binaryRow(line)
	}
	rows := k.rows
	for ; line > 1; line-- {
		_, rest, ok := strings.Cut(string(rows), "\n")
		if !ok {
			return ""
		}
		rows = []byte(rest)
	}
	if line != 1 || len(rows) == 0 {
		return ""
	}
	first := rows[:min(len(rows), 200)]
	key, _, _ := strings.Cut(string(first), "\n")
	parts := strings.Split(key, "\t")
	return " (its key is " + shorten(strings.Join(parts[:min(max(k.b.keys, 1), len(parts))], ", "), 100) + ")"
}

// widest names the row with the most values. The server tells no place of a row that is too large as a whole, which takes many.
func (k chunk) widest() string {
	line, most := 0, 0
	for n, rows := 1, k.rows; len(rows) > 0; n++ {
		values := 0
		if k.binary {
			var list [][]byte
			list, rows = nextBinaryRow(rows)
			for _, v := range list {
				if v != nil {
					values++
				}
			}
		} else {
			var row []byte
			row, rows, _ = bytes.Cut(rows, []byte("\n"))
			for v := range bytes.SplitSeq(row, []byte("\t")) {
				if string(v) != `\N` {
					values++
				}
			}
		}
		if values > most {
			line, most = n, values
		}
	}
	return strings.Replace(k.row(line), "(its key is ", fmt.Sprintf("(most likely the one with %d values, whose key is ", most), 1)
}

// fieldOf is the field of a column.
func (b *binding) fieldOf(column string) string {
	for _, c := range b.columns {
		if c.Name == column {
			return c.Field
		}
	}
	return column
}
