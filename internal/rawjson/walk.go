package rawjson

import "bytes"

// Object calls f with each member of an object: its name as it stands between the quotes (NameIs compares it), its value without space around it.
// An error of f ends the walk and is returned as it is. f must not keep the views longer than doc lives.
func Object(doc []byte, f func(name, value []byte) error) error {
	i, bad := start(doc, '{')
	for done := i < len(doc) && doc[i] == '}'; bad == 0; {
		if done {
			return end(doc, i)
		}
		var nameEnd, value int
		name := i + 1
		if nameEnd, value, bad = memberName(doc, i); bad != 0 {
			return bad.at(doc, value)
		}
		if i, bad = skipValue(doc, value, 1); bad != 0 {
			break
		}
		if err := f(doc[name:nameEnd-1], doc[value:i]); err != nil {
			return err
		}
		if i, done, bad = separator(doc, i, '}'); done {
			i--
		}
	}
	return bad.at(doc, i)
}

// Array calls f with each element of an array, without space around it. An error of f ends the walk and is returned as it is.
func Array(doc []byte, f func(value []byte) error) error {
	i, bad := start(doc, '[')
	for done := i < len(doc) && doc[i] == ']'; bad == 0; {
		if done {
			return end(doc, i)
		}
		value := i
		if i, bad = skipValue(doc, i, 1); bad != 0 {
			break
		}
		if err := f(doc[value:i]); err != nil {
			return err
		}
		if i, done, bad = separator(doc, i, ']'); done {
			i--
		}
	}
	return bad.at(doc, i)
}

// start returns the index of what follows the opening bracket.
func start(doc []byte, opening byte) (int, fault) {
	i := space(doc, 0)
	switch {
	case i >= len(doc):
		return len(doc), faultEnd
	case doc[i] == opening:
		return space(doc, i+1), 0
	case opening == '{':
		return i, faultNoObject
	}
	return i, faultNoArray
}

// end looks behind the closing bracket at i.
func end(doc []byte, i int) error {
	if i = space(doc, i+1); i < len(doc) {
		return faultTrailing.at(doc, i)
	}
	return nil
}

// NameIs tells whether a raw name, as Object hands it out, spells text.
func NameIs(raw []byte, text string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == text
	}
	return string(AppendUnquoted(nil, raw)) == text
}

// IsNull tells whether a value, trimmed, is null; an absent one (nil) is not.
func IsNull(value []byte) bool { return string(value) == "null" }
