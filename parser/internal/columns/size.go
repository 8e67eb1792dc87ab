package columns

import (
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/internal/rows"
)

const (
	// defaultDocument is how many bytes a document made of a row of text may have: half more than a row (64 MiB). A control character is one byte of a row and
	// six of JSON, so that a small compressed file could otherwise ask for six times the memory that rows are bounded to.
	defaultDocument = 96 << 20
	// maxNames is how many bytes the names of a header may have together: each document has them.
	maxNames = 16 << 20
	// escaped is the length of the longest escape of one byte, \u0000.
	escaped = 6
)

// LimitError is a row whose document, or a header whose names, would take more memory than is allowed. It is final.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return "making documents: " + e.Reason }

// boundNames refuses a header that would make each document large.
func boundNames(header []string) error {
	n := 0
	for _, name := range header {
		n += len(name)
	}
	if n > maxNames {
		return &LimitError{Reason: fmt.Sprintf("the names of the columns have %d bytes together; at most %d are allowed", n, maxNames)}
	}
	return nil
}

// names is how many bytes a document has at least if no column is absent.
func names(program []instruction) (n int) {
	for i := range program {
		n += len(program[i].text)
	}
	return n
}

// makeRoom looks at a row whose document may be large, before it is: it gives dst the room at once, or refuses.
func (p *TextPlan) makeRoom(dst []byte, row *rows.Row) ([]byte, error) {
	size := 0
	for i := range p.program {
		in := &p.program[i]
		switch in.kind {
		case field, element, merge:
			if int(in.column) < len(row.Fields) {
				f := row.Fields[in.column]
				size += in.room(p.columns[in.column].jsonSize(row.Raw(f), f.Flags))
			} else if p.columns[in.column].missing == leaveOut {
				continue
			}
		default:
		}
		size += len(in.text) + 1
	}
	if size > p.most {
		return dst, &LimitError{Reason: fmt.Sprintf("the document of this row has up to %d bytes; at most %d are allowed", size, p.most)}
	}
	return slices.Grow(dst, size), nil
}

// jsonSize is how many bytes a field's text has at most as JSON.
func (c *column) jsonSize(text []byte, flags uint8) int {
	quotes := 1 // doubled ones stay as long as they are
	if flags&rows.Escaped != 0 || c.types&(jsonschema.Array|jsonschema.Object) != 0 {
		quotes = 0
	}
	n := len(text) + 2
	for _, b := range text {
		switch {
		case b < ' ':
			n += escaped - 1
		case b == '"', b == '\\':
			n += quotes
		}
	}
	return n
}
