package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/estuary/connectors/protocol"
)

// Decode reads a config or a resource strictly: defaults are filled in; unknown keys, wrong types, missing fields and broken rules are refused, all at
// once, as an errors.Join of *protocol.Problem of kind Config. When nothing is wrong so far it calls Validate() error of *C, if there is one, for the
// rules between fields; an error of it that is no *protocol.Problem becomes one. With an error the returned C is empty. No message shows a secret.
func Decode[C any](raw []byte) (C, error) {
	var c, none C
	fields := model[C]()
	root, err := parse(raw)
	if err != nil {
		return none, errors.Join(&protocol.Problem{Kind: protocol.Config, Summary: "the config is no valid JSON", Fix: err.Error(), Err: err})
	}
	d := &decoder{root: root, all: fields, moved: map[string]bool{}}
	collectMoved(fields, d.moved)
	if root.is != '{' {
		d.problem("the config must be an object, not "+root.describe(), "")
	} else {
		d.section(fields, reflect.ValueOf(&c).Elem(), root, "")
	}
	if len(d.problems) > 0 {
		return none, errors.Join(d.problems...)
	}
	if v, ok := any(&c).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return none, validated(err, Secrets(c))
		}
	}
	return c, nil
}

type decoder struct {
	root     *node
	all      []*field        // the whole model, to find a key that stands in the wrong place
	moved    map[string]bool // dotted paths of aliases that are written from the root; false: of an object on the way to one
	problems []error
}

func (d *decoder) problem(summary, fix string) {
	d.problems = append(d.problems, &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix})
}

// section fills the struct v from n, which is an object or nil: then only defaults and aliases apply.
func (d *decoder) section(fields []*field, v reflect.Value, n *node, path string) {
	d.refuseUnknown(fields, n, path, "")
	for _, f := range fields {
		given, at := d.lookUp(f, n, path)
		d.field(f, v.FieldByIndex(f.index), given, at)
	}
}

// lookUp returns what is given for f, under its name or an older one, and the path where it stands; nil: nothing.
func (d *decoder) lookUp(f *field, n *node, path string) (*node, string) {
	value, at := n.child(f.name), join(path, f.name)
	for _, alias := range f.aliases {
		older, from := n.child(alias), join(path, alias)
		if rooted, ok := strings.CutPrefix(alias, "/"); ok {
			older, from = d.root, strings.ReplaceAll(rooted, "/", ".")
			for _, name := range strings.Split(rooted, "/") {
				older = older.child(name)
			}
		}
		switch {
		case older == nil:
		case value != nil:
			d.problem(fmt.Sprintf("%s and %s mean the same field", quote(at), quote(from)), "keep "+quote(at)+" and remove the other")
		default:
			value, at = older, from
		}
	}
	return value, at
}

func (d *decoder) field(f *field, v reflect.Value, n *node, path string) {
	if n != nil && n.is == 's' && n.text == "" && !f.takesEmpty() {
		n = nil // a form that was left empty
	}
	switch f.kind {
	case choiceKind:
		d.choice(f, v, n, path)
	case sectionKind:
		if n != nil && n.is != '{' {
			d.problem(path+" must be an object, not "+n.describe(), "")
		} else if n != nil || !f.pointer || d.reached(f) {
			d.section(f.fields, allocated(v), n, path)
		}
	case tableKind:
		d.table(f, v, n, path)
	default:
		switch {
		case n != nil:
		case f.hasDefault:
			n = f.fromTag(f.def)
		case f.required:
			d.problem(path+" is required", sentence(f.doc))
			return
		default:
			return
		}
		if reason := f.set(v, n); reason != "" {
			d.problem(path+" "+reason, "")
		}
	}
}

// reached tells whether an alias written from the root leads into the section f.
func (d *decoder) reached(f *field) bool {
	problems := d.problems
	defer func() { d.problems = problems }() // section will tell them
	for _, c := range f.fields {
		if given, _ := d.lookUp(c, nil, ""); given != nil || c.kind == sectionKind && d.reached(c) {
			return true
		}
	}
	return false
}

func (d *decoder) table(f *field, v reflect.Value, n *node, path string) {
	switch {
	case n == nil && f.required:
		d.problem(path+" is required", sentence(f.doc))
		return
	case n == nil:
		return
	case n.is != '[':
		d.problem(path+" must be a list of objects, not "+n.describe(), "")
		return
	}
	v.Set(reflect.MakeSlice(f.typ, len(n.items), len(n.items)))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.is != '{' {
			d.problem(at+" must be an object, not "+item.describe(), "")
			continue
		}
		d.section(f.fields, v.Index(i), item, at)
	}
}

// choice fills the variant that n's discriminator names.
func (d *decoder) choice(f *field, v reflect.Value, n *node, path string) {
	if f.bare && n != nil && n.is == 's' {
		n = &node{is: '{', keys: []string{f.discriminator}, members: map[string]*node{f.discriminator: n}}
	}
	at := join(path, f.discriminator)
	name := f.def
	switch {
	case n == nil && f.required:
		d.problem(path+" is required", sentence(f.doc))
		return
	case n == nil && !f.hasDefault:
		return
	case n != nil && n.is != '{':
		d.problem(path+" must be an object, not "+n.describe(), "")
		return
	}
	switch kind := n.child(f.discriminator); {
	case kind != nil && kind.is != 's':
		d.problem(at+" must be a string, not "+kind.describe(), "")
		return
	case kind != nil:
		name = kind.text
	case !f.hasDefault:
		d.problem(at+" is required", "one of "+strings.Join(names(f.fields), ", "))
		return
	}
	chosen := f.variant(name)
	if chosen == nil {
		fix := ""
		if near := nearest(name, names(f.fields)); near != "" {
			fix = "did you mean " + quote(near) + "?"
		}
		d.problem(at+" must be one of "+strings.Join(names(f.fields), ", "), fix)
		return
	}
	variant := allocated(allocated(v).FieldByIndex(chosen.index))
	d.refuseUnknown(chosen.fields, n, path, f.discriminator)
	for _, c := range chosen.fields {
		given, at := d.lookUp(c, n, path)
		d.field(c, variant.FieldByIndex(c.index), given, at)
	}
}

// allocated returns the struct that v is or points to, made when it was nil.
func allocated(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}
