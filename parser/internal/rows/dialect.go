package rows

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// End is what ends a row: LineEnd, AnyEnd or the one byte that alone does. The zero End is none; Detect replaces it.
type End uint16

// Ends that are more than one byte.
const (
	LineEnd End = 0x100 // LF. One CR before it belongs to it, any other CR is data
	AnyEnd  End = 0x200 // LF, CRLF or CR
)

// ParseEnd reads the option lineEnding: empty or auto is zero, "\r\n" is AnyEnd as it has been since 2022, one ASCII character is itself.
func ParseEnd(s string) (End, error) {
	switch {
	case s == "" || s == "auto":
		return 0, nil
	case s == "\r\n":
		return AnyEnd, nil
	case len(s) == 1 && s[0] > 0 && s[0] < utf8.RuneSelf:
		return End(s[0]), nil
	}
	return 0, fmt.Errorf(`reading the line ending %q: it is neither "\r\n", auto nor one ASCII character`, s)
}

// byte is the byte that ends lines and is searched for.
func (e End) byte() byte {
	if e == LineEnd || e == AnyEnd {
		return '\n'
	}
	return byte(e)
}

func (e End) String() string {
	switch e {
	case 0:
		return "auto"
	case LineEnd:
		return "LF or CRLF"
	case AnyEnd:
		return "LF, CRLF or CR"
	}
	return strconv.Quote(string(rune(e)))
}

// Dialect is how a file separates, quotes and ends.
type Dialect struct {
	Delimiter string // one character or several
	Quote     byte   // 0: none
	Escape    byte   // takes the next byte literally, in quotes and outside; 0: none, and doubling a quote works anyway
	End       End
	Comment   string // lines that begin with it are skipped; empty: none
}

// String is for logs.
func (d Dialect) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "delimiter %q, rows end with %v", d.Delimiter, d.End)
	if d.Quote == 0 {
		s.WriteString(", no quote")
	} else {
		fmt.Fprintf(&s, ", quote %c", d.Quote)
	}
	if d.Escape != 0 {
		fmt.Fprintf(&s, ", escape %c", d.Escape)
	}
	if d.Comment != "" {
		fmt.Fprintf(&s, ", comment %q", d.Comment)
	}
	return s.String()
}

// check refuses dialects in which one character has two meanings.
func (d Dialect) check() error {
	isEnd := func(c byte) bool {
		return c == d.End.byte() || c == '\r' && (d.End == LineEnd || d.End == AnyEnd)
	}
	switch {
	case d.End == 0 || d.End > AnyEnd || d.End < LineEnd && d.End >= utf8.RuneSelf:
		return fmt.Errorf("reading the dialect: no row ends with %d", d.End)
	case d.Delimiter == "":
		return errors.New("reading the dialect: the delimiter is empty")
	case !utf8.ValidString(d.Delimiter) || strings.ContainsRune(d.Delimiter, 0):
		return fmt.Errorf("reading the dialect: the delimiter %q is not text", d.Delimiter)
	case strings.ContainsAny(d.Delimiter, "\r\n") || strings.IndexByte(d.Delimiter, d.End.byte()) >= 0:
		return fmt.Errorf("reading the dialect: the delimiter %q holds a line end", d.Delimiter)
	case d.Quote != 0 && strings.IndexByte(d.Delimiter, d.Quote) >= 0:
		return fmt.Errorf("reading the dialect: the delimiter %q holds the quote %q", d.Delimiter, d.Quote)
	case d.Escape != 0 && strings.IndexByte(d.Delimiter, d.Escape) >= 0:
		return fmt.Errorf("reading the dialect: the delimiter %q holds the escape %q", d.Delimiter, d.Escape)
	case d.Quote >= utf8.RuneSelf || isEnd(d.Quote):
		return fmt.Errorf("reading the dialect: the quote %q is a line end or no ASCII character", d.Quote)
	case d.Escape >= utf8.RuneSelf || isEnd(d.Escape):
		return fmt.Errorf("reading the dialect: the escape %q is a line end or no ASCII character", d.Escape)
	case strings.ContainsAny(d.Comment, "\r\n"):
		return fmt.Errorf("reading the dialect: the comment prefix %q holds a line end", d.Comment)
	}
	return nil
}
