package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol"
)

const orders = `{"type":"object","required":["id","region"],"properties":{"id":{"type":"integer"},"region":{"type":"string"},"total":{"type":"number"},"tags":{"type":"array"},"nested":{"type":"object"},
	"empty":{"type":"null"},"mixed":{"type":["integer","string"]},"_meta":{"type":"object","properties":{"op":{"type":"string"}}}}}`

// database answers as the SQL sinks do.
func database(c *protocol.Collection, change map[string]Constraint) map[string]Constraint {
	constraints := map[string]Constraint{}
	for _, p := range c.Projections {
		k := Constraint{Kind: LocationRecommended}
		switch {
		case p.Key:
			k.Kind = LocationRequired
		case len(p.Types) == 0 || slices.Equal(p.Types, []string{"null"}):
			k = Constraint{Kind: FieldForbidden, Reason: "no type"}
		case slices.Equal(p.Types, []string{"object"}) && p.Pointer != "":
			k.Kind = FieldOptional
		}
		constraints[p.Field] = k
	}
	for field, k := range change {
		if constraints[field] = k; k.Kind == 0 {
			delete(constraints, field)
		}
	}
	return constraints
}

func show3(s protocol.FieldSelection) string {
	return fmt.Sprintf("%s | %s | %s", strings.Join(s.Keys, ","), strings.Join(s.Values, ","), s.Document)
}

func TestSelect(t *testing.T) {
	explicit := map[string]string{"Nested Deep": "/nested/deep", "Total": "/total", "number": "/id"}
	for _, c := range []struct {
		name        string
		projections map[string]string
		change      map[string]Constraint
		opts        Options
		want        string
		wrong       string
	}{
		{name: "everything at the top", want: "region,id | total,tags,nested,mixed,_meta,_meta/op | flow_document"},
		{name: "no root", opts: Options{Root: RootUnwanted}, want: "region,id | total,tags,nested,mixed,_meta,_meta/op | "},
		{name: "an optional root", change: map[string]Constraint{Document: {Kind: FieldOptional}}, want: "region,id | total,tags,nested,mixed,_meta,_meta/op | "},
		{name: "an optional root that is wanted", change: map[string]Constraint{Document: {Kind: FieldOptional}}, opts: Options{Root: RootWanted}, want: "region,id | total,tags,nested,mixed,_meta,_meta/op | flow_document"},
		{
			name: "an optional root that is there already", change: map[string]Constraint{Document: {Kind: FieldOptional}}, opts: Options{Current: protocol.FieldSelection{Document: Document}},
			want: "region,id | total,tags,nested,mixed,_meta,_meta/op | flow_document",
		},
		{
			name: "a root that the destination needs", change: map[string]Constraint{Document: {Kind: LocationRequired}}, opts: Options{Root: RootUnwanted},
			wrong: "the destination needs the field flow_document, but the configuration excludes it",
		},
		{name: "a root that the destination cannot have", change: map[string]Constraint{Document: {Kind: FieldForbidden, Reason: "too long"}}, opts: Options{Root: RootWanted}, wrong: "flow_document must be selected because the configuration asks for it, but the destination cannot hold it: too long"},
		{name: "explicit projections", projections: explicit, want: "region,number | tags,nested,mixed,_meta,_meta/op,Nested Deep,Total | flow_document"},
		{
			name: "what is there already stays", projections: explicit, opts: Options{Current: protocol.FieldSelection{Keys: []string{"region", "id"}, Values: []string{"total", "tags"}}},
			want: "region,id | total,tags,nested,mixed,_meta,_meta/op,Nested Deep,Total,number | flow_document",
		},
		{name: "include and exclude", opts: Options{Include: map[string]json.RawMessage{"nested": []byte(`{"x":1}`), "id": []byte("null")}, Exclude: []string{"tags", "_meta"}}, want: "region,id | total,nested,mixed,_meta/op | flow_document"},
		{name: "an excluded key", opts: Options{Exclude: []string{"id"}}, wrong: "id must be selected because it is part of the key, but the configuration excludes it"},
		{name: "included and excluded", opts: Options{Include: map[string]json.RawMessage{"tags": nil}, Exclude: []string{"tags"}}, wrong: "tags must be selected because the configuration asks for it, but the configuration excludes it"},
		{name: "an unknown field", opts: Options{Exclude: []string{"tag"}}, wrong: `shop/orders has no field "tag"; its fields are region, id, total`},
		{name: "an excluded requirement", change: map[string]Constraint{"tags": {Kind: FieldRequired}}, opts: Options{Exclude: []string{"tags"}}, wrong: "tags must be selected because the destination needs it, but the configuration excludes it"},
		{name: "a forbidden key", change: map[string]Constraint{"id": {Kind: FieldForbidden, Reason: "it is no scalar"}}, wrong: "id must be selected because it is part of the key, but the destination cannot hold it: it is no scalar"},
		{name: "a forbidden field that is included", opts: Options{Include: map[string]json.RawMessage{"empty": nil}}, wrong: "empty must be selected because the configuration asks for it, but the destination cannot hold it: no type"},
		{name: "a forbidden field that was there", opts: Options{Current: protocol.FieldSelection{Values: []string{"empty"}}}, want: "region,id | total,tags,nested,mixed,_meta,_meta/op | flow_document"},
		{name: "a location that needs some field", projections: map[string]string{"deep": "/nested/deep"}, change: map[string]Constraint{"deep": {Kind: LocationRequired}}, want: "region,id | total,tags,nested,mixed,_meta,_meta/op,deep | flow_document"},
		{name: "an incompatible field", change: map[string]Constraint{"total": {Kind: Incompatible, Reason: "the column is text"}}, wrong: "total must be selected because it is at the top of the document, but the existing column cannot hold it: the column is text: exclude the field, or start over"},
		{name: "an incompatible field that is excluded", change: map[string]Constraint{"total": {Kind: Incompatible}}, opts: Options{Exclude: []string{"total"}}, want: "region,id | tags,nested,mixed,_meta,_meta/op | flow_document"},
		{name: "no answer, and a forgotten one", change: map[string]Constraint{"total": {}, "tags": {Kind: -1}}, want: "region,id | nested,mixed,_meta,_meta/op | flow_document"},
		{name: "all problems at once", change: map[string]Constraint{"total": {Kind: Incompatible}, "tags": {Kind: Incompatible}}, wrong: "total must be selected because it is at the top of the document, but the existing column cannot hold it; tags must"},
	} {
		collection := build(t, []string{"/region", "/id"}, orders, c.projections)
		got, err := Select(&collection, database(&collection, c.change), c.opts)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: got %v, want %s", c.name, err, c.wrong)
		case c.wrong == "" && (err != nil || show3(got) != c.want):
			t.Errorf("%s:\n got %s, %v\nwant %s", c.name, show3(got), err, c.want)
		}
		if c.name == "include and exclude" && fmt.Sprintf("%s", got.FieldConfig) != `map[nested:{"x":1}]` {
			t.Errorf("the settings are %s", got.FieldConfig)
		}
	}
}

func TestSelect_WithoutKey(t *testing.T) {
	c := build(t, nil, `{"properties":{"a":{"type":"string"}}}`, nil)
	got, err := Select(&c, database(&c, nil), Options{})
	if err != nil || show3(got) != " | a | flow_document" {
		t.Errorf("got %s, %v", show3(got), err)
	}
}

// bug materializations 37: fields that can only be null or nothing are not selected
// bug materializations 38: fields of several types are selected
// bug materializations 39: arrays are selected
func TestSelect_EmptyMixedAndArrays(t *testing.T) {
	c := build(t, []string{"/id"}, `{"properties":{"id":{"type":"integer"},"null":{"type":"null"},"never":false,"array":{"type":"array"},"mixed":{"type":["string","integer"]},"anything":{}}}`, nil)
	got, err := Select(&c, database(&c, nil), Options{})
	if err != nil || show3(got) != "id | array,mixed,anything | flow_document" {
		t.Errorf("got %s, %v", show3(got), err)
	}
}

// bug materializations 28: fields that differ in case only exclude each other, also by what the destination makes of them; keys and explicit ones win
// bug materializations 58: z3z1ma/target-bigquery #120, two names that a destination makes one name of
func TestSelect_FieldsThatAreOneColumn(t *testing.T) {
	const schema = `{"properties":{"id":{"type":"integer"},"ID":{"type":"integer"},"Name":{"type":"string"},"name":{"type":"string"},"first name":{"type":"string"},"first-name":{"type":"string"},"x":{"properties":{"y":{}}}}}`
	sanitised := map[string]Constraint{"first name": {Kind: LocationRecommended, Folded: "first_name"}, "first-name": {Kind: LocationRecommended, Folded: "first_name"}}
	for _, c := range []struct {
		opts        Options
		projections map[string]string
		want, wrong string
	}{
		{want: "id | ID,Name,name,first name,x | flow_document"},
		{opts: Options{CaseInsensitive: true}, want: "id | Name,first name,x | flow_document"},
		{opts: Options{CaseInsensitive: true, Include: map[string]json.RawMessage{"name": nil, "first-name": nil}}, want: "id | name,first-name,x | flow_document"},
		{opts: Options{CaseInsensitive: true, Current: protocol.FieldSelection{Values: []string{"name"}}}, want: "id | name,first name,x | flow_document"},
		{opts: Options{CaseInsensitive: true}, projections: map[string]string{"NAME": "/x/y"}, want: "id | first name,x,NAME | flow_document"},
		{opts: Options{CaseInsensitive: true, Exclude: []string{"Name"}}, want: "id | name,first name,x | flow_document"},
		{opts: Options{CaseInsensitive: true, Include: map[string]json.RawMessage{"ID": nil}}, wrong: "ID must be selected because the configuration asks for it, but it would be the same column as id"},
	} {
		collection := build(t, []string{"/id"}, schema, c.projections)
		got, err := Select(&collection, database(&collection, sanitised), c.opts)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%+v: got %v, want %s", c.opts, err, c.wrong)
		case c.wrong == "" && (err != nil || show3(got) != c.want):
			t.Errorf("%+v:\n got %s, %v\nwant %s", c.opts, show3(got), err, c.want)
		}
	}
}

// bug materializations 47: only fields that are selected are looked at: an incompatible one that nobody wants stops nothing
func TestSelect_IncompatibleFieldsThatNobodyWants(t *testing.T) {
	c := build(t, []string{"/id"}, `{"properties":{"id":{"type":"integer"},"x":{"type":"object","properties":{"id":{"type":"string"}}}}}`, map[string]string{"old": "/x/id"})
	constraints := database(&c, map[string]Constraint{"old": {Kind: Incompatible}})
	got, err := Select(&c, constraints, Options{Exclude: []string{"old"}})
	if err != nil || show3(got) != "id | x | flow_document" {
		t.Errorf("got %s, %v", show3(got), err)
	}
	c.Field("old").Explicit = false // somebody took the projection back, the column stays
	if got, err = Select(&c, constraints, Options{}); err != nil || show3(got) != "id | x | flow_document" {
		t.Errorf("got %s, %v", show3(got), err)
	}
}

func TestExplain_HasAReasonForEachProjection(t *testing.T) {
	c := build(t, []string{"/id"}, orders, map[string]string{"Total": "/total"})
	constraints := database(&c, map[string]Constraint{"mixed": {Kind: LocationRecommended, Reason: "stored as JSON"}, "tags": {}})
	_, decisions, err := Explain(&c, constraints, Options{Exclude: []string{"nested"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range decisions {
		got = append(got, fmt.Sprintf("%v %s: %s", d.Selected, d.Field, d.Reason))
	}
	want := []string{
		"true id: it is part of the key", "true region: it is at the top of the document", "false total: another field has its location, Total", "false tags: the destination says nothing of it",
		"false nested: the configuration excludes it", "false empty: the destination cannot hold it: no type", "true mixed: it is at the top of the document (stored as JSON)",
		"true _meta: it is at the top of the document", "true _meta/op: it says what happened to the document", "true flow_document: the destination recommends it", "true Total: its projection was asked for",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
