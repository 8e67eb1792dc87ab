package reduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/rawjson"
)

// example is a worked example: the documents of one key in order, and what they come to after each.
type example struct {
	Name   string
	Schema json.RawMessage
	Value  json.RawMessage // in place of a schema: that of the member v of documents whose root is merged; the other values are v's, too
	Steps  []struct {
		Doc, Want json.RawMessage
		Deleted   bool
		Error     string
	}
	Partial json.RawMessage // the documents combined before the beginning is known
}

func examples(t *testing.T) (list []example) {
	t.Helper()
	text, err := os.ReadFile("testdata/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	if err = json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("only %d examples", len(list))
	}
	return list
}

func (e *example) compile(t *testing.T) *Reducer {
	t.Helper()
	schema := []byte(e.Schema)
	if e.Value != nil {
		schema = fmt.Appendf(nil, `{"reduce":{"strategy":"merge"},"properties":{"v":%s}}`, e.Value)
	}
	r, err := Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (e *example) document(value json.RawMessage) []byte {
	switch {
	case e.Value == nil:
		return value
	case string(value) == `"absent"`:
		return []byte("{}")
	}
	return fmt.Appendf(nil, `{"v":%s}`, value)
}

func TestExamples(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(e.Name, func(t *testing.T) {
			r := e.compile(t)
			var stored, combined []byte
			for i, step := range e.Steps {
				doc := e.document(step.Doc)
				got, deleted, err := r.Reduce([]byte("kept"), stored, doc, true)
				if step.Error != "" {
					if err == nil || err.Error() != step.Error || string(got) != "kept" {
						t.Fatalf("step %d: got %s, %v, want %s", i, got, err, step.Error)
					}
					return
				}
				want := e.document(step.Want)
				if err != nil || string(got) != "kept"+string(want) || deleted != step.Deleted {
					t.Fatalf("step %d: got %s, %v, %v, want %s, %v", i, got, deleted, err, want, step.Deleted)
				}
				stored = got[len("kept"):]
				if i == 0 {
					if single, gone, err := r.Single(nil, doc); err != nil || gone != deleted || !bytes.Equal(single, stored) {
						t.Errorf("Single is %s, %v, %v", single, gone, err)
					}
				}
				if combined, _, err = r.Reduce(nil, combined, doc, false); err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
			}
			if e.Partial != nil && string(combined) != string(e.document(e.Partial)) {
				t.Errorf("partial: got %s, want %s", combined, e.document(e.Partial))
			}
		})
	}
}

// However the documents of a key are grouped before their beginning is known, they come to the same, with and without what is stored.
func TestReduce_IsAssociative(t *testing.T) {
	random := rand.Uint64()
	t.Logf("seed %d", random)
	rnd := rand.New(rand.NewPCG(random, 0))
	for _, e := range examples(t) {
		last := e.Steps[len(e.Steps)-1]
		if last.Error != "" || len(e.Steps) < 2 {
			continue
		}
		r := e.compile(t)
		mixed := strings.Contains(e.Name, "oneOf") || strings.Contains(e.Name, "beside them") // these choose the strategy by the later document
		if mixed {
			continue
		}
		for range 100 {
			docs := make([][]byte, 3+rnd.IntN(4))
			for i := range docs {
				docs[i] = e.document(e.Steps[rnd.IntN(len(e.Steps))].Doc)
			}
			var line []byte
			for _, d := range docs {
				line = reduced(t, r, line, d, false)
			}
			if tree := grouped(t, r, rnd, docs); !bytes.Equal(line, tree) {
				t.Fatalf("%s: %s\ncome to %s one by one, to %s grouped", e.Name, bytes.Join(docs, []byte(" ")), line, tree)
			}
			stored := reduced(t, r, nil, docs[0], true)
			whole := reduced(t, r, stored, reduced(t, r, docs[1], docs[2], false), true)
			steps := reduced(t, r, reduced(t, r, stored, docs[1], true), docs[2], true)
			if strings.Contains(e.Name, "delet") || strings.Contains(string(e.Schema)+string(e.Value), "delete") {
				continue // a deletion in the middle cannot be part of a group: TestDeletes_EndsHistory
			}
			if !bytes.Equal(whole, steps) {
				t.Fatalf("%s: %s, then %s and %s\ncome to %s at once, to %s one by one", e.Name, stored, docs[1], docs[2], whole, steps)
			}
		}
	}
}

func reduced(t *testing.T, r *Reducer, left, right []byte, full bool) []byte {
	t.Helper()
	out, _, err := r.Reduce(nil, left, right, full)
	if err != nil {
		t.Fatalf("%s and %s: %v", left, right, err)
	}
	if err = rawjson.Valid(out); err != nil {
		t.Fatalf("%s and %s come to %s: %v", left, right, out, err)
	}
	return out
}

func grouped(t *testing.T, r *Reducer, rnd *rand.Rand, docs [][]byte) []byte {
	t.Helper()
	if len(docs) == 1 {
		return reduced(t, r, nil, docs[0], false)
	}
	cut := 1 + rnd.IntN(len(docs)-1)
	return reduced(t, r, grouped(t, r, rnd, docs[:cut]), grouped(t, r, rnd, docs[cut:]), false)
}

// A combiner that asks Deletes and starts over comes to the same as one that reduces into the stored document each time.
func TestDeletes_EndsHistory(t *testing.T) {
	random := rand.Uint64()
	t.Logf("seed %d", random)
	rnd := rand.New(rand.NewPCG(random, 0))
	conditional, err := Compile([]byte(`{"if":{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"const":"d"}}}}},
		"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}},"properties":{"n":{"reduce":{"strategy":"sum"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	flat, err := Compile([]byte(`{"reduce":{"strategy":"merge"},"properties":{"n":{"reduce":{"strategy":"sum"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	flat.DeleteByOp()
	deletions := 0
	for range 5_000 {
		var stored, combined, viaFlat []byte
		var gone, cut, flatGone bool
		stored = reduced(t, conditional, nil, randomDocument(rnd, "c"), true)
		before := stored
		viaFlat = stored
		for range 1 + rnd.IntN(4) {
			doc := randomDocument(rnd, []string{"c", "u", "d"}[rnd.IntN(3)])
			if stored, gone, err = conditional.Reduce(nil, stored, doc, true); err != nil {
				t.Fatal(err)
			}
			if viaFlat, flatGone, err = flat.Reduce(nil, viaFlat, doc, true); err != nil || flatGone != gone || !bytes.Equal(viaFlat, stored) {
				t.Fatalf("the flat schema comes to %s, %v, the conditional one to %s, %v", viaFlat, flatGone, stored, gone)
			}
			if combined != nil && conditional.Deletes(combined) {
				combined, cut = nil, true
			}
			combined = reduced(t, conditional, combined, doc, false)
		}
		if cut {
			before = nil
			deletions++
		}
		got, deleted, err := conditional.Reduce(nil, before, combined, true)
		if err != nil || deleted != gone || !bytes.Equal(got, stored) {
			t.Fatalf("combined: %s, %v, %v, one by one: %s, %v", got, deleted, err, stored, gone)
		}
	}
	if deletions < 500 {
		t.Errorf("only %d histories had a deletion in the middle", deletions)
	}
}

func randomDocument(rnd *rand.Rand, op string) []byte {
	doc := []byte(`{"id":1`)
	for _, name := range []string{"a", "b", "n"} {
		if rnd.IntN(2) == 0 {
			doc = fmt.Appendf(doc, `,"%s":%d`, name, rnd.IntN(10))
		}
	}
	return fmt.Appendf(doc, `,"_meta":{"op":"%s"}}`, op)
}

// An update of a set does what its terms say, and two of them in one do what they do in a row.
func TestSet_UpdatesComposeAsFunctionsDo(t *testing.T) {
	random := rand.Uint64()
	t.Logf("seed %d", random)
	rnd := rand.New(rand.NewPCG(random, 0))
	for _, arrays := range []bool{false, true} {
		r, err := Compile([]byte(`{"reduce":{"strategy":"merge"},"properties":{"v":{"reduce":{"strategy":"set","key":[""]}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		effects := map[string]int{}
		for range 20_000 {
			base := setUpdate{add: rnd.IntN(32)}
			f, g := randomUpdate(rnd), randomUpdate(rnd)
			effects[f.effect+" "+g.effect]++
			want := setUpdate{add: g.apply(f.apply(base.add))}
			b, both := base.json(arrays), reduced(t, r, f.json(arrays), g.json(arrays), false)
			inARow := reduced(t, r, reduced(t, r, b, f.json(arrays), true), g.json(arrays), true)
			atOnce := reduced(t, r, b, both, true)
			if !bytes.Equal(inARow, want.json(arrays)) || !bytes.Equal(atOnce, inARow) {
				t.Fatalf("%s, then %s and %s (%s)\nin a row %s, at once %s, want %s", b, f.json(arrays), g.json(arrays), both, inARow, atOnce, want.json(arrays))
			}
		}
		if len(effects) != 9 {
			t.Errorf("not all pairs of effects: %v", effects)
		}
	}
}

// setUpdate is an update of a set of the numbers 0 to 4, as bits.
type setUpdate struct {
	add, mask int
	effect    string
}

func randomUpdate(rnd *rand.Rand) setUpdate {
	return setUpdate{add: rnd.IntN(32) & rnd.IntN(32), mask: rnd.IntN(32), effect: []string{"", "remove", "intersect"}[rnd.IntN(3)]}
}

func (u setUpdate) apply(set int) int {
	switch u.effect {
	case "remove":
		set &^= u.mask
	case "intersect":
		set &= u.mask
	}
	return set | u.add
}

func (u setUpdate) json(arrays bool) []byte {
	terms := func(bits int) string {
		var list []string
		for i := range 5 {
			switch {
			case bits>>i&1 == 0:
			case arrays:
				list = append(list, fmt.Sprint(i))
			default:
				list = append(list, fmt.Sprintf(`"%d":1`, i))
			}
		}
		if arrays {
			return "[" + strings.Join(list, ",") + "]"
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	doc := `{"v":{"add":` + terms(u.add)
	if u.effect != "" {
		doc += `,"` + u.effect + `":` + terms(u.mask)
	}
	return []byte(doc + "}}")
}

func TestIsDeletion(t *testing.T) {
	for doc, want := range map[string]bool{
		`{"_meta":{"op":"d"}}`: true, `{"a":"d","_meta":{"source":{"op":"d"},"op" : "d" }}`: true, `{"\u005fmeta":{"op":"\u0064"}}`: true, `{"_meta":{"op":"d"},"_meta":{"op":"u"}}`: false,
		`{"_meta":{"op":"c"},"x":"d"}`: false, `{"op":"d"}`: false, `{"_meta":{"op":["d"]}}`: false, `{"_meta":{"op":"dd"},"x":"d"}`: false, `{}`: false, `{"_meta":"d"}`: false, ``: false,
	} {
		if got := IsDeletion([]byte(doc)); got != want {
			t.Errorf("IsDeletion(%s) = %v", doc, got)
		}
	}
}

func TestCompile_NamesTheLocationOfWhatItDoesNotKnow(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{"reduce":{"strategy":"first"}}}}`: `the annotation at /properties/a/reduce is not understood: there is no strategy "first", the known ones are append, firstWriteWins, jsonSchemaMerge, ` +
			`lastWriteWins, maximize, merge, minimize, set, sum`,
		`{"reduce":{"strategy":"sum","key":["/a"]}}`:                               `the annotation at /reduce is not understood: the strategy sum has no member "key"`,
		`{"reduce":{"strategy":"merge","kee":["/a"]}}`:                             `the annotation at /reduce is not understood: the strategy merge has no member "kee"`,
		`{"reduce":{"strategy":"merge","key":"/a"}}`:                               `the annotation at /reduce is not understood: its "key" must be a list of JSON pointers`,
		`{"reduce":{"strategy":"merge","key":[]}}`:                                 `the annotation at /reduce is not understood: its "key" must be a list of JSON pointers`,
		`{"reduce":{"strategy":"merge","key":["a"]}}`:                              `the annotation at /reduce is not understood: the JSON pointer "a" must start with a slash: /a`,
		`{"reduce":{"strategy":"merge","delete":1}}`:                               `the annotation at /reduce is not understood: its "delete" must be true or false`,
		`{"items":{"reduce":"merge"}}`:                                             `the annotation at /items/reduce is not understood: it must be an object with a member "strategy"`,
		`{"allOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"reduce":{}}}}`:             `the annotation at /$defs/x/reduce is not understood: it must be an object with a member "strategy"`,
		`{"if":{"multipleOf":2},"then":{"reduce":{"strategy":"sum"}}}`:             `the reductions at the root depend on a condition that is not understood: /if: multipleOf is not understood here`,
		`{"items":{"oneOf":[{"uniqueItems":true},{"reduce":{"strategy":"sum"}}]}}`: `the reductions at /items depend on a condition that is not understood: /items/oneOf/0: uniqueItems is not understood here`,
		`[]`: `a JSON schema must be an object, not []`,
	} {
		if _, err := Compile([]byte(schema)); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", schema, err, want)
		}
	}
	// What is never met, and conditions on which nothing depends, need not be understood.
	for _, schema := range []string{`{"$defs":{"x":{"reduce":{"strategy":"first"}}}}`, `{"if":{"multipleOf":2},"then":{"title":"even"},"reduce":{"strategy":"merge"}}`, `{"$ref":"#/none"}`, "true", "{}"} {
		if _, err := Compile([]byte(schema)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestIdempotent(t *testing.T) {
	for schema, want := range map[string]string{
		`{"reduce":{"strategy":"merge"},"properties":{"a":{"reduce":{"strategy":"maximize"}},"b":{"reduce":{"strategy":"firstWriteWins"}}}}`: "",
		`{"properties":{"z":{"items":{"reduce":{"strategy":"sum"}}},"a":{"reduce":{"strategy":"append"}}}}`:                                  "/properties/a/reduce",
		`{"then":{"reduce":{"strategy":"set"}},"if":{}}`:                                                                                     "/then/reduce",
		`{}`: "",
	} {
		r, err := Compile([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		if ok, location := r.Idempotent(); ok != (want == "") || location != want {
			t.Errorf("%s: %v, %s, want %s", schema, ok, location, want)
		}
	}
}

func TestReduce_ManyMembersAndDuplicates(t *testing.T) {
	r, err := Compile([]byte(`{"reduce":{"strategy":"merge"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 7, 8, 9, 10, 33, 1000} {
		left, right, want := []byte("{"), []byte("{"), []byte("{")
		for i := range n {
			left = fmt.Appendf(left, `"m%d":%d,"m%d":-1,`, i, i, i)
			if i%2 == 1 {
				right = fmt.Appendf(right, `"m%d":7,"m%d":"r",`, n-i, n-i)
			}
			value := "-1"
			if (n-i)%2 == 1 && i > 0 {
				value = `"r"`
			}
			want = fmt.Appendf(want, `"m%d":%s,`, i, value)
		}
		right = append(right, `"new":1}`...)
		left[len(left)-1] = '}'
		want = append(want, `"new":1}`...)
		got := reduced(t, r, left, right, true)
		if !bytes.Equal(got, want) {
			t.Errorf("%d members: got %.300s\nwant %.300s", n, got, want)
		}
	}
}

func TestReduce_OfNothing(t *testing.T) {
	r, err := Compile([]byte(`{"reduce":{"strategy":"merge"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ left, right, want string }{{"", "", ""}, {` {"a":1} `, "", `{"a":1}`}, {"", "\n{\"a\":1}\n", `{"a":1}`}, {" ", "{}", "{}"}} {
		if got, deleted, err := r.Reduce(nil, []byte(c.left), []byte(c.right), true); err != nil || deleted || string(got) != c.want {
			t.Errorf("%q and %q come to %q, %v, %v", c.left, c.right, got, deleted, err)
		}
	}
	if r.Deletes(nil) || r.Deletes([]byte(" ")) {
		t.Error("nothing is a deletion")
	}
}

// everything has each strategy somewhere, and is merged at the root.
const everything = `{"reduce":{"strategy":"merge"},"properties":{
	"first":{"reduce":{"strategy":"firstWriteWins"}},"deep":{"$ref":"#"},"append":{"reduce":{"strategy":"append"}},"sum":{"reduce":{"strategy":"sum"}},"min":{"reduce":{"strategy":"minimize","key":["/0","/k"]}},
	"max":{"reduce":{"strategy":"maximize"}},"set":{"reduce":{"strategy":"set","key":[""]},"properties":{"add":{"additionalProperties":{"reduce":{"strategy":"sum"}}}}},"schema":{"reduce":{"strategy":"jsonSchemaMerge"}},
	"byKey":{"reduce":{"strategy":"merge","key":["/k"]},"items":{"$ref":"#"}},"list":{"reduce":{"strategy":"merge"},"items":{"reduce":{"strategy":"sum"}}},
	"gone":{"if":{"type":"null"},"then":{"reduce":{"strategy":"lastWriteWins","delete":true}}},"any":{"anyOf":[{"type":"string","reduce":{"strategy":"maximize"}},{"type":"number","reduce":{"strategy":"sum"}}]}
}}`

func FuzzReduce_NeverPanicsAndMakesJSON(f *testing.F) {
	f.Add([]byte(`{"first":1,"deep":{"sum":1},"append":[1],"sum":"1.5","min":[1],"max":2,"set":{"add":{"a":1}},"schema":{"type":"string"},"byKey":[{"k":1,"sum":1}],"list":[1],"gone":1,"any":"x"}`),
		[]byte(`{"first":2,"deep":{"sum":2},"append":[],"sum":2,"min":[0],"max":"a","set":{"remove":{"a":1}},"schema":{"type":"null"},"byKey":[{"k":2}],"list":[1,2],"gone":null,"any":1.5}`))
	f.Add([]byte(`{"set":{"add":[1,2]}}`), []byte(`{"set":{"intersect":[2,3],"add":[4]}}`))
	f.Add([]byte(`{"set":{"remove":{}}}`), []byte(` {"deep":null,"list":null,"\u0073um":3,"sum":4} `))
	f.Fuzz(func(t *testing.T, left, right []byte) {
		if rawjson.Valid(left) != nil || rawjson.Valid(right) != nil {
			return
		}
		r, err := Compile([]byte(everything))
		if err != nil {
			t.Fatal(err)
		}
		for _, full := range []bool{false, true} {
			out, _, err := r.Reduce(nil, left, right, full)
			if err == nil {
				err = rawjson.Valid(out)
			} else if _, ok := errors.AsType[*Error](err); ok && len(out) == 0 {
				err = nil
			}
			if err != nil {
				t.Fatalf("%s and %s come to %s, %v", left, right, out, err)
			}
		}
	})
}

// A merge of the roots comes to the members of both, whatever they are called.
func FuzzReduce_MergesLikeMaps(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":2}}`), []byte(`{"b":{},"\u0061":null,"":[]}`))
	f.Add([]byte(`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1}`), []byte(`{"10":2,"1":2,"x":2,"10":3}`))
	f.Fuzz(func(t *testing.T, left, right []byte) {
		var a, b, got map[string]json.RawMessage
		if json.Unmarshal(left, &a) != nil || json.Unmarshal(right, &b) != nil || a == nil || b == nil {
			return
		}
		r, err := Compile([]byte(`{"reduce":{"strategy":"merge"}}`))
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := r.Reduce(nil, left, right, true)
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s and %s come to %s, %v", left, right, out, err)
		}
		maps.Copy(a, b)
		if !maps.EqualFunc(a, got, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
			t.Fatalf("%s and %s come to %s, want %s", left, right, out, a)
		}
	})
}

func TestReduce_OfARowAllocatesNothing(t *testing.T) {
	r, err := Compile([]byte(`{"reduce":{"strategy":"merge"},"properties":{"id":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.DeleteByOp()
	left, right := benchmarkRow("c"), benchmarkRow("u")
	dst := make([]byte, 0, 2048)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = r.Reduce(dst, left, right, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func benchmarkRow(op string) []byte {
	doc := []byte(`{"id":1`)
	for i := range 15 {
		doc = fmt.Appendf(doc, `,"column_%d":"value %d of the row"`, i, i)
	}
	return fmt.Appendf(doc, `,"_meta":{"op":"%s","source":{"loc":[1,2,3]}}}`, op)
}

func BenchmarkReduce_Row(b *testing.B) {
	r, err := Compile([]byte(`{"if":{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"const":"d"}}}}},"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`))
	if err != nil {
		b.Fatal(err)
	}
	left, right := benchmarkRow("c"), benchmarkRow("u")
	dst := make([]byte, 0, 2048)
	b.SetBytes(int64(len(left) + len(right)))
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = r.Reduce(dst, left, right, true)
	}
}
