package columns

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// header is one column of a file.
type header struct {
	// field is its name; of one that has none column_n, n counted from 1.
	field string
	// unnamed columns at the end of the header are left out where they are empty: spreadsheets write them.
	unnamed bool
}

// headers names the columns. Two of one name are an error: no row could tell them apart.
func headers(names []string) ([]header, error) {
	list := make([]header, len(names))
	at := make(map[string]int, len(names))
	for i, name := range names {
		field := name
		if field == "" {
			field = "column_" + strconv.Itoa(i+1)
		}
		if other, taken := at[field]; taken {
			return nil, sameName(names, other, i, field)
		}
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("reading the header: the name of column %d, %q, is not valid UTF-8; set the option encoding to that of the file", i+1, clip([]byte(name)))
		}
		at[field] = i
		list[i] = header{field: field}
	}
	for i := len(list) - 1; i >= 0 && names[i] == ""; i-- {
		list[i].unnamed = true
	}
	return list, nil
}

func sameName(names []string, a, b int, field string) error {
	if named, empty := a, b; names[a] == "" || names[b] == "" {
		if names[a] == "" {
			named, empty = b, a
		}
		return fmt.Errorf("reading the header: column %d is named %q, and so is column %d, which has no name of its own; name it in the file, or list all names in the option headers", named+1, field, empty+1)
	}
	return fmt.Errorf("reading the header: columns %d and %d are both named %q; rename one in the file, or list all names in the option headers", a+1, b+1, field)
}
