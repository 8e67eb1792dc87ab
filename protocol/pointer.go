package protocol

import "strings"

// TopLevel returns the property that a JSON pointer (RFC 6901) names when it points to a member of the root; else ok is false.
func TopLevel(pointer string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok || strings.Contains(rest, "/") {
		return "", false
	}
	return strings.ReplaceAll(strings.ReplaceAll(rest, "~1", "/"), "~0", "~"), true
}

// PointsInto tells whether a JSON pointer leads to, or below, a member of the root.
func PointsInto(pointer, member string) bool {
	rest, ok := strings.CutPrefix(pointer, "/"+EscapePointer(member))
	return ok && (rest == "" || rest[0] == '/')
}

// EscapePointer escapes a property name as one token of a JSON pointer.
func EscapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
