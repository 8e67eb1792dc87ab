package transact_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/jsonkey"
	"github.com/estuary/connectors/internal/transact"
)

// merging joins flat objects: the members of both sides, n added up, the others from the right.
type merging struct{}

func (merging) Reduce(dst, left, right []byte, full bool) ([]byte, bool, error) {
	out := object(left)
	if full {
		out["first"] = json.RawMessage("true")
	}
	for name, value := range object(right) {
		if name == "n" && out["n"] != nil {
			value = json.RawMessage(strconv.Itoa(number(out["n"]) + number(value)))
		}
		out[name] = value
	}
	joined, err := json.Marshal(out)
	return append(dst, joined...), full && out["gone"] != nil, err
}

// Single marks the document, as Reduce does when left is the beginning, so that the tests see that each document was begun once.
func (merging) Single(dst, doc []byte) ([]byte, bool, error) {
	out := object(doc)
	if out["first"] != nil {
		return nil, false, fmt.Errorf("%s is the first document of a key twice", doc)
	}
	out["first"] = json.RawMessage("true")
	marked, err := json.Marshal(out)
	return append(dst, marked...), out["gone"] != nil, err
}

// Deletes: the schema has a rule of its own, too.
func (merging) Deletes(doc []byte) bool { return object(doc)["gone"] != nil }

func object(doc []byte) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(doc, &out); err != nil {
		panic(err)
	}
	return out
}

func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		panic(err)
	}
	return n
}

// record is a document as the tests make it.
type record struct {
	key  int
	op   string // empty: none
	n    int
	more map[string]string
}

func (r record) json() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"k":%d,"n":%d`, r.key, r.n)
	for _, name := range slices.Sorted(maps.Keys(r.more)) {
		fmt.Fprintf(&b, `,%q:%q`, name, r.more[name])
	}
	if r.op != "" {
		fmt.Fprintf(&b, `,"_meta":{"op":%q}`, r.op)
	}
	return append([]byte(b.String()), '}')
}

// table is the destination, as plain as can be.
type table map[int]map[string]json.RawMessage

func opOf(doc map[string]json.RawMessage) string {
	var meta struct{ Op string }
	if raw := doc["_meta"]; raw != nil {
		if err := json.Unmarshal(raw, &meta); err != nil {
			panic(err)
		}
	}
	return meta.Op
}

// apply is what a transaction of one record after the other would make of a document; nil: there is none.
func apply(before map[string]json.RawMessage, r record) map[string]json.RawMessage {
	doc := object(r.json())
	if before == nil || opOf(before) == "d" && r.op != "u" && r.op != "d" {
		return doc
	}
	joined, _, err := merging{}.Reduce(nil, encode(before), encode(doc), true)
	if err != nil {
		panic(err)
	}
	return object(joined)
}

func encode(doc map[string]json.RawMessage) []byte {
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}

func pack(t *testing.T, key int) []byte {
	t.Helper()
	packed, err := jsonkey.AppendPacked(nil, []byte(strconv.Itoa(key)))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// random makes a record of few keys, now and then a large one.
func random(rng *rand.Rand, keys int) record {
	r := record{key: rng.IntN(keys) - keys/2, op: []string{"c", "u", "u", "d", ""}[rng.IntN(5)], n: rng.IntN(100), more: map[string]string{}}
	for _, name := range []string{"a", "b", "c"} {
		if rng.IntN(2) == 0 {
			r.more[name] = strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(30))
		}
	}
	if rng.IntN(1000) == 0 {
		r.more["large"] = strings.Repeat("x", 30_000)
	}
	return r
}

// TestCombiner_EqualsTheModel runs transactions of random records, with loads and spills, against one record after the other applied to a map.
func TestCombiner_EqualsTheModel(t *testing.T) {
	seeds := uint64(12)
	if n, err := strconv.ParseUint(os.Getenv("STRESS_SEEDS"), 10, 64); err == nil && n > 0 {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			m := newModel(t, rng)
			for range 4 {
				m.transaction()
			}
		})
	}
}

// model is a Combiner of one keyed and one delta binding, and what must come out of it.
type model struct {
	t      *testing.T
	rng    *rand.Rand
	c, out *transact.Combiner
	dest   table
	keys   int
	known  bool
	max    []byte

	waiting      []record // added after the last seal
	waitingDelta []string
}

func newModel(t *testing.T, rng *rand.Rand) *model {
	m := &model{t: t, rng: rng, dest: table{}, keys: 1 + rng.IntN(300), known: rng.IntN(2) == 0}
	c, err := transact.New([]transact.Binding{
		{Stream: "keyed", Key: []string{"/k"}, KeyFields: []string{"k"}, ValuePointers: []string{"/n", "/a", "/_meta/op"}, Document: true, Reducer: merging{}},
		{Stream: "delta", ValuePointers: []string{"/k"}, Document: true},
	}, transact.Options{MemoryBytes: []int{1 << 20, 100 << 10, 20 << 10}[rng.IntN(3)], Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	m.c = c
	return m
}

// transaction adds records, seals some of them, stores those and keeps the rest for the next one.
func (m *model) transaction() {
	records, delta := m.waiting, m.waitingDelta
	m.waiting, m.waitingDelta = nil, nil
	count := m.rng.IntN(1500)
	sealAt, deltaAt := count-m.rng.IntN(count/2+1), count-m.rng.IntN(count/2+1)
	for i := range count {
		r := random(m.rng, m.keys)
		m.add(0, r.json())
		if i < sealAt {
			records = append(records, r)
		} else {
			m.waiting = append(m.waiting, r)
		}
		if i == sealAt-1 {
			m.c.Seal(0)
		}
		if i%7 == 0 {
			doc := string(r.json())
			m.add(1, []byte(doc))
			if i < deltaAt {
				delta = append(delta, doc)
			} else {
				m.waitingDelta = append(m.waitingDelta, doc)
			}
		}
		if i == deltaAt-1 {
			m.c.Seal(1)
		}
	}
	if sealAt == 0 {
		m.c.Seal(0)
	}
	if deltaAt == 0 {
		m.c.Seal(1)
	}
	m.out = m.c.Split(m.out)
	if got, want := m.out.Len(), len(records)+len(delta); got != want {
		m.t.Fatalf("the transaction has %d records, want %d", got, want)
	}
	m.store(records, delta)
	m.out.Reset()
}

func (m *model) add(binding int, doc []byte) {
	scratch := slices.Clone(doc)
	if err := m.c.Add(binding, scratch, nil); err != nil {
		m.t.Fatal(err)
	}
	clear(scratch) // Add copies
}

func (m *model) store(records []record, delta []string) {
	m.out.SetMaxKey(0, m.max, m.known)
	m.load(records)
	want := map[int]map[string]json.RawMessage{}
	for _, r := range records {
		before, seen := want[r.key]
		if !seen {
			before = m.dest[r.key]
		}
		if before == nil && !seen {
			doc := apply(nil, r)
			doc["first"] = json.RawMessage("true")
			want[r.key] = doc
			continue
		}
		was := opOf(before)
		want[r.key] = apply(before, r)
		if was == "d" && r.op != "u" && r.op != "d" {
			want[r.key]["first"] = json.RawMessage("true")
		}
	}
	var last []byte
	keyed := 0
	docs := m.out.Docs()
	for {
		doc, err := docs.Next()
		if err != nil {
			m.t.Fatal(err)
		}
		if doc == nil {
			break
		}
		if doc.Binding == 1 {
			if len(delta) == 0 || string(doc.JSON) != delta[0] || doc.Exists || doc.Delete {
				m.t.Fatalf("a delta record is %s, want %v", doc.JSON, delta[:min(1, len(delta))])
			}
			delta = delta[1:]
			continue
		}
		keyed++
		if last != nil && string(doc.Packed) <= string(last) {
			m.t.Fatalf("key %s comes after one that is not below it", doc.Key[0])
		}
		last = slices.Clone(doc.Packed)
		m.compare(doc, want[number(doc.Key[0])])
	}
	if keyed != len(want) || len(delta) != 0 {
		m.t.Fatalf("%d documents came, want %d; %d delta records are missing", keyed, len(want), len(delta))
	}
	for key, doc := range want {
		if m.dest[key] != nil || opOf(doc) != "d" {
			m.dest[key] = doc
		}
	}
	m.max = slices.Clone(m.out.MaxKey(0))
}

func (m *model) compare(doc *transact.Doc, want map[string]json.RawMessage) {
	key := number(doc.Key[0])
	if got := object(doc.JSON); !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		m.t.Fatalf("key %d is %s, want %s", key, doc.JSON, encode(want))
	}
	if exists := m.dest[key] != nil; doc.Exists != exists || doc.Delete != (opOf(want) == "d") {
		m.t.Fatalf("key %d: exists %t, delete %t; the destination has it: %t; document %s", key, doc.Exists, doc.Delete, exists, doc.JSON)
	}
	for i, name := range []string{"n", "a"} {
		if string(doc.Values[i]) != string(want[name]) {
			m.t.Fatalf("key %d: value %s is %s, want %s", key, name, doc.Values[i], want[name])
		}
	}
	if op := string(doc.Values[2]); strings.Trim(op, `"`) != opOf(want) {
		m.t.Fatalf("key %d: operation %s, want %s", key, op, opOf(want))
	}
}

// load answers the keys that are asked for, all of them at the end or one by one.
func (m *model) load(records []record) {
	asked := map[int]bool{}
	loaded := func(key int) {
		if doc := m.dest[key]; doc != nil {
			if err := m.out.Loaded(0, encode(doc)); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	atOnce := m.rng.IntN(2) == 0
	keys := m.out.Keys()
	for {
		k, err := keys.Next()
		if err != nil {
			m.t.Fatal(err)
		}
		if k == nil {
			break
		}
		key := number(k.Values[0])
		if k.Binding != 0 || asked[key] || string(k.Packed) != string(pack(m.t, key)) {
			m.t.Fatalf("binding %d asks for key %d, %x, before: %t", k.Binding, key, k.Packed, asked[key])
		}
		asked[key] = true
		if atOnce {
			loaded(key)
		}
	}
	for _, r := range records {
		below := !m.known || string(pack(m.t, r.key)) <= string(m.max)
		if asked[r.key] != below {
			m.t.Fatalf("key %d: asked %t, known greatest key %t %x", r.key, asked[r.key], m.known, m.max)
		}
	}
	if !atOnce {
		order := slices.Collect(maps.Keys(asked)) // any order
		for _, key := range order {
			loaded(key)
		}
	}
}
