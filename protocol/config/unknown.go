package config

import (
	"slices"
	"strings"
)

// ignored tells which unknown keys are not ours to refuse: the encryption's stanza at the root, and what runners add for themselves.
func ignored(path, key string) bool {
	return path == "" && key == "sops" || strings.HasPrefix(key, "_") || strings.HasPrefix(key, "estuary.dev/")
}

// refuseUnknown reports the keys of n that no field has. extra is one more known key, the discriminator of a choice; empty: none.
func (d *decoder) refuseUnknown(fields []*field, n *node, path, extra string) {
	if n == nil {
		return
	}
	known := names(fields)
	if extra != "" {
		known = append(known, extra)
	}
	for _, key := range n.keys {
		at := join(path, key)
		alias, moved := d.moved[at]
		switch {
		case isKnown(fields, key), extra != "" && key == extra, ignored(path, key):
			continue
		case moved && !strings.Contains(key, "."):
			if !alias {
				d.refuseUnknown(nil, n.members[key], at, "")
			}
			continue
		}
		d.problem("unknown key "+quote(at), d.advise(key, path, known, extra))
	}
}

// advise says what was probably meant by an unknown key beside the known ones.
func (d *decoder) advise(key, path string, known []string, discriminator string) string {
	if near := nearest(key, known); near != "" {
		return "did you mean " + quote(join(path, near)) + "?"
	}
	elsewhere := find(d.all, "", key)
	if elsewhere == join(path, key) && discriminator == "" { // a field of the same section of another variant
		discriminator = around(d.all, "", path)
	}
	switch {
	case elsewhere == join(path, key) && discriminator != "":
		return "it belongs to another " + discriminator
	case elsewhere != "" && strings.Contains(key, "."):
		section, name := elsewhere[:strings.LastIndexByte(elsewhere, '.')], elsewhere[strings.LastIndexByte(elsewhere, '.')+1:]
		return "write " + quote(name) + " inside the object " + quote(section)
	case elsewhere != "":
		return "did you mean " + quote(elsewhere) + "?"
	case len(known) == 0:
		return "remove it"
	default:
		where := path
		if where == "" {
			where = "the config"
		}
		return "it is no field of " + where + ", which may hold " + strings.Join(known, ", ")
	}
}

func isKnown(fields []*field, key string) bool {
	return slices.ContainsFunc(fields, func(f *field) bool {
		return f.name == key || slices.Contains(f.aliases, key) && !strings.HasPrefix(key, "/")
	})
}

// find returns the path of the first field anywhere whose name is key but for case and separators; empty: none.
func find(fields []*field, path, key string) string {
	for _, f := range fields {
		at := join(path, f.name)
		if !f.hidden && (plain(f.name) == plain(key) || strings.Contains(key, ".") && plain(at) == plain(key)) {
			return at
		}
		if f.kind == sectionKind {
			if found := find(f.fields, at, key); found != "" {
				return found
			}
		}
		if f.kind == choiceKind {
			for _, v := range f.fields {
				if found := find(v.fields, at, key); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

// around returns the discriminator of the innermost choice that a place is in; empty: it is in none.
func around(fields []*field, path, place string) (discriminator string) {
	for _, f := range fields {
		at := join(path, f.name)
		if place != at && !strings.HasPrefix(place, at+".") {
			continue
		}
		inner := f.fields
		if f.kind == choiceKind {
			discriminator, inner = f.discriminator, nil
			for _, v := range f.fields {
				inner = append(inner, v.fields...)
			}
		}
		if further := around(inner, at, place); further != "" {
			discriminator = further
		}
	}
	return discriminator
}

// collectMoved gathers the aliases that are written from the root, as dotted paths. A section on the way to one is known as well.
func collectMoved(fields []*field, moved map[string]bool) {
	for _, f := range fields {
		for _, alias := range f.aliases {
			rooted, ok := strings.CutPrefix(alias, "/")
			if !ok {
				continue
			}
			path := strings.ReplaceAll(rooted, "/", ".")
			moved[path] = true
			for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
				if on := path[:i]; !moved[on] { // it may be an alias itself
					moved[on] = false
				}
			}
		}
		collectMoved(f.fields, moved)
	}
}

// plain reduces a key to what a person remembers of it: slot_name, slotName and SlotName are the same.
func plain(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// nearest returns the candidate that is most like s, or the empty string when none is close: a third of the letters may differ.
func nearest(s string, candidates []string) string {
	if len(s) > 64 { // no slip of the pen, and the distance costs the product of the lengths
		return ""
	}
	best, bestDistance := "", 1+max(1, len(plain(s))/3)
	for _, c := range candidates {
		if d := distance(plain(s), plain(c)); d < bestDistance && c != "" && d < len(plain(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the single letters to insert, delete, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
