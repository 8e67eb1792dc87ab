package config

import (
	"fmt"
	"strings"
)

// ReadmeTable renders the config C as a markdown table for the connector's README, one row a field, nested ones as advanced.slotName. It ends with a
// newline. Hidden fields are left out.
func ReadmeTable[C any]() string {
	var out strings.Builder
	out.WriteString("| field | type | default | required | description |\n|---|---|---|---|---|\n")
	rows(&out, model[C](), "")
	return out.String()
}

func rows(out *strings.Builder, fields []*field, path string) {
	for _, f := range fields {
		if f.hidden {
			continue
		}
		at := join(path, f.name)
		switch f.kind {
		case sectionKind:
			if f.pointer {
				row(out, at, "section", "", required(f), f.doc)
			}
			rows(out, f.fields, at)
		case choiceKind:
			row(out, at, "choice", "", required(f), f.doc)
			row(out, join(at, f.discriminator), "string", f.def, required(f), "One of "+code(names(f.fields))+".")
			variants(out, f.fields, at)
		case tableKind:
			row(out, at, "list of objects", "", required(f), f.doc)
			rows(out, f.fields, at+"[]")
		default:
			row(out, at, f.typeName(), f.def, required(f), f.doc+f.rulesText())
		}
	}
}

// variants renders those of a choice. Neighbours with the same fields share their rows.
func variants(out *strings.Builder, all []*field, path string) {
	var alike []string // names of variants whose rows were not written yet
	before := ""
	flush := func() {
		out.WriteString(strings.ReplaceAll(before, variantPath, path+" ("+strings.Join(alike, ", ")+")"))
	}
	for _, v := range all {
		if v.hidden {
			continue
		}
		var own strings.Builder
		rows(&own, v.fields, variantPath)
		if own.String() != before {
			flush()
			alike, before = nil, own.String()
		}
		alike = append(alike, v.name)
	}
	flush()
}

// variantPath stands for the path of a variant until its names are known.
const variantPath = "\x00"

func row(out *strings.Builder, path, typ, def, required, doc string) {
	if def != "" {
		def = "`" + def + "`"
	}
	escape := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	fmt.Fprintf(out, "| `%s` | %s | %s | %s | %s |\n", path, typ, escape(def), required, escape(doc))
}

func required(f *field) string {
	if f.required {
		return "yes"
	}
	return ""
}

func (f *field) typeName() string {
	switch f.kind {
	case boolKind:
		return "boolean"
	case intKind, uintKind:
		return "integer"
	case floatKind:
		return "number"
	case durationKind:
		return "duration"
	case listKind:
		return "list of strings"
	case mapKind:
		if f.typ == textsType {
			return "object of strings"
		}
		return "object"
	case objectKind:
		return "object"
	default:
		if f.secret {
			return "string, secret"
		}
		return "string"
	}
}

// rulesText says what the tags demand of a value, as further sentences.
func (f *field) rulesText() string {
	var out string
	if len(f.enum) > 0 {
		out += " One of " + code(quoteEmpty(f.enum)) + "."
	}
	if f.pattern != nil {
		out += " Matches `" + f.pattern.String() + "`."
	}
	switch {
	case f.min != "" && f.max != "":
		out += fmt.Sprintf(" From %s to %s.", f.min, f.max)
	case f.min != "":
		out += fmt.Sprintf(" At least %s.", f.min)
	case f.max != "":
		out += fmt.Sprintf(" At most %s.", f.max)
	}
	return out
}

// code renders names as `a`, `b`, `c`.
func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
