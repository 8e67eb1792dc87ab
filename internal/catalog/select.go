package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
)

// Constraint is what a destination says of a projection: materialize.Constraint, which this package may not know.
type Constraint struct {
	Kind   Kind
	Reason string
	Folded string // the destination's own spelling of the field; "": as it is
}

// Kind has the values of materialize.ConstraintKind.
type Kind int

// The kinds, from must to never.
const (
	FieldRequired Kind = iota + 1
	LocationRequired
	LocationRecommended
	FieldOptional
	FieldForbidden
	Incompatible
)

// Root says what is wanted of the root document.
type Root int

// RootRecommended is the zero value.
const (
	RootRecommended Root = iota // take it if the destination recommends it
	RootWanted                  // take it; an error if the destination cannot
	RootUnwanted                // leave it out; an error if the destination needs it
)

// Options are what people and the past say of a selection. The zero value selects what architecture asks for: everything at the top of the document.
type Options struct {
	// Include are fields that must be selected, and settings of fields (null: none). Exclude are fields that must not.
	Include map[string]json.RawMessage
	Exclude []string
	Root    Root
	// Current is the selection that was applied last: its fields stay.
	Current protocol.FieldSelection
	// CaseInsensitive: fields that differ in case only are one column.
	CaseInsensitive bool
}

// Decision tells what became of a projection, and why.
type Decision struct {
	Field    string
	Selected bool
	Reason   string
}

// Select chooses the fields of a binding: the keys, then values in the order of the projections. Its error names all fields that cannot be as they must.
func Select(c *protocol.Collection, constraints map[string]Constraint, opts Options) (protocol.FieldSelection, error) {
	selection, _, err := Explain(c, constraints, opts)
	return selection, err
}

// Explain is Select with a reason for each projection, in their order; there are reasons also with an error.
func Explain(c *protocol.Collection, constraints map[string]Constraint, opts Options) (protocol.FieldSelection, []Decision, error) {
	s := selector{collection: c, opts: opts}
	if err := s.known(); err != nil {
		return protocol.FieldSelection{}, nil, err
	}
	for i := range c.Projections {
		s.candidates = append(s.candidates, s.candidate(&c.Projections[i], constraints))
	}
	s.cover()
	s.keys()
	s.fold()
	return s.result()
}

// candidate is a projection on its way to a decision.
type candidate struct {
	*protocol.Projection
	Constraint
	wish wish
	veto veto
	also string // more about the veto
	name string // what must be unique
}

// wish is the strongest reason to select a field, weak to strong.
type wish int

const (
	unwished wish = iota
	topLevel
	coreMetadata
	locationRequired
	recommended
	asked
	current
	required
	included
	currentDocument
	keyed
)

// From required on, a field that cannot be selected is an error.
var wishes = [...]string{
	unwished: "nobody asked for it", topLevel: "it is at the top of the document", coreMetadata: "it says what happened to the document", locationRequired: "the destination needs its location",
	recommended: "the destination recommends it", asked: "its projection was asked for", current: "it is materialized already", required: "the destination needs it", included: "the configuration asks for it",
	currentDocument: "it is the document that is materialized already", keyed: "it is part of the key",
}

// veto is the strongest reason not to select a field, weak to strong.
type veto int

const (
	none veto = iota
	covered
	sameColumn
	omitted
	incompatible
	forbidden
	excluded
)

var vetoes = [...]string{
	none: "", covered: "another field has its location", sameColumn: "it would be the same column as", omitted: "the destination says nothing of it",
	incompatible: "the existing column cannot hold it", forbidden: "the destination cannot hold it", excluded: "the configuration excludes it",
}

type selector struct {
	collection *protocol.Collection
	opts       Options
	candidates []*candidate
}

// known refuses settings for fields that do not exist.
func (s *selector) known() error {
	names := s.opts.Exclude
	for field := range s.opts.Include {
		names = append(names[:len(names):len(names)], field)
	}
	slices.Sort(names)
	for _, field := range names {
		if s.collection.Field(field) == nil {
			var all []string
			for i := range s.collection.Projections {
				all = append(all, s.collection.Projections[i].Field)
			}
			return problem("%s has no field %q; its fields are %s", s.collection.Name, field, strings.Join(all, ", "))
		}
	}
	return nil
}

func (s *selector) candidate(p *protocol.Projection, constraints map[string]Constraint) *candidate {
	k, answered := constraints[p.Field]
	c := &candidate{Projection: p, Constraint: k}
	if c.name = k.Folded; c.name == "" {
		c.name = p.Field
	}
	if s.opts.CaseInsensitive {
		c.name = jsonschema.Fold(c.name)
	}
	wishFor := func(w wish, yes bool) {
		if yes {
			c.wish = max(c.wish, w)
		}
	}
	_, top := protocol.TopLevel(p.Pointer)
	root := p.Pointer == ""
	_, wanted := s.opts.Include[p.Field]
	wishFor(topLevel, top)
	wishFor(coreMetadata, p.Pointer == "/_meta/op")
	wishFor(locationRequired, k.Kind == LocationRequired && !p.Key)
	wishFor(asked, p.Explicit && !(root && s.opts.Root == RootUnwanted))
	wishFor(current, slices.Contains(s.opts.Current.Values, p.Field))
	wishFor(required, k.Kind == FieldRequired)
	wishFor(included, wanted)
	wishFor(currentDocument, root && s.opts.Current.Document == p.Field && s.opts.Root != RootUnwanted)
	wishFor(included, root && s.opts.Root == RootWanted)
	wishFor(recommended, root && s.opts.Root == RootRecommended && k.Kind == LocationRecommended)

	deny := func(v veto, yes bool) {
		if yes {
			c.veto = max(c.veto, v)
		}
	}
	deny(omitted, !answered || k.Kind < FieldRequired || k.Kind > Incompatible)
	deny(incompatible, k.Kind == Incompatible)
	deny(forbidden, k.Kind == FieldForbidden)
	deny(excluded, slices.Contains(s.opts.Exclude, p.Field) || root && s.opts.Root == RootUnwanted)
	return c
}

// cover chooses one field of each location. Others of it stay if somebody asked for them by name.
func (s *selector) cover() {
	for _, c := range s.candidates {
		best := s.best(c.Pointer)
		if c != best && best != nil && c.wish < asked {
			c.veto, c.also = max(c.veto, covered), best.Field
		}
	}
}

// best returns the field of a location that is wished for most: an explicit one before the default one, and the one that is there already before both.
func (s *selector) best(pointer string) (best *candidate) {
	for _, c := range s.candidates {
		if c.Pointer != pointer || c.veto != none {
			continue
		}
		if best == nil || c.rank(s.opts.Current) > best.rank(s.opts.Current) {
			best = c
		}
	}
	return best
}

func (c *candidate) rank(was protocol.FieldSelection) wish {
	switch {
	case slices.Contains(was.Keys, c.Field):
		return keyed
	case c.Explicit:
		return max(c.wish, asked)
	}
	return c.wish
}

// keys gives each location of the key its field.
func (s *selector) keys() {
	for _, pointer := range s.collection.Key {
		best := s.best(pointer)
		if best == nil { // none can be: the default one carries the blame
			best = s.candidates[slices.IndexFunc(s.candidates, func(c *candidate) bool { return c.Pointer == pointer })]
		}
		best.wish = keyed
	}
}

// fold lets one field of each column pass.
func (s *selector) fold() {
	columns := map[string]*candidate{}
	for _, c := range s.candidates {
		if c.wish == unwished || c.veto != none {
			continue
		}
		other := columns[c.name]
		switch {
		case other == nil:
			columns[c.name] = c
		case c.wish > other.wish:
			columns[c.name] = c
			other.veto, other.also = sameColumn, c.Field
		default:
			c.veto, c.also = sameColumn, other.Field
		}
	}
}

// selected tells whether a field goes in.
func (c *candidate) selected() bool { return c.wish != unwished && c.veto == none }

// conflict tells whether a field must go in and cannot.
func (c *candidate) conflict() bool {
	switch {
	case c.wish == unwished || c.veto == none || c.veto == covered:
		return false
	case c.veto == excluded:
		return c.wish >= required && c.wish != currentDocument
	case c.veto == incompatible:
		return true // leaving it out would lose values silently
	case c.veto == sameColumn:
		return c.wish >= asked
	}
	return c.wish >= required // what can hold nothing any more may go
}

func (s *selector) result() (selection protocol.FieldSelection, decisions []Decision, err error) {
	var conflicts []string
	for _, c := range s.candidates {
		decisions = append(decisions, Decision{Field: c.Field, Selected: c.selected(), Reason: c.because()})
		if c.conflict() {
			conflicts = append(conflicts, fmt.Sprintf("%s must be selected because %s, but %s", c.Field, wishes[c.wish], c.against()))
		}
	}
	for _, c := range s.candidates {
		if c.Kind == LocationRequired && s.uncovered(c) {
			conflicts = append(conflicts, fmt.Sprintf("the destination needs the field %s, but %s", c.Field, c.against()))
		}
	}
	if conflicts != nil {
		fix := "exclude the field, or start over (backfill) where an existing column is in the way"
		return selection, decisions, &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("the fields of %s cannot be selected: %s", s.collection.Name, strings.Join(conflicts, "; ")), Fix: fix,
		}
	}
	for _, pointer := range s.collection.Key {
		for _, c := range s.candidates {
			if c.Pointer == pointer && c.wish == keyed {
				selection.Keys = append(selection.Keys, c.Field)
			}
		}
	}
	for _, c := range s.candidates {
		switch {
		case !c.selected() || c.wish == keyed:
		case c.Pointer == "" && selection.Document == "":
			selection.Document = c.Field
		default:
			selection.Values = append(selection.Values, c.Field)
		}
	}
	for field, config := range s.opts.Include {
		if len(config) > 0 && string(config) != "null" {
			if selection.FieldConfig == nil {
				selection.FieldConfig = map[string]json.RawMessage{}
			}
			selection.FieldConfig[field] = config
		}
	}
	return selection, decisions, nil
}

// uncovered tells whether no field of a location that the destination needs is selected. Each location is blamed once.
func (s *selector) uncovered(c *candidate) bool {
	if c.conflict() {
		return false
	}
	for _, other := range s.candidates {
		if other.Pointer == c.Pointer && (other.selected() || other.conflict()) {
			return false
		}
	}
	for _, other := range s.candidates { // the first one
		if other.Pointer == c.Pointer && other.Kind == LocationRequired {
			return other == c
		}
	}
	return false
}

func (c *candidate) because() string {
	switch {
	case c.veto != none:
		return c.against()
	case c.wish != unwished && c.Reason != "":
		return wishes[c.wish] + " (" + c.Reason + ")"
	}
	return wishes[c.wish]
}

func (c *candidate) against() string {
	text := vetoes[c.veto]
	switch c.veto {
	case sameColumn:
		text += " " + c.also
	case covered:
		text += ", " + c.also
	case incompatible, forbidden:
		if c.Reason != "" {
			text += ": " + c.Reason
		}
	default:
	}
	return text
}
