package rows

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// SampleSize is how much of the text Detect looks at.
const SampleSize = 64 << 10

// candidates are the delimiters that are looked for, the likeliest first; at least one.
func (d Dialect) candidates() []string {
	return slices.DeleteFunc([]string{",", ";", "\t", "|"}, func(c string) bool { return c[0] == d.Quote || c[0] == d.Escape || End(c[0]) == d.End })
}

// Detect finds out what the user left open, from the beginning of the text; atEOF: the sample is all of it. It takes
//
//   - the delimiter that gives every row as many fields as the header, two at least; of several the one under which no field has text behind its closing
//     quote, then the first of , ; TAB |
//   - else the delimiter with the most rows of two fields or more, if no row is longer than the header
//   - else the delimiter that gives nine rows in ten, and the header, the same number of fields: the others are errors, and are seen
//   - else the comma.
//
// Surplus fields that are empty make no row longer. Where no delimiter is in the header, the file has one column, and the first delimiter counts that leaves
// each row in one piece. The single quote is taken only where it closes whatever it opens and the double quote opens nothing. Rows end with LF if one stands
// outside quotes, with CR if only CR does.
//
// A line sep= names the delimiter. An error is one of the configuration.
func Detect(sample []byte, atEOF bool, given Given) (Dialect, error) {
	d, quotes, err := given.dialect()
	if err != nil {
		return d, err
	}
	if len(sample) > SampleSize {
		sample, atEOF = sample[:SampleSize], false
	}
	if n := len(sample); atEOF && n > 0 && sample[n-1] == ctrlZ {
		sample = sample[:n-1]
	}
	t := trial{sample: append(make([]byte, 0, len(sample)+padding), sample...), atEOF: atEOF, given: given}
	best := t.delimiter(d)
	if quotes {
		d.Quote = '\''
		if single := t.delimiter(d); single.quoted > 0 && single.broken == 0 && best.quoted == 0 {
			best = single
		}
	}
	return best.dialect, best.dialect.check()
}

// trial reads one sample under several dialects.
type trial struct {
	sample []byte // with room for the padding behind it
	atEOF  bool
	given  Given
}

// outcome is what a dialect makes of the sample.
type outcome struct {
	dialect Dialect
	header  int // fields of the first row, or as many as the configuration names
	rows    int // without the header
	equal   int // of them with as many fields as the header
	several int // with two fields or more
	longer  int // with more fields than the header, not counting empty ones at the end
	quoted  int // fields
	broken  int // fields with text behind their closing quote, or without one
}

// delimiter is the outcome of the best delimiter, with the row's end that goes with it.
func (t *trial) delimiter(d Dialect) outcome {
	if d.Delimiter != "" {
		return t.read(d)
	}
	if sep := t.sep(d); sep != "" {
		d.Delimiter = sep
		if read := t.read(d); read.dialect.check() == nil {
			return read
		}
	}
	if t.given.Usual != "" {
		d.Delimiter = t.given.Usual
		return t.read(d)
	}
	var tried []outcome
	single := true
	for _, d.Delimiter = range d.candidates() {
		o := t.read(d)
		tried = append(tried, o)
		single = single && o.header == 1
	}
	for _, better := range []func(o, best *outcome) bool{
		func(o, best *outcome) bool {
			fits := o.equal == o.rows && (o.header > 1 || single && o.header == 1)
			return fits && (best == nil || o.broken < best.broken)
		},
		func(o, best *outcome) bool {
			return o.longer == 0 && o.several > 0 && (best == nil || o.several > best.several)
		},
		func(o, best *outcome) bool {
			return o.header > 1 && o.equal*10 >= o.rows*9 && (best == nil || o.equal > best.equal)
		},
		func(_, best *outcome) bool { return best == nil },
	} {
		var best *outcome
		for i := range tried {
			if better(&tried[i], best) {
				best = &tried[i]
			}
		}
		if best != nil {
			return *best
		}
	}
	panic("unreachable: the last rule takes the first candidate")
}

var errSampleEnd = errors.New("reading the sample: it ends inside the file")

// scanner reads the sample; errSampleEnd follows its last whole row unless it is the whole file.
func (t *trial) scanner(d Dialect, atEOF bool) *Scanner {
	s := NewScanner(nil, d, Options{SkipLines: t.given.SkipLines}, 0, 1)
	s.buf, s.end, s.err = t.sample[:cap(t.sample)], len(t.sample), io.EOF
	if !atEOF {
		s.err = errSampleEnd
	}
	return s
}

// read completes d with the row's end, reads the sample and counts.
func (t *trial) read(d Dialect) outcome {
	d.End = t.end(d)
	o := t.count(d, t.atEOF)
	if o.rows == 0 && !t.atEOF && (o.header == 0 || t.given.Columns > 0) {
		o = t.count(d, true) // the first row is longer than the sample
	}
	return o
}

func (t *trial) count(d Dialect, atEOF bool) outcome {
	o := outcome{dialect: d, header: t.given.Columns}
	for s := t.scanner(d, atEOF); ; {
		row, err := s.Next()
		var bad *RowError
		if errors.As(err, &bad) {
			o.rows++
			o.broken++
			continue
		}
		if err != nil {
			return o
		}
		o.broken += row.Lenient
		for _, f := range row.Fields {
			if f.Flags&Quoted != 0 {
				o.quoted++
			}
		}
		if o.header == 0 {
			o.header = len(row.Fields)
			continue
		}
		o.add(row)
	}
}

func (o *outcome) add(row *Row) {
	n := len(row.Fields)
	for n > o.header && row.Fields[n-1].Start == row.Fields[n-1].End {
		n--
	}
	o.rows++
	if n == o.header {
		o.equal++
	}
	if n > 1 {
		o.several++
	}
	if n > o.header {
		o.longer++
	}
}

// end finds what ends rows. A CR at the end of the sample says nothing: an LF may follow.
func (t *trial) end(d Dialect) End {
	if d.End != 0 {
		return d.End
	}
	if bytes.IndexByte(t.sample, '\r') < 0 {
		return LineEnd
	}
	d.End = AnyEnd
	end := LineEnd
	for s := t.scanner(d, t.atEOF); ; {
		_, err := s.Next()
		switch {
		case s.pos == 0:
		case s.buf[s.pos-1] == '\n':
			return LineEnd
		case s.buf[s.pos-1] == '\r':
			end = '\r'
		}
		var bad *RowError
		if err != nil && !errors.As(err, &bad) {
			return end
		}
	}
}

// sep is the delimiter that a line sep= names.
func (t *trial) sep(d Dialect) string {
	d.Delimiter = d.candidates()[0]
	d.End = t.end(d)
	s := t.scanner(d, t.atEOF)
	s.begin()
	return s.sep
}
