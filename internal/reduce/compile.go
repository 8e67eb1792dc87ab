package reduce

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/jsonschema"
)

// Reducer reduces the documents of one schema. It holds buffers: one goroutine uses it at a time.
type Reducer struct {
	root *place
	// byOp: a document whose /_meta/op is "d" is a deletion, whatever the schema says.
	byOp bool

	strategies map[*jsonschema.Node]*strategy
	annotated  map[*jsonschema.Node]bool
	ids        map[*jsonschema.Node]uint32
	places     map[string]*place
	literals   map[*jsonschema.Node][]byte
	tables     []*table // one for each level of objects that is being merged
	free       int
	outcomes   []byte
}

// Compile reads the annotations of a schema. Its error names the location of one that is not understood.
func Compile(schema []byte) (*Reducer, error) {
	root, err := jsonschema.Parse(schema)
	if err != nil {
		return nil, err
	}
	r := &Reducer{
		strategies: map[*jsonschema.Node]*strategy{}, annotated: map[*jsonschema.Node]bool{}, ids: map[*jsonschema.Node]uint32{}, places: map[string]*place{},
		literals: map[*jsonschema.Node][]byte{},
	}
	if err := r.scan(root); err != nil {
		return nil, err
	}
	if err := r.assess(); err != nil {
		return nil, err
	}
	if r.root = r.place([]*jsonschema.Node{root}); r.root == nil {
		r.root = &place{rule: &rule{strategy: &strategy{}}}
	}
	return r, nil
}

// DeleteByOp makes documents whose /_meta/op is "d" deletions, for schemas that do not say so themselves: Airbyte's form of a schema cannot.
func (r *Reducer) DeleteByOp() { r.byOp = true }

// Idempotent tells whether a document may be reduced twice in a row, as happens when a source repeats itself after a crash; if not, where the schema has
// a strategy that counts.
func (r *Reducer) Idempotent() (ok bool, location string) {
	ok = true
	for n, s := range r.strategies {
		if !s.idempotent() && (ok || n.Location < location) {
			ok, location = false, n.Location+"/reduce"
		}
	}
	return ok, location
}

// scan parses the annotations of all nodes that a value can meet.
func (r *Reducer) scan(n *jsonschema.Node) (err error) {
	if _, seen := r.ids[n]; seen {
		return nil
	}
	r.ids[n] = uint32(len(r.ids)) //nolint:gosec // a schema does not have four billion parts
	if n.Reduce != nil {
		if r.strategies[n], err = parseStrategy(n.Reduce); err != nil {
			return fmt.Errorf("the annotation at %s/reduce is not understood: %w", n.Location, err)
		}
	}
	visit := func(part *jsonschema.Node) {
		if err == nil {
			err = r.scan(part)
		}
	}
	n.Parts(visit)
	n.Children(visit)
	return err
}

// assess looks whether the conditions on which annotations depend can be told.
func (r *Reducer) assess() error {
	if len(r.strategies) == 0 {
		return nil
	}
	for n := range r.ids {
		conditions := slices.Concat(r.chosen(n.AnyOf), r.chosen(n.OneOf))
		if n.If != nil && (r.annotates(n.Then) || r.annotates(n.Else)) {
			conditions = append(conditions, n.If)
		}
		for _, c := range conditions {
			if err := c.Assessable(); err != nil {
				return fmt.Errorf("the reductions at %s depend on a condition that is not understood: %w", location(n.Location), err)
			}
		}
	}
	return nil
}

// chosen returns the branches of an anyOf or oneOf if any has annotations.
func (r *Reducer) chosen(branches []*jsonschema.Node) []*jsonschema.Node {
	if slices.ContainsFunc(branches, r.annotates) {
		return branches
	}
	return nil
}

// annotates tells whether a value, or any part of it, may meet an annotation through n.
func (r *Reducer) annotates(n *jsonschema.Node) bool {
	if n == nil || len(r.strategies) == 0 {
		return false
	}
	if known, ok := r.annotated[n]; ok {
		return known
	}
	found, seen := false, map[*jsonschema.Node]bool{}
	var visit func(*jsonschema.Node)
	visit = func(part *jsonschema.Node) {
		if found || seen[part] {
			return
		}
		seen[part] = true
		if found = r.strategies[part] != nil; !found {
			part.Parts(visit)
			part.Children(visit)
		}
	}
	visit(n)
	r.annotated[n] = found
	return found
}

// place is a location of documents: the parts of the schema that apply there. A nil place has no annotation at all, nor has anything below it.
type place struct {
	nodes []*jsonschema.Node
	rule  *rule            // where no condition decides
	rules map[string]*rule // else: by what the conditions come to
}

// rule says how a place is reduced.
type rule struct {
	*strategy
	plain  bool // no part of the value has annotations
	active []*jsonschema.Node
	byName map[string]*place
	items  []*place // by index; elements behind them are like rest
	rest   *place
}

// place returns the place of some nodes, always the same one for the same nodes.
func (r *Reducer) place(nodes []*jsonschema.Node) *place {
	nodes = slices.DeleteFunc(nodes, func(n *jsonschema.Node) bool { return !r.annotates(n) })
	if len(nodes) == 0 {
		return nil
	}
	var id []byte
	for _, n := range nodes {
		id = binary.LittleEndian.AppendUint32(id, r.ids[n])
	}
	if p := r.places[string(id)]; p != nil {
		return p
	}
	p := &place{nodes: nodes, rules: map[string]*rule{}}
	r.places[string(id)] = p
	if e := (expansion{reducer: r}); !slices.ContainsFunc(nodes, e.conditional) {
		p.rule = r.rule(p, nil)
	}
	return p
}

// ruleFor returns the rule for a value.
func (r *Reducer) ruleFor(p *place, value []byte) *rule {
	if p.rule != nil {
		return p.rule
	}
	e := expansion{reducer: r, value: value, outcomes: r.outcomes[:0], decide: true}
	for _, n := range p.nodes {
		e.expand(n, 0)
	}
	r.outcomes = e.outcomes
	known := p.rules[string(e.outcomes)]
	if known == nil {
		known = r.rule(p, e.outcomes)
		p.rules[string(e.outcomes)] = known
	}
	return known
}

// rule makes the rule of a place for what its conditions came to.
func (r *Reducer) rule(p *place, outcomes []byte) *rule {
	e := expansion{reducer: r, outcomes: slices.Clone(outcomes)}
	made := &rule{byName: map[string]*place{}, plain: true}
	for _, n := range p.nodes {
		if s := e.expand(n, 0); made.strategy == nil {
			made.strategy = s
		}
	}
	if made.strategy == nil {
		made.strategy = &strategy{}
	}
	made.active = e.active
	prefix := 0
	for _, n := range e.active {
		for _, named := range n.Properties {
			made.byName[named.Name] = nil
		}
		prefix = max(prefix, len(n.Prefix))
		n.Children(func(c *jsonschema.Node) { made.plain = made.plain && !r.annotates(c) })
	}
	if made.plain {
		return made
	}
	for name := range made.byName {
		made.byName[name] = r.place(properties(e.active, []byte(name)))
	}
	for i := range prefix {
		made.items = append(made.items, r.place(elements(e.active, i)))
	}
	made.rest = r.place(elements(e.active, prefix))
	return made
}

// member returns the place of a member of an object.
func (r *Reducer) member(in *rule, name []byte) *place {
	if in.plain {
		return nil
	}
	if p, ok := in.byName[string(name)]; ok {
		return p
	}
	return r.place(properties(in.active, name))
}

// element returns the place of an element of an array.
func (in *rule) element(i int) *place {
	if i < len(in.items) {
		return in.items[i]
	}
	return in.rest
}

// properties returns what the schemas of an object say of a member.
func properties(active []*jsonschema.Node, name []byte) (nodes []*jsonschema.Node) {
	for _, n := range active {
		declared := false
		if p := n.Property(string(name)); p != nil {
			nodes, declared = append(nodes, p), true
		}
		for _, p := range n.Patterns {
			if p.Name.Match(name) {
				nodes, declared = append(nodes, p.Node), true
			}
		}
		if !declared && n.Additional != nil {
			nodes = append(nodes, n.Additional)
		}
	}
	return nodes
}

func elements(active []*jsonschema.Node, i int) (nodes []*jsonschema.Node) {
	for _, n := range active {
		switch {
		case i < len(n.Prefix):
			nodes = append(nodes, n.Prefix[i])
		case n.Items != nil:
			nodes = append(nodes, n.Items)
		}
	}
	return nodes
}
