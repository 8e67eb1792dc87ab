package reduce

import (
	"bytes"

	"github.com/estuary/connectors/internal/rawjson"
)

// addUp appends the exact sum of numbers and numeric strings: a string if either is one. Null is nothing.
func addUp(dst, left, right []byte) ([]byte, error) {
	a, err := parseAddend(left)
	if err != nil {
		return dst, err
	}
	b, err := parseAddend(right)
	switch {
	case err != nil:
		return dst, err
	case a.none:
		return append(dst, right...), nil
	case b.none:
		return append(dst, left...), nil
	}
	quoted := a.quoted || b.quoted
	if quoted {
		dst = append(dst, '"')
	}
	if a.special != "" || b.special != "" {
		dst = append(dst, addSpecial(a.special, b.special)...)
	} else {
		total, ok := a.number.Add(b.number)
		if !ok {
			return dst, wrong("the sum of %s and %s has too many digits", shorten(left), shorten(right))
		}
		dst = total.Append(dst)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst, nil
}

// addend is one side of a sum.
type addend struct {
	none    bool // absent or null
	quoted  bool
	special string // NaN, Infinity, -Infinity; only as strings
	number  rawjson.Number
}

func parseAddend(value []byte) (a addend, err error) {
	if value == nil || rawjson.IsNull(value) {
		return addend{none: true}, nil
	}
	text := value
	if value[0] == '"' {
		a.quoted, text = true, value[1:len(value)-1]
		switch s := string(bytes.TrimSpace(text)); s {
		case "NaN", "Infinity", "-Infinity":
			a.special = s
			return a, nil
		}
	}
	var ok bool
	if a.number, ok = rawjson.ParseNumber(text); !ok {
		return a, wrong("sum needs numbers or numeric strings, found %s", shorten(value))
	}
	return a, nil
}

// addSpecial adds values that are no numbers; an empty one is a number.
func addSpecial(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return "NaN"
}
