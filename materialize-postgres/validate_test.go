package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

// proposed is a binding before its fields are selected; last is what was applied.
func proposed(b materialize.Binding, last *materialize.Binding) materialize.Proposed {
	return materialize.Proposed{Resource: b.Resource, Collection: b.Collection, Backfill: b.Backfill, Last: last}
}

var kindNames = map[materialize.ConstraintKind]string{
	materialize.FieldRequired: "required", materialize.LocationRequired: "location required", materialize.LocationRecommended: "recommended", materialize.FieldOptional: "optional",
	materialize.FieldForbidden: "forbidden", materialize.Incompatible: "incompatible", 0: "forgotten",
}

// constraints renders what validate says, a field a line.
func (s *site) constraints(b materialize.Binding, last *materialize.Binding) string {
	s.t.Helper()
	answers, err := s.sink().Validate(s.t.Context(), []materialize.Proposed{proposed(b, last)})
	if err != nil {
		return err.Error()
	}
	if len(answers) != 1 || len(answers[0].Fields) != len(b.Collection.Projections) {
		s.t.Fatalf("got %+v", answers)
	}
	var lines []string
	for _, p := range b.Collection.Projections {
		k := answers[0].Fields[p.Field]
		line := p.Field + ": " + kindNames[k.Kind]
		if k.Folded != "" {
			line += " as " + k.Folded
		}
		if k.Reason == "" {
			s.t.Errorf("field %q has no reason", p.Field)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// bug materializations 8: estuary/connectors history: a forgotten constraint had the value zero
// bug materializations 37: estuary/connectors history: fields that can only be null were recommended, and apply failed
// bug materializations 39: estuary/connectors history: arrays were not recommended, and missed
func TestValidate_NewTable(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 2, "id integer!", "code string!", "scalar string", "maybe integer,null", "several integer,string", "list array", "object object", "nothing null", "never ",
		"number string:number", "_meta object", "op string", "uuid string", "flow_document")
	b.Collection.Projections[11].Field, b.Collection.Projections[11].Pointer = "_meta/op", "/_meta/op"
	b.Collection.Projections[12].Field, b.Collection.Projections[12].Pointer = "_meta/uuid", "/_meta/uuid"
	want := `id: location required
code: location required
scalar: recommended
maybe: recommended
several: recommended
list: recommended
object: optional
nothing: forbidden
never: forbidden
number: recommended
_meta: optional
_meta/op: recommended
_meta/uuid: optional
flow_document: location required`
	equal(t, "standard", s.constraints(b, nil), want)
	s.config.Advanced.NoFlowDocument = true
	equal(t, "no document", s.constraints(b, nil), strings.Replace(want, "flow_document: location required", "flow_document: optional", 1))
	s.config.Advanced.NoFlowDocument = false
	equal(t, "delta", s.constraints(delta(b), nil), strings.ReplaceAll(want, "location required", "recommended"))
	equal(t, "the database", s.query(`SELECT count(*) FROM pg_namespace WHERE nspname = 'lake'`), "0")
}

// bug materializations 28: estuary/connectors history: fields that become one column were all forbidden, and the user was stuck
func TestValidate_NamesThatMeet(t *testing.T) {
	s := newSite(t, 15)
	long := strings.Repeat("n", 63)
	b := bind("t", 1, "id integer!", long+"1 string", long+"2 string", "Case string", "case string", "ctid string", "explicit integer", " string", "flow_document")
	b.Collection.Projections[6].Field, b.Collection.Projections[6].Explicit = "ctid_", true
	b.Fields.Values[5] = "ctid_"
	want := fmt.Sprintf(`id: location required
%[1]s1: optional as %[1]s
%[1]s2: optional as %[1]s
Case: recommended
case: recommended
ctid: forbidden as ctid_
ctid_: recommended
: recommended as _
flow_document: location required`, long)
	equal(t, "constraints", s.constraints(b, nil), want)
	// Once one is selected, the other is out.
	chosen := b
	chosen.Fields.Values = []string{long + "2"}
	chosen.Collection.Projections = append([]protocol.Projection{}, b.Collection.Projections...)
	want = strings.NewReplacer(long+"1: optional", long+"1: forbidden", long+"2: optional", long+"2: recommended").Replace(want)
	equal(t, "constraints", s.constraints(b, &chosen), want)
}

// bug materializations 36: estuary/connectors history: bindings were matched by collection and path, so a change of both at once was missed
func TestValidate_ExistingTable(t *testing.T) {
	s := newSite(t, 15)
	old := bind("t", 1, "id integer!", "same string", "wider integer", "other integer", "object object", "gone string", "flow_document")
	s.apply(nil, old)
	b := bind("t", 1, "id integer!", "same string", "wider number", "other string:date", "object object", "new string", "flow_document")
	want := `id: location required
same: recommended
wider: recommended
other: incompatible
object: recommended
new: recommended
flow_document: location required`
	equal(t, "constraints", s.constraints(b, &old), want)
	other := old
	other.Collection.Name = "acme/another"
	equal(t, "by path alone", s.constraints(b, &other), want)
	// What is known only from the table counts as well.
	equal(t, "without the last binding", s.constraints(b, nil), strings.Replace(want, "object: recommended", "object: optional", 1))
	// A raised counter starts over.
	again := b
	again.Backfill = 1
	equal(t, "backfill", s.constraints(again, &old), strings.NewReplacer("other: incompatible", "other: recommended", "object: recommended", "object: optional").Replace(want))
	// Keys.
	key := bind("t", 2, "id integer!", "same string!", "flow_document")
	if got := s.constraints(key, &old); !strings.Contains(got, "same: incompatible") {
		t.Errorf("a longer key: %s", got)
	}
	text := bind("t", 1, "id string!", "flow_document")
	if got := s.constraints(text, &old); !strings.Contains(got, "id: incompatible") {
		t.Errorf("a key of another type: %s", got)
	}
	wasDelta := delta(old)
	if got := s.constraints(b, &wasDelta); !strings.Contains(got, "delta updates") {
		t.Errorf("from delta to standard: %s", got)
	}
	if got := s.constraints(delta(b), &old); strings.Contains(got, "delta updates") {
		t.Errorf("from standard to delta: %s", got)
	}
	s.exec(`CREATE TABLE lake.strangers (id bigint PRIMARY KEY)`, `GRANT SELECT, INSERT, UPDATE ON lake.strangers TO $role`)
	strangers := bind("strangers", 1, "id integer!", "flow_document")
	if got := s.constraints(strangers, nil); !strings.Contains(got, "no materialization has made it") {
		t.Errorf("a stranger's table: %s", got)
	}
	s.config.Advanced.AdoptTables = true
	equal(t, "adopted", s.constraints(strangers, nil), "id: location required\nflow_document: location required")
	none := bind("none", 0, "id integer!")
	if got := s.constraints(none, nil); !strings.Contains(got, "no key") {
		t.Errorf("without a key: %s", got)
	}
}

// A run would meet the first fraction in such a key.
func TestValidate_FloatKeys(t *testing.T) {
	s := newSite(t, 15)
	float := bind("t", 2, "id integer!", "at number,string:number!", "flow_document")
	if got := s.constraints(float, nil); !strings.Contains(got, `field "at", a part of the key of collection acme/t, is a floating-point number`) || !strings.Contains(got, "delta_updates") {
		t.Errorf("got %s", got)
	}
	for _, b := range []materialize.Binding{delta(float), bind("t", 2, "id integer!", "at string:number!", "flow_document"), bind("t", 1, "id integer!", "at number,string:number", "flow_document")} {
		if got := s.constraints(b, nil); strings.Contains(got, "floating-point") {
			t.Errorf("got %s", got)
		}
	}
}

func TestValidate_ManyFields(t *testing.T) {
	s := newSite(t, 15)
	fields := []string{"id integer!", "flow_document"}
	for i := range 2000 {
		fields = append(fields, fmt.Sprintf("c%d string", i))
	}
	got := s.constraints(bind("t", 1, fields...), nil)
	equal(t, "recommended", strings.Count(got, ": recommended"), maxColumns-2)
	equal(t, "optional", strings.Count(got, ": optional"), 2002-maxColumns)
}

// Texts that a database cannot hold would end the run in the middle, and those of SQL_ASCII would be cut within a character.
func TestCheck_Encodings(t *testing.T) {
	s := newSite(t, 15)
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		name := strings.ToLower(encoding) + "_" + s.config.Database
		s.exec(fmt.Sprintf(`CREATE DATABASE %s ENCODING '%s' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`, name, encoding))
		t.Cleanup(func() { _ = s.cluster.Exec("postgres", "DROP DATABASE "+name) })
		other := *s
		other.config.Database = name
		other.exec("GRANT CREATE, TEMPORARY ON DATABASE " + name + " TO $role")
		_, err := other.sink().Apply(t.Context(), nil, bindings(bind("t", 1, "id integer!", "flow_document")), nil) // `write` checks nothing before
		problemOf(t, err, "has the encoding "+encoding)
		problemOf(t, other.sink().Check(t.Context()), "has the encoding "+encoding, "ENCODING 'UTF8'", "TEMPLATE template0")
	}
}

func TestCheck(t *testing.T) {
	s := newSite(t, 15)
	check := func() string {
		if err := s.sink().Check(t.Context()); err != nil {
			return err.Error()
		}
		return "fine"
	}
	equal(t, "a schema that can be made", check(), "fine")
	equal(t, "and was not", s.query(`SELECT count(*) FROM pg_namespace WHERE nspname = 'lake'`), "0")
	s.exec(`REVOKE CREATE, TEMPORARY ON DATABASE ` + s.config.Database + ` FROM $role, PUBLIC`)
	got := check()
	for _, part := range []string{"temporary tables", "GRANT TEMPORARY ON DATABASE", `schema "lake" does not exist`, "CREATE SCHEMA"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q does not contain %q", got, part)
		}
	}
	s.exec(`GRANT TEMPORARY ON DATABASE `+s.config.Database+` TO $role`, `CREATE SCHEMA lake`, `GRANT USAGE ON SCHEMA lake TO $role`)
	if got = check(); !strings.Contains(got, `GRANT USAGE, CREATE ON SCHEMA "lake"`) || strings.Contains(got, "temporary") {
		t.Errorf("got %q", got)
	}
	s.exec(`GRANT CREATE ON SCHEMA lake TO $role`)
	equal(t, "granted", check(), "fine")
	s.exec(`CREATE TABLE lake.flow_checkpoints_v1 (x int)`)
	if got = check(); !strings.Contains(got, "GRANT SELECT, INSERT, UPDATE ON") {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		change func()
		want   string
		kind   protocol.Kind
	}{
		{func() { s.config.Password = "wrong" }, "does not accept the password", protocol.Config},
		{func() { s.config.Password = rolePassword; s.config.Database = "nowhere" }, `database "nowhere" does not exist`, protocol.Config},
		{func() { s.config.Address = "127.0.0.1:1" }, "nothing accepts connections at 127.0.0.1:1", protocol.Transient},
		{func() { s.config.Address = "nowhere.invalid" }, "nowhere.invalid", protocol.Config},
	} {
		c.change()
		err := s.sink().Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if err != nil && c.want != "nowhere.invalid" && protocol.KindOf(err) != c.kind {
			t.Errorf("%v is of kind %s", err, protocol.KindOf(err))
		}
		if err != nil && strings.Contains(err.Error(), rolePassword) {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

// A binding may name a schema of its own, and a table may be there already: what the user may not do with them is found before anything is applied.
func TestValidate_Privileges(t *testing.T) {
	s := newSite(t, 15)
	s.exec(`REVOKE CREATE ON DATABASE `+s.config.Database+` FROM $role`, `CREATE SCHEMA lake AUTHORIZATION $role`)
	s.config.Advanced.AdoptTables = true
	elsewhere := func(table string) materialize.Binding {
		b := bind(table, 1, "id integer!", "flow_document")
		b.Resource = []byte(`{"schema":"mart","table":"` + table + `"}`)
		return b
	}
	validate := func() error {
		one, two := elsewhere("one"), elsewhere("two")
		_, err := s.sink().Validate(t.Context(), []materialize.Proposed{proposed(one, nil), proposed(two, nil)})
		return err
	}
	err := validate()
	problemOf(t, err, `schema "mart" does not exist`, "CREATE SCHEMA")
	if n := len(protocol.Problems(err)); n != 1 {
		t.Errorf("%d problems of one schema: %v", n, err)
	}
	s.exec(`CREATE SCHEMA mart`)
	problemOf(t, validate(), `GRANT USAGE, CREATE ON SCHEMA "mart"`)
	s.exec(`GRANT USAGE, CREATE ON SCHEMA mart TO $role`)
	equal(t, "granted", validate(), nil)
	s.exec(`CREATE TABLE mart.one (id bigint PRIMARY KEY, flow_document json)`, `GRANT SELECT ON mart.one TO $role`)
	problemOf(t, validate(), `may not write to table mart.one`, `GRANT SELECT, INSERT, UPDATE ON "mart"."one"`)
	s.exec(`GRANT SELECT, INSERT, UPDATE ON mart.one TO $role`)
	equal(t, "granted", validate(), nil)
	s.config.HardDelete = true
	problemOf(t, validate(), `GRANT SELECT, INSERT, UPDATE, DELETE ON "mart"."one"`)
}

// bug materializations 55: estuary/connectors history: the configuration was changed while validating, in a copy, so what followed saw another one
func TestValidate_LeavesTheConfigurationAlone(t *testing.T) {
	s := newSite(t, 15)
	b := bind("T Odd", 1, "id integer!", "flow_document")
	m := s.sink()
	before := *m.config
	answers, err := m.Validate(t.Context(), []materialize.Proposed{proposed(b, nil)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "configuration", *m.config, before)
	s.apply(nil, b) // with a sink that has validated nothing
	equal(t, "the table", s.query(`SELECT count(*) FROM pg_tables WHERE schemaname = 'lake' AND tablename = `+literal(answers[0].ResourcePath[1])), "1")
}
