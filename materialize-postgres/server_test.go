package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/jsonkey"
	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/materialize"
)

const rolePassword = "not-secret"

// site is a database with a role that may write to it.
type site struct {
	t       testing.TB
	cluster *pgtest.Cluster
	config  config
	task    string // of sessions; "": `write`
}

// newSite makes one on the package's cluster of a version. The role's name needs quoting everywhere.
func newSite(t testing.TB, version int) *site {
	t.Helper()
	cluster := servers.Cluster(t, version)
	unique := strings.ToLower(rand.Text()[:10])
	role := `mat "erialize" ` + unique
	// The role goes after the database, whose objects it owns.
	t.Cleanup(func() { _ = cluster.Exec("postgres", "DROP ROLE IF EXISTS "+quote(role)) })
	database := cluster.NewDatabase(t)
	s := &site{t: t, cluster: cluster, task: "acme/mat", config: config{
		Address: cluster.Addr(), User: role, Password: rolePassword, Database: database, Schema: "lake",
		Advanced: advanced{OnNul: "strip", JSONType: "json"},
	}}
	s.exec("CREATE ROLE "+quote(role)+" LOGIN PASSWORD '"+rolePassword+"'", "GRANT CREATE, TEMPORARY ON DATABASE "+database+" TO $role")
	return s
}

// exec runs statements as the superuser. $role stands for the role's quoted name.
func (s *site) exec(statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		if err := s.cluster.Exec(s.config.Database, s.expand(sql)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) expand(sql string) string {
	return strings.ReplaceAll(sql, "$role", quote(s.config.User))
}

// query runs a statement as the superuser and returns its rows as lines.
func (s *site) query(sql string) string {
	s.t.Helper()
	rows, err := s.cluster.Query(s.config.Database, s.expand(sql))
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, " "))
	}
	return strings.Join(lines, "\n")
}

func (s *site) sink() *sink {
	m, err := newSink(s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	return m.(*sink)
}

// field is a projection in short: "name type,type:format" with "!" behind it when it must exist.
func field(text string) protocol.Projection {
	name, types, _ := strings.Cut(text, " ")
	must := strings.HasSuffix(types, "!")
	types, format, _ := strings.Cut(strings.TrimSuffix(types, "!"), ":")
	p := protocol.Projection{Field: name, Pointer: "/" + name}
	if strings.HasPrefix(name, "/") {
		p.Field, p.Pointer = name[1:], name
	}
	if must {
		p.Exists = protocol.Must
	}
	p.Format = format
	if format == "base64" {
		p.Format, p.ContentEncoding = "", "base64"
	}
	if types != "" {
		p.Types = strings.Split(types, ",")
	}
	slices.Sort(p.Types)
	return p
}

// bind makes a binding of a table: the first keys fields are its key. A field called flow_document is the root.
func bind(table string, keys int, fields ...string) materialize.Binding {
	b := materialize.Binding{
		Resource: fmt.Appendf(nil, `{"table":%s}`, rawjson.AppendQuoted(nil, []byte(table))), StateKey: table + ".v1",
		Collection: protocol.Collection{Name: "acme/" + table},
	}
	for i, text := range fields {
		p := field(text)
		switch {
		case i < keys:
			p.Key, p.Exists = true, protocol.Must
			b.Collection.Key = append(b.Collection.Key, p.Pointer)
			b.Fields.Keys = append(b.Fields.Keys, p.Field)
		case p.Field == "flow_document":
			p.Pointer, p.Types, p.Exists = "", []string{"object"}, protocol.Must
			b.Fields.Document = p.Field
		default:
			b.Fields.Values = append(b.Fields.Values, p.Field)
		}
		b.Collection.Projections = append(b.Collection.Projections, p)
	}
	b.ResourcePath = []string{"lake", fold(table)}
	return b
}

func delta(b materialize.Binding) materialize.Binding {
	b.DeltaUpdates = true
	b.Resource = fmt.Appendf(nil, `%s,"delta_updates":true}`, b.Resource[:len(b.Resource)-1])
	return b
}

// apply runs the plan that leads from what was applied last to bs, and checks that a second one has nothing to do.
func (s *site) apply(from []materialize.Binding, bs ...materialize.Binding) []string {
	s.t.Helper()
	plan, err := s.sink().Apply(s.t.Context(), from, bs, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := plan.Run(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	again, err := s.sink().Apply(s.t.Context(), bs, bs, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(again.Steps()) > 0 {
		s.t.Errorf("a second apply has something to do: %q", again.Steps())
	}
	return plan.Steps()
}

// run is an open session.
type run struct {
	s      *site
	bs     []materialize.Binding
	tr     *transactor
	opened materialize.Opened
}

func (s *site) open(bs ...materialize.Binding) *run { return s.openRange(protocol.FullRange, bs...) }

func (s *site) openRange(r protocol.Range, bs ...materialize.Binding) *run {
	s.t.Helper()
	tr, opened, err := s.sink().Open(s.t.Context(), materialize.OpenRequest{Task: s.task, Bindings: bs, Range: r})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = tr.Close() })
	return &run{s: s, bs: bs, tr: tr.(*transactor), opened: opened}
}

// put is one document to store. JSON that starts with "+" exists, with "-" is deleted, with "+-" is both.
type put struct {
	binding int
	doc     string
}

func (r *run) doc(p put) *materialize.Doc {
	d := &materialize.Doc{Binding: p.binding}
	text := p.doc
	if strings.HasPrefix(text, "+") {
		d.Exists, text = true, text[1:]
	}
	if strings.HasPrefix(text, "-") {
		d.Delete, text = true, text[1:]
	}
	b := &r.bs[p.binding]
	doc := []byte(text)
	d.Key, d.Packed = r.values(b, b.Fields.Keys, doc), r.packed(b, doc)
	d.Values = r.values(b, b.Fields.Values, doc)
	if b.Fields.Document != "" {
		d.JSON = doc
	}
	return d
}

func (r *run) packed(b *materialize.Binding, doc []byte) []byte {
	var packed []byte
	for _, v := range r.values(b, b.Fields.Keys, doc) {
		if v == nil {
			v = []byte("null")
		}
		packed, _ = jsonkey.AppendPacked(packed, v)
	}
	return packed
}

func (r *run) values(b *materialize.Binding, fields []string, doc []byte) [][]byte {
	r.s.t.Helper()
	pointers := make([]string, len(fields))
	for i, f := range fields {
		pointers[i] = b.Collection.Field(f).Pointer
	}
	x, err := rawjson.NewExtractor(pointers)
	if err != nil {
		r.s.t.Fatal(err)
	}
	values := make([][]byte, len(fields))
	if err := x.Extract(doc, values); err != nil {
		r.s.t.Fatalf("%.100q: %v", doc, err)
	}
	for i, v := range values {
		if string(v) == "null" {
			values[i] = nil
		}
	}
	return values
}

// store stores documents, in the order that a runner gives: by binding, then by key.
func (r *run) store(docs ...put) error {
	list := make([]*materialize.Doc, len(docs))
	for i, p := range docs {
		list[i] = r.doc(p)
	}
	slices.SortStableFunc(list, func(a, b *materialize.Doc) int {
		if a.Binding != b.Binding {
			return a.Binding - b.Binding
		}
		if r.bs[a.Binding].DeltaUpdates {
			return 0
		}
		return strings.Compare(string(a.Packed), string(b.Packed))
	})
	next := 0
	return r.tr.Store(r.s.t.Context(), materialize.NewDocIter(func() (*materialize.Doc, error) {
		if next == len(list) {
			return nil, nil
		}
		next++
		return list[next-1], nil
	}))
}

// commit stores documents of the binding 0 and commits.
func (r *run) commit(checkpoint string, docs ...string) {
	r.s.t.Helper()
	var puts []put
	for _, d := range docs {
		puts = append(puts, put{0, d})
	}
	r.commitAll(checkpoint, puts...)
}

func (r *run) commitAll(checkpoint string, docs ...put) {
	r.s.t.Helper()
	if err := r.store(docs...); err != nil {
		r.s.t.Fatal(err)
	}
	if _, err := r.tr.Commit(r.s.t.Context(), []byte(checkpoint)); err != nil {
		r.s.t.Fatal(err)
	}
	if _, err := r.tr.Acknowledge(r.s.t.Context(), nil); err != nil {
		r.s.t.Fatal(err)
	}
}

// load loads documents by the keys that these have; the result is sorted.
func (r *run) load(docs ...put) []string {
	r.s.t.Helper()
	got, err := r.tryLoad(r.s.t.Context(), docs...)
	if err != nil {
		r.s.t.Fatal(err)
	}
	return got
}

func (r *run) tryLoad(ctx context.Context, docs ...put) ([]string, error) {
	next := 0
	var got []string
	err := r.tr.Load(ctx, materialize.NewKeyIter(func() (*materialize.Key, error) {
		if next == len(docs) {
			return nil, nil
		}
		d := r.doc(docs[next])
		next++
		return &materialize.Key{Binding: d.Binding, Values: d.Key, Packed: d.Packed}, nil
	}), func(binding int, doc []byte) error {
		if !json.Valid(doc) {
			return fmt.Errorf("loaded %q", doc)
		}
		got = append(got, fmt.Sprintf("%d %s", binding, doc))
		return nil
	})
	slices.Sort(got)
	return got, err
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func bindings(bs ...materialize.Binding) []materialize.Binding { return bs }
