package rows

// splitEntry cuts the line of an entry at TABs, or at runs of blanks, into fields, and returns how many it has; those beyond the length of fields are counted
// only. A field that begins with a double quote goes on to its closing quote.
func splitEntry(line []byte, tab bool, fields []Field) (n, lenient int, unclosed bool) {
	const tabs, blanks, quotes = '\t' * everyByte, ' ' * everyByte, '"' * everyByte
	second := uint64(blanks)
	if tab {
		second = tabs
	}
	for i := 0; ; {
		if !tab {
			for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
				i++
			}
			if i == len(line) {
				return n, lenient, false
			}
		}
		f := Field{Start: int32(i)}
		if i < len(line) && line[i] == '"' {
			f.Start, f.Flags = int32(i+1), Quoted
			for i++; ; i += 2 {
				if i = next(line, i, quotes, quotes, quotes, quotes); i >= len(line) {
					return n, lenient, true
				}
				if i+1 == len(line) || line[i+1] != '"' {
					break
				}
				f.Flags |= Escaped
			}
			f.End = int32(i)
			i++
		}
		end := next(line, i, tabs, second, tabs, second)
		if f.Flags&Quoted != 0 && end > i {
			f.Flags |= Escaped | Lenient
			lenient++
		}
		if f.Flags&Quoted == 0 || end > i {
			f.End = int32(end)
		}
		if n < len(fields) {
			fields[n] = f
		}
		n++
		if i = end + 1; end == len(line) {
			return n, lenient, false
		}
	}
}

// hasTab finds a TAB outside quotes.
func hasTab(line []byte) bool {
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		} else if c == '\t' && !quoted {
			return true
		}
	}
	return false
}
