package rows

import "bytes"

// AppendField appends the value of a field of text, which is the Row.Text that f is of: doubled quotes and escapes undone, everything else byte for byte.
func (d Dialect) AppendField(dst, text []byte, f Field) []byte {
	b := text[f.Start:f.End]
	if f.Flags&Escaped == 0 {
		return append(dst, b...)
	}
	if f.Flags&Quoted != 0 {
		dst, b = d.appendQuoted(dst, b)
	}
	return d.appendUnquoted(dst, b)
}

// appendQuoted appends what stands before the closing quote, or all, and returns what stands behind it.
func (d Dialect) appendQuoted(dst, b []byte) ([]byte, []byte) {
	for {
		i := bytes.IndexByte(b, d.Quote)
		if d.Escape != 0 && d.Escape != d.Quote {
			before := b
			if i >= 0 {
				before = b[:i]
			}
			if e := bytes.IndexByte(before, d.Escape); e >= 0 {
				i = e
			}
		}
		if i < 0 {
			return append(dst, b...), nil
		}
		dst = append(dst, b[:i]...)
		if b[i] == d.Quote && (i+1 == len(b) || b[i+1] != d.Quote) {
			return dst, b[i+1:]
		}
		if b = b[i+1:]; len(b) > 0 {
			dst, b = append(dst, b[0]), b[1:]
		}
	}
}

// appendUnquoted undoes escapes. One with nothing behind it stands for itself.
func (d Dialect) appendUnquoted(dst, b []byte) []byte {
	for d.Escape != 0 && d.Escape != d.Quote {
		i := bytes.IndexByte(b, d.Escape)
		if i < 0 || i+1 == len(b) {
			break
		}
		dst = append(append(dst, b[:i]...), b[i+1])
		b = b[i+2:]
	}
	return append(dst, b...)
}
