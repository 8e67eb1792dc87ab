package columns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
)

// how tells by what a column came to its location; the first that applies counts.
type how uint8

const (
	byProjection how = iota
	bySchema
	byFoldedProjection
	byFoldedSchema
	byName
)

// placed is a column at its location.
type placed struct {
	tokens []string
	how    how
	// lost: what the user adds to each document wins over the column.
	lost bool
}

// places finds the location of each of a file's columns.
type places struct {
	fields        []string
	exact, folded map[string]*inferred
	projections   *projections
	added         *added
	taken         map[string]int // column by the pointer of its location
	found         []placed
	warnings      []string
}

// place returns the locations of columns by their names, and warnings. schema is nil where formats bring locations of their own.
func place(fields []string, schema *jsonschema.Node, projections *projections, added *added) ([]placed, []string, error) {
	p := places{fields: fields, projections: projections, added: added, taken: make(map[string]int, len(fields)), found: make([]placed, len(fields))}
	p.exact, p.folded = infer(schema, fields)
	byRank := make([][]int, byName+1)
	for i, field := range fields {
		if err := p.find(i, field); err != nil {
			return nil, nil, err
		}
		byRank[p.found[i].how] = append(byRank[p.found[i].how], i)
	}
	// The better ones first, so that only folded ones have to give way.
	for rank := range byRank {
		for _, i := range byRank[rank] {
			if err := p.take(i, &byRank[byName]); err != nil {
				return nil, nil, err
			}
		}
	}
	return p.found, p.warnings, nil
}

// find looks a name up.
func (p *places) find(i int, field string) error {
	f := &p.found[i]
	if hit := p.projections.exact[field]; hit != nil {
		if hit.reserved {
			return fmt.Errorf("placing column %q: the projection puts it at %q, %s; give the projection another field's name, or rename the column", field, hit.pointer, hit.why)
		}
		*f = placed{tokens: hit.tokens, how: byProjection}
		return nil
	}
	if hit := p.exact[field]; hit.tokens != nil {
		*f = placed{tokens: hit.tokens, how: bySchema}
		p.warnRival(field, hit)
		return nil
	}
	folded := jsonschema.FoldBlanks(field)
	if hit := p.projections.folded[folded]; hit != nil {
		*f = placed{tokens: hit.tokens, how: byFoldedProjection}
		return nil
	}
	if hit := p.folded[folded]; hit.tokens != nil {
		*f = placed{tokens: hit.tokens, how: byFoldedSchema}
		p.warnRival(field, hit)
		return nil
	}
	*f = placed{tokens: []string{field}, how: byName}
	return nil
}

func (p *places) warnRival(field string, hit *inferred) {
	if hit.rival != nil {
		p.warnings = append(p.warnings, fmt.Sprintf("column %q may be %s or %s of the schema: it is placed at %s, a projection would tell", field, pointer(hit.tokens), pointer(hit.rival), pointer(hit.tokens)))
	}
}

// take gives a column its location. A folded hit on one that is taken falls back to the column's name, and is appended to literal.
func (p *places) take(i int, literal *[]int) error {
	f := &p.found[i]
	at := pointer(f.tokens)
	other, taken := p.taken[at]
	switch {
	case !taken:
		p.taken[at] = i
	case f.how == byFoldedProjection || f.how == byFoldedSchema:
		*f = placed{tokens: []string{p.fields[i]}, how: byName}
		*literal = append(*literal, i)
		p.warnings = append(p.warnings, fmt.Sprintf("column %q would be at %s, too, where column %q is: it keeps its own name", p.fields[i], at, p.fields[other]))
		return nil
	default:
		return fmt.Errorf("placing columns: %q and %q are both at %s; a projection of one of them to another location tells them apart", p.fields[other], p.fields[i], at)
	}
	if p.added.covers(f.tokens) {
		f.lost = true
		p.warnings = append(p.warnings, fmt.Sprintf("column %q is left out: at %s stands what is added to each document", p.fields[i], at))
	}
	return nil
}

// inside returns an error if one column is at a location inside of another's.
func inside(fields []string, found []placed) error {
	at := make(map[string]int, len(found))
	for i, f := range found {
		at[pointer(f.tokens)] = i
	}
	for i, f := range found {
		if f.lost {
			continue
		}
		for n := 1; n < len(f.tokens); n++ {
			if outer, is := at[pointer(f.tokens[:n])]; is {
				return fmt.Errorf("placing columns: %q is at %s, inside of %q at %s; a projection of one of them to another location parts them", fields[i], pointer(f.tokens), fields[outer], pointer(f.tokens[:n]))
			}
		}
	}
	return nil
}

// projection is one of the user's.
type projection struct {
	pointer string
	tokens  []string
	// reserved ones are passed over unless a column bears the name: they stand for the whole document, or for what is added to it.
	reserved bool
	why      string
}

// projections finds the user's projections by field.
type projections struct{ exact, folded map[string]*projection }

func parseProjections(user map[string]string, added *added) (*projections, error) {
	p := &projections{exact: make(map[string]*projection, len(user)), folded: make(map[string]*projection, len(user))}
	fields := make([]string, 0, len(user))
	for field := range user {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	for _, field := range fields {
		one := &projection{pointer: user[field]}
		var ok bool
		if one.tokens, ok = parsePointer(one.pointer); !ok {
			return nil, fmt.Errorf("reading the projection of %q: %q is no JSON pointer: it starts with a slash, and in names ~1 stands for a slash, ~0 for a tilde", field, one.pointer)
		}
		switch {
		case len(one.tokens) == 0:
			one.reserved, one.why = true, "which is the whole document"
		case added.has(one.tokens[0]):
			one.reserved, one.why = true, "where stands what is added to each document"
		}
		p.exact[field] = one
		if folded := jsonschema.FoldBlanks(field); !one.reserved && p.folded[folded] == nil {
			p.folded[folded] = one
		}
	}
	return p, nil
}

// show lists locations or names for people, the first ten.
func show(list []string) string {
	if len(list) > 10 {
		return strings.Join(list[:10], ", ") + fmt.Sprintf(" and %d more", len(list)-10)
	}
	return strings.Join(list, ", ")
}
