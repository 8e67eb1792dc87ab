package sqlcapture

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strings"
)

// fingerprint tells two lists of columns apart, and which columns differ: a hash of all, a dot, and tagChars of each column. States of before have the
// hash alone.
func fingerprint(t *Table) string {
	h := fnv.New64a()
	var tags strings.Builder
	for _, c := range t.Columns {
		_, _ = fmt.Fprintf(h, "%q %q %t;", c.Name, c.Type, c.NotNull)
		tags.WriteString(tag(&c))
	}
	return fmt.Sprintf("%016x.%s", h.Sum64(), tags.String())
}

const tagChars = 4

// tag stands for a column's name and type.
func tag(c *Column) string {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%q %q", c.Name, c.Type)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:3])
}

// whole is the hash of all columns.
func whole(fingerprint string) string {
	hash, _, _ := strings.Cut(fingerprint, ".")
	return hash
}

// rewrittenSince says which columns of t may hold values, in rows that were read when the table had the columns before, that the log does not tell of; "":
// none. Neither a column that was dropped is one, nor a new one that is NULL in the rows that were there.
func rewrittenSince(before string, t *Table) string {
	hash, tags, known := strings.Cut(before, ".")
	if before == "" || hash == whole(fingerprint(t)) {
		return ""
	}
	if !known {
		return "its columns changed"
	}
	gone := map[string]bool{}
	for ; len(tags) >= tagChars; tags = tags[tagChars:] {
		gone[tags[:tagChars]] = true
	}
	var added []string
	filled := false
	for i := range t.Columns {
		c := &t.Columns[i]
		if gone[tag(c)] {
			delete(gone, tag(c))
			continue
		}
		added = append(added, fmt.Sprintf("%q", c.Name))
		filled = filled || c.Filled
	}
	switch {
	case len(added) == 0, len(gone) == 0 && !filled:
		return ""
	case len(added) == 1:
		return "column " + added[0] + " was added, renamed or given another type"
	}
	return "columns " + strings.Join(added, ", ") + " were added, renamed or given another type"
}
