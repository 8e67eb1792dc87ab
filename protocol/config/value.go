package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fromTag reads a value in the notation of tags: as in a config, without quotes, a list's elements separated by commas.
func (f *field) fromTag(text string) *node {
	switch f.kind {
	case boolKind:
		return &node{is: 'b', text: text}
	case intKind, uintKind, floatKind:
		return &node{is: 'n', text: text}
	case listKind:
		n := &node{is: '['}
		for _, item := range list(text) {
			n.items = append(n.items, &node{is: 's', text: item})
		}
		return n
	default:
		return &node{is: 's', text: text}
	}
}

// takesEmpty tells whether the empty string is a value of f; otherwise it stands for an absent one.
func (f *field) takesEmpty() bool {
	if f.kind == durationKind {
		return false
	}
	return !f.required && (len(f.enum) == 0 || slices.Contains(f.enum, ""))
}

// set assigns n to v and returns why it cannot, as the rest of a sentence that begins with the field's path; empty: it is done.
func (f *field) set(v reflect.Value, n *node) string {
	if reason := f.assign(v, n); reason != "" {
		return reason
	}
	return f.check(v)
}

// assign sets v when n has the type of f.
func (f *field) assign(v reflect.Value, n *node) string {
	switch f.kind {
	case stringKind:
		if f.object && n.is == '{' {
			v.SetString(string(n.compact()))
			return ""
		}
		if n.is != 's' {
			return "must be a string, not " + n.describe()
		}
		v.SetString(n.text)
	case boolKind:
		if n.is != 'b' || n.text != "true" && n.text != "false" {
			return "must be true or false, not " + n.describe()
		}
		v.SetBool(n.text == "true")
	case durationKind:
		d, err := time.ParseDuration(n.text)
		if n.is != 's' || err != nil {
			return `must be a duration such as "15m", not ` + f.shown(n)
		}
		v.SetInt(int64(d))
	case listKind:
		if n.is != '[' {
			return "must be a list of strings, not " + n.describe()
		}
		items := reflect.MakeSlice(f.typ, len(n.items), len(n.items))
		for i, item := range n.items {
			if item.is != 's' {
				return fmt.Sprintf("must be a list of strings, but element %d is %s", i+1, item.describe())
			}
			items.Index(i).SetString(item.text)
		}
		v.Set(items)
	case mapKind, objectKind:
		return f.assignObject(v, n)
	default:
		return f.assignNumber(v, n)
	}
	return ""
}

// assignObject keeps an object whose keys are the user's own.
func (f *field) assignObject(v reflect.Value, n *node) string {
	if n.is != '{' {
		return "must be an object, not " + n.describe()
	}
	if f.kind == objectKind {
		v.SetBytes(n.compact())
		return ""
	}
	all := reflect.MakeMapWithSize(f.typ, len(n.keys))
	for _, key := range n.keys {
		value := n.members[key]
		if f.typ == textsType {
			if value.is != 's' {
				return "must be an object of strings, but " + quote(key) + " is " + value.describe()
			}
			all.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value.text))
			continue
		}
		all.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(json.RawMessage(value.compact())))
	}
	v.Set(all)
	return ""
}

func (f *field) assignNumber(v reflect.Value, n *node) string {
	want := "a whole number"
	if f.kind == floatKind {
		want = "a number"
	}
	if n.is != 'n' {
		return "must be " + want + ", not " + n.describe()
	}
	switch f.kind {
	case floatKind:
		x, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			return "must be a number that a computer can hold"
		}
		v.SetFloat(x)
	case uintKind:
		x, err := strconv.ParseUint(integral(n.text), 10, 64)
		if err != nil || v.OverflowUint(x) {
			return fmt.Sprintf("must be a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-v.Type().Bits()))
		}
		v.SetUint(x)
	default:
		x, err := strconv.ParseInt(integral(n.text), 10, 64)
		if err != nil || v.OverflowInt(x) {
			limit := int64(math.MaxInt64) >> (64 - v.Type().Bits())
			return fmt.Sprintf("must be a whole number from %d to %d", -limit-1, limit)
		}
		v.SetInt(x)
	}
	return ""
}

// integral rewrites 5.0 and 5e3 as 5 and 5000: JSON schema counts them as integers, and some runners write them so.
func integral(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	const exact = 1 << 53 // beyond it a float64 skips integers
	if x, err := strconv.ParseFloat(text, 64); err == nil && x == math.Trunc(x) && math.Abs(x) <= exact {
		return strconv.FormatInt(int64(x), 10)
	}
	return text
}

// check tells which rule of the tags an assigned value breaks.
func (f *field) check(v reflect.Value) string {
	switch f.kind {
	case stringKind:
		return f.checkText(v.String(), "")
	case listKind:
		for i := range v.Len() {
			if reason := f.checkText(v.Index(i).String(), fmt.Sprintf("has element %d, which ", i+1)); reason != "" {
				return reason
			}
		}
	case durationKind:
		if f.min == "" && v.Int() < 0 {
			return "must not be negative"
		}
		fallthrough
	case intKind, uintKind, floatKind:
		if f.min != "" && f.compare(v, f.bound(f.min)) < 0 {
			return fmt.Sprintf("must be at least %s, not %v", f.min, v)
		}
		if f.max != "" && f.compare(v, f.bound(f.max)) > 0 {
			return fmt.Sprintf("must be at most %s, not %v", f.max, v)
		}
	default:
	}
	return ""
}

func (f *field) checkText(text, element string) string {
	if len(f.enum) > 0 && !slices.Contains(f.enum, text) {
		reason := element + "must be one of " + strings.Join(quoteEmpty(f.enum), ", ") + ", not " + f.shown(&node{is: 's', text: text})
		if near := nearest(text, f.enum); near != "" {
			reason += ": did you mean " + quote(near) + "?"
		}
		return reason
	}
	// The value is not shown: what does not match may be a password in the wrong line.
	if f.pattern != nil && !f.pattern.MatchString(text) && (text != "" || f.kind == listKind || f.hasDefault || f.required) {
		return element + "must match " + f.pattern.String()
	}
	return ""
}

// bound reads a bound's tag, which mustHold has tried before.
func (f *field) bound(text string) reflect.Value {
	v := reflect.New(f.typ).Elem()
	f.assign(v, f.fromTag(text))
	return v
}

func (f *field) compare(a, b reflect.Value) int {
	switch f.kind {
	case uintKind:
		return cmp.Compare(a.Uint(), b.Uint())
	case floatKind:
		return cmp.Compare(a.Float(), b.Float())
	default:
		return cmp.Compare(a.Int(), b.Int())
	}
}

// maxShown bounds what a message repeats of a config: longer values are keys and certificates rather than slips of the pen.
const maxShown = 32

// shown repeats a wrong value of a field that is no secret, if it is short.
func (f *field) shown(n *node) string {
	if n.is != 's' || f.secret || len(n.text) > maxShown {
		return n.describe()
	}
	return quote(n.text)
}

func quoteEmpty(values []string) []string {
	shown := slices.Clone(values)
	for i, v := range shown {
		if v == "" {
			shown[i] = `""`
		}
	}
	return shown
}

// quote prints a name from a config: one line, at most 64 bytes of it.
func quote(s string) string {
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "…"
	}
	return strconv.Quote(s)
}
