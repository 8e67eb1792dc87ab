package rawjson

import "fmt"

// SyntaxError tells why a text is no JSON.
type SyntaxError struct {
	Offset int // in bytes from the text's start
	What   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.What)
}

// fault is a kind of syntax error; zero: none. It becomes an error, with its allocation, at the package's edge only.
type fault uint8

const (
	faultEnd fault = iota + 1
	faultValue
	faultName
	faultColon
	faultObject
	faultArray
	faultNumber
	faultControl
	faultEscape
	faultHex
	faultDepth
	faultTrailing
	faultNoObject
	faultNoArray
)

var faults = [...]string{
	faultEnd:      "the text ends in the middle of a value",
	faultValue:    "no value starts like this",
	faultName:     "a member's name must be a string",
	faultColon:    "a colon must follow a member's name",
	faultObject:   "a comma or } must follow a member",
	faultArray:    "a comma or ] must follow an element",
	faultNumber:   "a digit is missing in this number",
	faultControl:  "a control character must be escaped inside a string",
	faultEscape:   "no such escape",
	faultHex:      "four hexadecimal digits must follow \\u",
	faultDepth:    "objects and arrays are nested too deep (10,000 at most)",
	faultTrailing: "something follows the value",
	faultNoObject: "it must be an object",
	faultNoArray:  "it must be an array",
}

func (f fault) at(b []byte, i int) error {
	if f == 0 {
		return nil
	}
	what := faults[f]
	if i < len(b) {
		what += fmt.Sprintf(", found %q", b[i:min(i+1, len(b))])
	}
	return &SyntaxError{Offset: i, What: what}
}
