package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// kind is what a field holds.
type kind int

const (
	stringKind kind = iota
	boolKind
	intKind
	uintKind
	floatKind
	durationKind
	listKind    // []string
	sectionKind // struct or *struct
	tableKind   // []struct
	mapKind     // map[string]string, map[string]json.RawMessage
	objectKind  // json.RawMessage
	choiceKind  // struct of variants
)

// field is one key of a config, read from its tags; doc.go says what each tag means.
type field struct {
	name  string
	index []int // for reflect.Value.FieldByIndex, relative to the struct that holds the field
	typ   reflect.Type
	kind  kind

	title, doc, example, mark           string
	def                                 string
	hasDefault, required, pointer       bool
	secret, advanced, multiline, hidden bool
	bare                                bool // of a choice: its variant's name may stand for it
	object                              bool // of a string: an object may stand for it
	enum, aliases                       []string
	pattern                             *regexp.Regexp
	min, max                            string // "": no bound

	fields        []*field // of a section, of a table's rows, or the variants of a choice
	discriminator string   // of a choice
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	textsType    = reflect.TypeFor[map[string]string]()
	valuesType   = reflect.TypeFor[map[string]json.RawMessage]()
)

// models keeps the fields of each struct type; tags do not change while a program runs.
var models sync.Map

func model[C any]() []*field { return modelOf(reflect.TypeFor[C]()) }

func modelOf(t reflect.Type) []*field {
	if known, ok := models.Load(t); ok {
		return known.([]*field)
	}
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("config: %s is no struct", t))
	}
	fields := structFields(t, t.Name(), nil)
	models.Store(t, fields)
	return fields
}

// maxDepth bounds the nesting of sections; a type that contains itself reaches it.
const maxDepth = 12

// structFields reads the fields of t in order. where is the Go path for messages, above the index of the struct that t is embedded in.
func structFields(t reflect.Type, where string, above []int) []*field {
	if strings.Count(where, ".") > maxDepth {
		panic(fmt.Sprintf("config: %s is nested too deeply, or contains itself", where))
	}
	var fields []*field
	for i := range t.NumField() {
		sf := t.Field(i)
		index := append(slices.Clone(above), i)
		at := where + "." + sf.Name
		tag, tagged := sf.Tag.Lookup("json")
		switch {
		case sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct:
			fields = append(fields, structFields(sf.Type, at, index)...)
			continue
		case !sf.IsExported() || tag == "-":
			continue
		case !tagged:
			panic(fmt.Sprintf("config: %s has no json tag", at))
		}
		fields = append(fields, newField(sf, tag, at, index))
	}
	seen := map[string]bool{}
	for _, f := range fields {
		for _, name := range append([]string{f.name}, f.aliases...) {
			if seen[name] {
				panic(fmt.Sprintf("config: %s has the key %q twice", where, name))
			}
			seen[name] = true
		}
	}
	return fields
}

func newField(sf reflect.StructField, tag, at string, index []int) *field {
	name, options, _ := strings.Cut(tag, ",")
	f := &field{
		name: name, index: index, typ: sf.Type,
		title: sf.Tag.Get("title"), doc: sf.Tag.Get("doc"), example: sf.Tag.Get("example"), mark: sf.Tag.Get("mark"),
		secret: flag(sf, "secret", at), advanced: flag(sf, "advanced", at), multiline: flag(sf, "multiline", at), hidden: flag(sf, "hidden", at),
		bare: flag(sf, "bare", at), object: flag(sf, "object", at),
		enum: list(sf.Tag.Get("enum")), aliases: list(sf.Tag.Get("alias")),
		min: sf.Tag.Get("min"), max: sf.Tag.Get("max"),
		discriminator: sf.Tag.Get("oneof"),
	}
	if name == "" || strings.ContainsAny(name, "./") {
		panic(fmt.Sprintf("config: %s needs a json name without dots and slashes", at))
	}
	if f.title == "" || f.doc == "" {
		panic(fmt.Sprintf("config: %s needs a title and a doc tag", at))
	}
	if p := sf.Tag.Get("pattern"); p != "" {
		re, err := regexp.Compile(p)
		if err != nil {
			panic(fmt.Sprintf("config: pattern of %s: %v", at, err))
		}
		f.pattern = re
	}
	f.def, f.hasDefault = sf.Tag.Lookup("default")
	f.setKind(at)
	f.hide(list(sf.Tag.Get("hides")), at)
	f.required = !f.hasDefault && !f.pointer && options != "omitempty"
	switch f.kind {
	case boolKind:
		if !f.hasDefault {
			f.def, f.hasDefault = "false", true
		}
		f.required = false
	case sectionKind:
		f.required = f.required && slices.ContainsFunc(f.fields, func(c *field) bool { return c.required })
	default:
	}
	f.mustHold(at)
	return f
}

// hide takes fields of a section out of forms and tables: here somebody else than the user sets them.
func (f *field) hide(names []string, at string) {
	for _, name := range names {
		i := slices.IndexFunc(f.fields, func(c *field) bool { return c.name == name })
		if i < 0 || f.kind != sectionKind {
			panic(fmt.Sprintf("config: %s hides %q, which is no field of it", at, name))
		}
		f.fields[i].hidden = true
	}
}

// setKind reads the Go type, and the fields below it.
func (f *field) setKind(at string) {
	t := f.typ
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		f.pointer, t = true, t.Elem()
	}
	switch {
	case t == durationType:
		f.kind = durationKind
	case t == rawType:
		f.kind = objectKind
	case t == textsType, t == valuesType:
		f.kind = mapKind
	case f.discriminator != "" && t.Kind() == reflect.Struct:
		f.kind, f.fields = choiceKind, structFields(t, at, nil)
	case t.Kind() == reflect.Struct:
		f.kind, f.fields = sectionKind, structFields(t, at, nil)
	case t.Kind() == reflect.String:
		f.kind = stringKind
	case t.Kind() == reflect.Bool:
		f.kind = boolKind
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		f.kind = intKind
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		f.kind = uintKind
	case t.Kind() == reflect.Float64:
		f.kind = floatKind
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		f.kind = listKind
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		f.kind, f.fields = tableKind, structFields(t.Elem(), at, nil)
	default:
		panic(fmt.Sprintf("config: %s has the type %s, which no config can hold", at, f.typ))
	}
}

// flag reads a tag that is "true" or absent.
func flag(sf reflect.StructField, name, at string) bool {
	switch v := sf.Tag.Get(name); v {
	case "true":
		return true
	case "", "false":
		return false
	default:
		panic(fmt.Sprintf("config: tag %s of %s is %q; it must be true or false", name, at, v))
	}
}

// list splits a tag at its commas; an empty tag is an empty list. An enum that allows the empty string begins with a comma.
func list(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}
