package columns

// RecordPlan makes documents of records whose values are written by somebody else.
type RecordPlan struct {
	program []instruction
	writer  writer
	value   []byte // a value that is joined with what is added
}

// ForRecord plans records of named fields. Only the user's projections move a field, or its own name is its member's: the schema has no say, because the
// format has its own. Errors concern the file: two fields at one location.
func ForRecord(fields []string, o Options) (p *RecordPlan, warnings []string, err error) {
	root, _, warnings, err := plan(fields, o, nil)
	if err != nil {
		return nil, nil, err
	}
	return &RecordPlan{program: compile(root)}, warnings, nil
}

// Append appends the document of a record, the n-th, counted from 0. value appends the JSON of field i, or returns false: the field is absent. It is called at
// most once for each field, in no certain order; its error is returned as it is, and then dst is as long as it was.
func (p *RecordPlan) Append(dst []byte, n int64, value func(dst []byte, i int) ([]byte, bool, error)) ([]byte, error) {
	start := len(dst)
	p.writer.frames = p.writer.frames[:0]
	dst = append(dst, '{')
	for i := range p.program {
		in := &p.program[i]
		switch in.kind {
		case field, element:
			out, present, err := value(appendMember(dst, in.text), int(in.column))
			switch {
			case err != nil:
				return dst[:start], err
			case present:
				dst = out
				if in.kind == element {
					p.writer.mark(len(dst))
				}
			case in.kind == element:
				dst = append(appendMember(dst, in.text), "null"...)
			}
		case merge:
			out, present, err := value(p.value[:0], int(in.column))
			if err != nil {
				return dst[:start], err
			}
			if p.value = out; !present {
				out = nil
			}
			dst = in.added.append(appendMember(dst, in.text), out, n)
		default:
			dst = p.writer.run(dst, in, n)
		}
	}
	return dst, nil
}
