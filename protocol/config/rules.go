package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// mustHold panics when the tags of f contradict each other: a default outside its own bounds, a secret number, a choice without variants.
func (f *field) mustHold(at string) {
	refuse := func(format string, args ...any) { panic("config: " + at + " " + fmt.Sprintf(format, args...)) }
	text := f.kind == stringKind
	numeric := f.kind == intKind || f.kind == uintKind || f.kind == floatKind || f.kind == durationKind
	switch {
	case f.secret && !text:
		refuse("is a secret but no string: runners mask plain strings only")
	case f.secret && len(f.aliases) > 0:
		refuse("is a secret with an alias: a runner encrypts by the schema, which knows no aliases; declare a hidden field")
	case f.secret && (f.hasDefault || len(f.enum) > 0):
		refuse("is a secret with a default or an enum, which everybody can read")
	case f.multiline && !text:
		refuse("is multiline but no string")
	case (len(f.enum) > 0 || f.pattern != nil) && !text && f.kind != listKind:
		refuse("has an enum or a pattern but is neither string nor list")
	case (f.min != "" || f.max != "") && !numeric:
		refuse("has a bound but is no number and no duration")
	case f.discriminator != "" && f.kind != choiceKind:
		refuse("has a oneof tag but is no struct of variants")
	case f.object && !text:
		refuse("has an object tag but is no string")
	case f.bare && f.kind != choiceKind:
		refuse("has a bare tag but is no choice")
	case f.hasDefault && (f.kind == mapKind || f.kind == objectKind):
		refuse("is an object with a default, which no tag can hold")
	case f.hasDefault && (f.kind == sectionKind || f.kind == tableKind):
		refuse("is a section with a default; its fields have their own")
	}
	if slices.Contains(f.enum, "") && text && f.required {
		refuse("is required and allows the empty string")
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(f.enum))); len(distinct) != len(f.enum) {
		refuse("has the same enum value twice")
	}
	if f.kind == choiceKind {
		f.variantsMustHold(refuse)
		return
	}
	for _, bound := range []string{f.min, f.max} {
		if bound != "" {
			if reason := f.assign(reflect.New(f.typ).Elem(), f.fromTag(bound)); reason != "" {
				refuse("has the bound %q, which %s", bound, reason)
			}
		}
	}
	if f.hasDefault {
		if reason := f.set(reflect.New(f.typ).Elem(), f.fromTag(f.def)); reason != "" {
			refuse("has the default %q, which %s", f.def, reason)
		}
	}
}

func (f *field) variantsMustHold(refuse func(string, ...any)) {
	if len(f.fields) == 0 {
		refuse("is a choice without variants")
	}
	for _, v := range f.fields {
		if v.kind != sectionKind || !v.pointer {
			refuse("is a choice whose variant %s is no pointer to a struct", v.name)
		}
		for _, c := range v.fields {
			if c.name == f.discriminator {
				refuse("is a choice whose variant %s has a field %q, the key that chooses", v.name, c.name)
			}
		}
	}
	if f.hasDefault && f.variant(f.def) == nil {
		refuse("has the default %q, which is no variant", f.def)
	}
}

// variant returns the variant with this name, or nil.
func (f *field) variant(name string) *field {
	for _, v := range f.fields {
		if v.name == name {
			return v
		}
	}
	return nil
}

// names lists the keys of fields that people are told about.
func names(fields []*field) []string {
	var shown []string
	for _, f := range fields {
		if !f.hidden {
			shown = append(shown, f.name)
		}
	}
	return shown
}

// join extends a dotted path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sentence strips the final stop of a doc tag, so that it can stand inside another sentence.
func sentence(doc string) string { return strings.TrimSuffix(doc, ".") }
