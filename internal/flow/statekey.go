package flow

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StateKey names a binding's part of the state document as Flow does: the resource path joined by slashes, everything but letters, digits and -_+.=
// percent-encoded, and the number of the backfill when it is not the first.
func StateKey(path []string, backfill uint32) string {
	var key strings.Builder
	for joined := strings.Join(path, "/"); joined != ""; {
		r, size := utf8.DecodeRuneInString(joined)
		if r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("-_+.=", r)) {
			key.WriteString(joined[:size])
		} else {
			for _, b := range []byte(joined[:size]) {
				fmt.Fprintf(&key, "%%%02X", b)
			}
		}
		joined = joined[size:]
	}
	if backfill != 0 {
		fmt.Fprintf(&key, ".v%d", backfill)
	}
	return key.String()
}
