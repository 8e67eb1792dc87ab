package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Flavor is the runner that a schema is written for; each refuses or ignores the annotations of the other.
type Flavor int

const (
	// Airbyte is the connectionSpecification of a SPEC message: airbyte_secret, airbyte_hidden, open objects.
	Airbyte Flavor = iota
	// Flow refuses keywords that it does not know: secret, advanced, discriminator, x-….
	Flow
)

// Schema renders the config C as a draft-07 JSON schema: an object without $ref, whose properties all have title, description, one type and an order.
func Schema[C any](flavor Flavor) []byte {
	s := object{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title(reflect.TypeFor[C]().Name())}}
	s = append(s, body(model[C](), flavor)...)
	if flavor == Airbyte {
		s = append(s, member{"additionalProperties", true})
	}
	raw, err := s.MarshalJSON()
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, raw)
	}
	if err != nil {
		panic(fmt.Sprintf("config: rendering a schema of constants: %v", err))
	}
	return line.Bytes()
}

// body is the type, the required keys and the properties of an object; first are properties before those of the fields.
func body(fields []*field, flavor Flavor, first ...member) object {
	properties := object(first)
	var required []string
	for _, m := range first {
		required = append(required, m.key)
	}
	for _, f := range fields {
		properties = append(properties, member{f.name, f.schema(flavor, len(properties))})
		if f.required {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}}
	if len(required) > 0 {
		s = append(s, member{"required", required})
	}
	return append(s, member{"properties", properties})
}

// schema renders one field, the order-th among its siblings.
func (f *field) schema(flavor Flavor, order int) object {
	s := object{{"title", f.title}, {"description", f.doc}}
	switch f.kind {
	case sectionKind:
		s = append(s, body(f.fields, flavor)...)
	case choiceKind:
		s = append(s, f.choiceSchema(flavor)...)
	case tableKind:
		s = append(s, member{"type", "array"}, member{"items", body(f.fields, flavor)})
	case listKind:
		s = append(s, member{"type", "array"}, member{"items", append(object{{"type", "string"}}, f.textRules()...)})
	case mapKind, objectKind:
		values := any(true)
		if f.typ == textsType {
			values = object{{"type", "string"}}
		}
		s = append(s, member{"type", "object"})
		if flavor == Airbyte { // its tests take an object for a form, and refuse anything but true
			values = true
			s = append(s, member{"properties", object{}})
		}
		s = append(s, member{"additionalProperties", values})
	case boolKind:
		s = append(s, member{"type", "boolean"})
	case intKind, uintKind:
		s = append(append(s, member{"type", "integer"}), f.bounds()...)
	case floatKind:
		s = append(append(s, member{"type", "number"}), f.bounds()...)
	case durationKind:
		s = append(s, member{"type", "string"}, member{"pattern", durationPattern})
	case stringKind:
		s = append(append(s, member{"type", "string"}), f.textRules()...)
	}
	if f.hasDefault && f.kind != choiceKind {
		s = append(s, member{"default", f.fromTag(f.def)})
	}
	if f.example != "" {
		s = append(s, member{"examples", []*node{f.fromTag(f.example)}})
	}
	return append(append(s, f.annotations(flavor)...), member{"order", order})
}

// durationPattern is what time.ParseDuration takes, without a sign.
const durationPattern = `^(0|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`

func (f *field) annotations(flavor Flavor) object {
	var s object
	add := func(set bool, key string) {
		if set {
			s = append(s, member{key, true})
		}
	}
	add(f.multiline, "multiline")
	if flavor == Flow {
		add(f.secret, "secret")
		add(f.advanced, "advanced")
		add(f.hidden, "x-hidden-field")
		add(f.mark != "", f.mark)
		return s
	}
	if f.kind == stringKind && !f.secret && slices.Contains(secretNames, f.name) {
		panic(fmt.Sprintf("config: the field %q must be a secret: Airbyte's acceptance tests go by the name", f.name))
	}
	add(f.secret, "airbyte_secret")
	add(f.hidden, "airbyte_hidden")
	return s
}

// secretNames are the keys that Airbyte's connector acceptance tests demand to be secrets (test_secret_is_properly_marked).
var secretNames = []string{
	"client_token", "access_token", "api_token", "token", "secret", "client_secret", "password", "key", "service_account_info", "service_account",
	"tenant_id", "certificate", "jwt", "credentials", "app_id", "appid", "refresh_token",
}

func (f *field) textRules() object {
	var s object
	if len(f.enum) > 0 {
		s = append(s, member{"enum", f.enum})
	}
	if f.pattern != nil {
		pattern := f.pattern.String()
		if !f.required && !f.hasDefault && f.kind == stringKind {
			pattern = "^$|" + pattern // forms send an optional field that was left empty
		}
		s = append(s, member{"pattern", pattern})
	}
	return s
}

func (f *field) bounds() object {
	var s object
	if f.min != "" {
		s = append(s, member{"minimum", json.RawMessage(f.min)})
	} else if f.kind == uintKind {
		s = append(s, member{"minimum", 0})
	}
	if f.max != "" {
		s = append(s, member{"maximum", json.RawMessage(f.max)})
	} else if f.kind == uintKind && f.typ.Bits() < 64 {
		s = append(s, member{"maximum", uint64(1)<<f.typ.Bits() - 1})
	}
	return s
}

// choiceSchema renders variants that differ by one constant, the only one all of them have.
func (f *field) choiceSchema(flavor Flavor) object {
	var variants []object
	for _, v := range f.fields {
		if v.hidden {
			continue
		}
		constant := object{{"title", title(f.discriminator)}, {"description", "Chooses: " + sentence(v.title) + "."}, {"type", "string"}, {"const", v.name}}
		if flavor == Flow {
			constant = append(constant, member{"default", v.name})
		}
		constant = append(constant, member{"order", 0})
		s := object{{"title", v.title}, {"description", v.doc}}
		variants = append(variants, append(s, body(v.fields, flavor, member{f.discriminator, constant})...))
	}
	s := object{{"type", "object"}, {"oneOf", variants}}
	if flavor == Flow {
		s = append(s, member{"discriminator", object{{"propertyName", f.discriminator}}})
	}
	return s
}

// title makes a heading of a name: auth_type and authType become "Auth Type".
func title(name string) string {
	var out strings.Builder
	start := true
	for i, r := range name {
		switch {
		case r == '_' || r == '-':
			start = true
			continue
		case start && i > 0 || unicode.IsUpper(r) && i > 0 && unicode.IsLower(rune(name[i-1])):
			out.WriteByte(' ')
		}
		if start {
			r = unicode.ToUpper(r)
		}
		start = false
		out.WriteRune(r)
	}
	return out.String()
}
