package rawjson

// Lengths tell a reader where values end, so that it need not look for that. Each is written as three digits of base 32, '0' to 'O', none of which means
// anything in a JSON string.

const (
	// LengthBytes is what each length takes.
	LengthBytes = 3
	// MaxLength is the greatest length that can be written.
	MaxLength = 1<<(5*LengthBytes) - 1
)

// PutLength writes a length at the start of b; 0 for a greater one than MaxLength.
func PutLength(b []byte, n int) {
	_ = b[LengthBytes-1]
	if n > MaxLength {
		n = 0
	}
	b[0], b[1], b[2] = '0'+byte(n>>10), '0'+byte(n>>5&31), '0'+byte(n&31)
}

// NextLength reads the first length of a list; 0: it was not told, or the list is at its end or damaged.
func NextLength(list []byte) (n int, rest []byte) {
	if len(list) < LengthBytes {
		return 0, nil
	}
	a, b, c := list[0]-'0', list[1]-'0', list[2]-'0'
	if (a | b | c) > 31 {
		return 0, nil
	}
	return int(a)<<10 | int(b)<<5 | int(c), list[LengthBytes:]
}

// ExtractMembers is Extract for a document whose writer tells the length of each member of its root, name and colon included. The writer's word is taken
// for it that the values are JSON. Not ok: the lengths do not fit, and Extract has to read the document.
func (e *Extractor) ExtractMembers(doc, lengths []byte, into [][]byte) (ok bool) {
	into = into[:e.length]
	clear(into)
	if len(e.root.outs) > 0 || len(doc) < 2 || doc[0] != '{' {
		return false
	}
	next := 0
	for i := 1; ; i++ {
		var n int
		n, lengths = NextLength(lengths)
		end := i + n
		if n == 0 || end >= len(doc) {
			return false
		}
		c, value, f := e.root.member(doc[:end+1], i, next)
		if f != 0 || value >= end {
			return false
		}
		if c >= 0 {
			next = c + 1
			if !e.root.children[c].take(doc, value, end, into) {
				return false
			}
		}
		i = end
		switch doc[i] {
		case ',':
		case '}':
			return i+1 == len(doc) && len(lengths) == 0
		default:
			return false
		}
	}
}

// take finds what is asked for at and below n in doc[value:end], a member's value.
func (n *node) take(doc []byte, value, end int, into [][]byte) (ok bool) {
	for _, out := range n.outs {
		into[out] = doc[value:end]
	}
	if len(n.children) == 0 || doc[value] != '{' && doc[value] != '[' {
		return true
	}
	n.forget(into)
	if len(n.children) == 1 && len(n.children[0].children) == 0 && doc[value] == '{' { // often it is the first member
		if c, inner, f := n.member(doc, value+1, 0); f == 0 && c == 0 {
			after, f := skipValue(doc, inner, 0)
			if f != 0 || after >= end {
				return false
			}
			for _, out := range n.children[0].outs {
				into[out] = doc[inner:after]
			}
			return true
		}
	}
	after, f := n.walk(doc, value, 0, into)
	return f == 0 && after == end
}
