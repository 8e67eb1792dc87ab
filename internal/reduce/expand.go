package reduce

import (
	"bytes"

	"github.com/estuary/connectors/internal/jsonschema"
)

// maxSteps bounds how far schemas are followed that refer to each other without an end.
const maxSteps = 200

// expansion finds the parts of the schema that are active for a value. Its conditions are decided first, one byte for each, in the order in which
// expand meets them: the same outcomes always make the same rule.
type expansion struct {
	reducer  *Reducer
	value    []byte
	decide   bool // decide from value; else take the outcomes
	outcomes []byte
	at       int // the next outcome
	active   []*jsonschema.Node
}

// conditional tells whether annotations depend on the value.
func (e expansion) conditional(n *jsonschema.Node) bool {
	seen, found := map[*jsonschema.Node]bool{}, false
	var visit func(*jsonschema.Node)
	visit = func(part *jsonschema.Node) {
		if found || seen[part] {
			return
		}
		seen[part] = true
		r := e.reducer
		if found = r.annotates(part.Then) || r.annotates(part.Else) || r.chosen(part.AnyOf) != nil || r.chosen(part.OneOf) != nil; !found {
			part.Parts(visit)
		}
	}
	visit(n)
	return found
}

// holds tells whether a condition is met.
func (e *expansion) holds(condition *jsonschema.Node) bool {
	if !e.decide {
		e.at++
		return e.outcomes[e.at-1] == 1
	}
	if r := e.reducer; r.possible(condition, e.value) && condition.Accepts(e.value) {
		e.outcomes = append(e.outcomes, 1)
		return true
	}
	e.outcomes = append(e.outcomes, 0)
	return false
}

// expand adds n and all that applies with it to the active nodes, and returns the strategy that counts; nil: none.
func (e *expansion) expand(n *jsonschema.Node, steps int) (found *strategy) {
	r := e.reducer
	if steps > maxSteps || !r.annotates(n) {
		return nil
	}
	if !e.decide {
		e.active = append(e.active, n)
	}
	keep := func(s *strategy) {
		if found == nil {
			found = s
		}
	}
	if n.If != nil && (r.annotates(n.Then) || r.annotates(n.Else)) {
		branch := n.Else
		if e.holds(n.If) {
			branch = n.Then
		}
		if branch != nil {
			keep(e.expand(branch, steps+1))
		}
	}
	keep(r.strategies[n])
	if n.Ref != nil {
		keep(e.expand(n.Ref, steps+1))
	}
	for _, part := range n.AllOf {
		keep(e.expand(part, steps+1))
	}
	for _, branches := range [][]*jsonschema.Node{r.chosen(n.AnyOf), r.chosen(n.OneOf)} {
		for _, part := range branches {
			if e.holds(part) {
				keep(e.expand(part, steps+1))
			}
		}
	}
	return found
}

// possible is a quick look whether a condition can be met at all. The one of captures wants a certain string somewhere in the document, and most do not
// have it.
func (r *Reducer) possible(condition *jsonschema.Node, value []byte) bool {
	literal, known := r.literals[condition]
	if !known {
		literal = necessary(condition, 0)
		r.literals[condition] = literal
	}
	return literal == nil || bytes.Contains(value, literal) || bytes.Contains(value, []byte(`\u`))
}

// necessary returns the text of a string that all documents have that satisfy n, unless they spell it with \u; nil: there is none. Documents with something
// else than objects where n describes members are not thought of: their schema does not allow them.
func necessary(n *jsonschema.Node, steps int) []byte {
	if steps > maxSteps {
		return nil
	}
	if len(n.Values) == 1 && n.Values[0][0] == '"' && !bytes.ContainsAny(n.Values[0], `\/`) {
		return n.Values[0]
	}
	for _, name := range n.Required {
		if p := n.Property(name); p != nil {
			if literal := necessary(p, steps+1); literal != nil {
				return literal
			}
		}
	}
	return nil
}
