package rows

// Flags of a field.
const (
	Quoted  uint8 = 1 << iota // the field was quoted; its text stands without the outer quotes
	Escaped                   // doubled quotes or escapes are inside, or text behind the closing quote: only AppendField knows the value
	Lenient                   // text stands behind the closing quote: "abc"def is abcdef
)

// Field is where a field stands in Row.Text.
type Field struct {
	Start, End int32
	Flags      uint8
}

// Row is one row. It is valid until the next call of the scanner that returned it.
type Row struct {
	Text    []byte  // as it stands in the file, without the row's end
	Fields  []Field // at least one
	Byte    int64   // where the row begins, counted from the first byte of the decoded text
	Line    int64   // the physical line on which it begins, from 1
	Lenient int     // how many fields have text behind their closing quote
}

// Raw is the field as it stands in the file, without its outer quotes. It is the value unless Escaped is set.
func (r *Row) Raw(f Field) []byte { return r.Text[f.Start:f.End] }
