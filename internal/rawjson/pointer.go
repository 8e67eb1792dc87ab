package rawjson

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901).
type Pointer struct{ tokens []string }

// ParsePointer reads "/a/b"; "" is the whole document.
func ParsePointer(text string) (Pointer, error) {
	if text == "" {
		return Pointer{}, nil
	}
	if text[0] != '/' {
		return Pointer{}, fmt.Errorf("the JSON pointer %q must start with a slash: /%s", text, text)
	}
	tokens := strings.Split(text[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(t, "~0", ""), "~1", ""), "~") {
			return Pointer{}, fmt.Errorf("the JSON pointer %q has a ~ that neither 0 nor 1 follows: a tilde is written ~0, a slash in a name ~1", text)
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return Pointer{tokens}, nil
}

// Tokens are the names and indices on the way from the root; they are not to be changed.
func (p Pointer) Tokens() []string { return p.tokens }

// String spells the pointer as ParsePointer reads it.
func (p Pointer) String() string {
	var b strings.Builder
	for _, t := range p.tokens {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(t, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// Find returns the value at the pointer; not ok: nothing is there. The document is checked as far as the pointer's parents reach.
func (p Pointer) Find(doc []byte) (value []byte, ok bool, err error) {
	value = doc
	if len(p.tokens) == 0 {
		i := space(doc, 0)
		end, f := skipValue(doc, i, 0)
		if f == 0 && space(doc, end) < len(doc) {
			end, f = space(doc, end), faultTrailing
		}
		if f != 0 {
			return nil, false, f.at(doc, end)
		}
		return doc[i:end], true, nil
	}
	for _, token := range p.tokens {
		var found []byte
		switch first(value) {
		case '{':
			err = Object(value, func(name, v []byte) error {
				if NameIs(name, token) {
					found = v
				}
				return nil
			})
		case '[':
			found, err = element(value, token)
		default:
			err = Valid(value)
		}
		if err != nil || found == nil {
			return nil, false, err
		}
		value = found
	}
	return value, true, nil
}

// first returns the first byte of a value, behind space; 0: there is none.
func first(value []byte) byte {
	if i := space(value, 0); i < len(value) {
		return value[i]
	}
	return 0
}

// element returns the element of an array that a pointer's token means; nil: there is none.
func element(array []byte, token string) (found []byte, err error) {
	want, at := index(token), 0
	err = Array(array, func(v []byte) error {
		if at == want {
			found = v
		}
		at++
		return nil
	})
	return found, err
}

// index reads an array index without leading zeros; negative: the token is none.
func index(token string) int {
	n, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(n) != token {
		return -1
	}
	return n
}
