package charset

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// family is how an encoding is decoded.
type family int

const (
	utf8Family family = iota
	utf16Family
	utf32Family
	singleByte
	multiByte
)

// Encoding is a way to write text as bytes. The zero value is UTF-8.
type Encoding struct {
	name   string
	family family
	big    bool              // byte order of UTF-16 and UTF-32
	full   encoding.Encoding // of single and multiple bytes
}

// Name is the encoding's label, for logs.
func (e Encoding) Name() string {
	if e.family == utf8Family {
		return "utf-8"
	}
	return e.name
}

// IsUTF8 tells whether the bytes are passed on as they are.
func (e Encoding) IsUTF8() bool { return e.family == utf8Family }

var (
	utf16le = Encoding{name: "utf-16le", family: utf16Family}
	utf16be = Encoding{name: "utf-16be", family: utf16Family, big: true}
	utf32le = Encoding{name: "utf-32le", family: utf32Family}
	utf32be = Encoding{name: "utf-32be", family: utf32Family, big: true}
	// windows1252 is what is left when nothing else fits: each byte means something in it.
	windows1252 = Encoding{name: "windows-1252", family: singleByte, full: charmap.Windows1252}
)

// own are the labels that the WHATWG does not have, or that are decoded here.
var own = map[string]Encoding{
	"utf-16": utf16le, "utf16": utf16le, // without an order: a mark decides, else little-endian
	"utf-16le": utf16le, "utf-16be": utf16be, "utf16le": utf16le, "utf16be": utf16be,
	"utf-32": utf32le, "utf32": utf32le,
	"utf-32le": utf32le, "utf-32be": utf32be, "utf32le": utf32le, "utf32be": utf32be,
	"cp437": {name: "cp437", family: singleByte, full: charmap.CodePage437}, "ibm437": {name: "cp437", family: singleByte, full: charmap.CodePage437},
	"437":   {name: "cp437", family: singleByte, full: charmap.CodePage437},
	"cp850": {name: "cp850", family: singleByte, full: charmap.CodePage850}, "ibm850": {name: "cp850", family: singleByte, full: charmap.CodePage850},
}

// Lookup finds an encoding by a label of https://encoding.spec.whatwg.org/#names-and-labels, or utf-32, utf-32le, utf-32be, cp437, cp850. Case and
// blanks around it do not matter.
func Lookup(label string) (Encoding, error) {
	key := strings.ToLower(strings.TrimSpace(label))
	if e, ok := own[key]; ok {
		return e, nil
	}
	full, err := htmlindex.Get(key)
	if err != nil {
		return Encoding{}, fmt.Errorf("looking up the encoding %q: it is no label of the WHATWG's list, such as utf-8, utf-16le, windows-1252 or shift_jis", label)
	}
	name, err := htmlindex.Name(full)
	switch {
	case err != nil:
		return Encoding{}, fmt.Errorf("looking up the encoding %q: %w", label, err)
	case name == "replacement":
		return Encoding{}, fmt.Errorf("looking up the encoding %q: the WHATWG's list has it only to refuse it", label)
	case name == "utf-8":
		return Encoding{}, nil
	case name == "utf-16le":
		return utf16le, nil
	case name == "utf-16be":
		return utf16be, nil
	case isSingleByte(full):
		return Encoding{name: name, family: singleByte, full: full}, nil
	default:
		return Encoding{name: name, family: multiByte, full: full}, nil
	}
}

func isSingleByte(e encoding.Encoding) bool {
	_, ok := e.(*charmap.Charmap)
	return ok || e == charmap.XUserDefined || e == charmap.ISO8859_8I
}
