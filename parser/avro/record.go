package avro

// record is the datum that a reader stands at, cut into its fields.
type record struct {
	schema *Schema
	limits Limits
	datum  []byte
	spans  []Span
	made   int  // bytes of JSON
	walk   walk // of AppendField
}

// Schema returns the schema.
func (r *record) Schema() *Schema { return r.schema }

// AppendField appends the JSON of the field i of the record that Next has gone to. A field is always present. Its errors are *ValueError, after which the
// next record can be read, and *Error; dst is then returned as it was.
func (r *record) AppendField(dst []byte, i int) ([]byte, bool, error) {
	before := len(dst)
	dst, err := r.schema.appendField(&r.walk, dst, r.datum, r.spans[i], i, r.limits.Value-r.made)
	r.made += len(dst) - before
	return dst, err == nil, err
}

func newRecord(s *Schema, limits Limits) record {
	return record{schema: s, limits: limits, walk: walk{limits: limits}}
}
