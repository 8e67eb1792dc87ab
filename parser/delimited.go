package parser

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/internal/rows"
)

// delimited reads CSV and TSV.
type delimited struct {
	r       *Reader
	text    *text
	scanner *rows.Scanner
	dialect rows.Dialect
	plan    *columns.TextPlan
	lenient odd  // fields with text behind their closing quote
	several odd  // rows of several lines with such fields
	nul     bool // a NUL byte was seen
}

// odd counts what is read but may be meant otherwise, and knows where it stood first.
type odd struct{ count, line int64 }

func (o *odd) add(n int, line int64) {
	if o.count == 0 {
		o.line = line
	}
	o.count += int64(n)
}

// beginDelimited detects the dialect, reads the header and goes to a place behind it.
func (r *Reader) beginDelimited(t *text, k kind, from position) error {
	o := r.config.delimited(k)
	r.setThreshold(o.ErrorThreshold)
	given := o.given(k)
	dialect, err := rows.Detect(t.sample, t.whole, given)
	if err != nil {
		return fileError(KindConfig, "%w", err)
	}
	if open := func(option string) bool { return option == "" || option == "auto" }; open(given.Delimiter) || open(given.End) || *given.Quote == "auto" {
		r.inform("%s: %v, %s", r.file, dialect, t.encoded.Name())
	}
	d := &delimited{r: r, text: t, dialect: dialect}
	options := rows.Options{MaxRow: o.MaxRow, SkipLines: o.SkipLines, Text: t.length()}
	if from.Begun {
		d.scanner = rows.NewScanner(t.header(), dialect, options, 0, 1)
	} else {
		d.scanner = rows.NewScanner(t.start(), dialect, options, 0, 1)
	}
	header, err := d.header(o.Headers)
	if errors.Is(err, io.EOF) {
		r.docs = nothing{}
		t.close()
		return nil
	}
	if err != nil {
		return err
	}
	if d.plan, err = r.planText(header, o, ""); err != nil {
		return err
	}
	if from.Begun {
		in, err := t.at(from.Byte)
		if err != nil {
			return err
		}
		d.scanner = rows.NewScanner(in, dialect, options, from.Byte, from.Line)
		r.docs = d
		return nil
	}
	r.docs = d
	return d.skip(o.SkipRowsAfterHeader)
}

// header reads the names of the columns. io.EOF: the file is empty.
func (d *delimited) header(given []string) ([]string, error) {
	if len(given) > 0 {
		return given, nil
	}
	row, err := d.scanner.Next()
	if err != nil {
		err = rowFailed(err, d.text.mark)
		if bad, ok := errors.AsType[*rowError](err); ok {
			bad.is.Reason = "the header: " + bad.is.Reason
			return nil, bad.is
		}
		return nil, err
	}
	names := make([]string, len(row.Fields))
	for i, f := range row.Fields {
		names[i] = string(d.dialect.AppendField(nil, row.Text, f))
	}
	return names, nil
}

// skip passes over rows behind the header.
func (d *delimited) skip(n int) error {
	for range n {
		if _, err := d.scanner.Next(); errors.Is(err, io.EOF) {
			return nil // Next says it again
		} else if err != nil {
			if _, ok := errors.AsType[*rows.RowError](err); !ok {
				return err
			}
		}
	}
	return nil
}

// planText makes a plan for the columns of delimited text or, where noValue is -, of a W3C log.
func (r *Reader) planText(header []string, o *CSV, noValue string) (*columns.TextPlan, error) {
	c, err := r.columnOptions()
	if err != nil {
		return nil, err
	}
	c.NoValue = noValue
	plan, warnings, err := columns.ForText(header, o.columns(c))
	return plan, r.planned(warnings, err)
}

// columns puts the options of text among those of columns.
func (c *CSV) columns(to columns.Options) columns.Options {
	to.MissingNull = c.Missing == "null"
	to.Nulls, to.Trues, to.Falses = c.NullValues, c.TrueValues, c.FalseValues
	to.QuotedEmptyIsString, to.DecimalComma, to.Thousands, to.DefaultOffset = c.QuotedEmptyIsString, c.DecimalComma, c.Thousands, c.DefaultOffset
	to.MaxDocument = c.MaxRow + c.MaxRow/2
	return to
}

func (d *delimited) next(dst []byte, n int64) ([]byte, error) {
	row, err := d.scanner.Next()
	if err != nil {
		return dst, rowFailed(err, d.text.mark)
	}
	if row.Lenient > 0 {
		d.lenient.add(row.Lenient, row.Line)
		if bytes.ContainsAny(row.Text, "\r\n") {
			d.several.add(1, row.Line)
		}
	}
	if !d.nul && bytes.IndexByte(row.Text, 0) >= 0 {
		d.nul = true
		d.r.warn("%s: line %d: there is a NUL byte, which is passed on as \\u0000 and which many destinations refuse; it is told once", d.r.file, row.Line)
	}
	dst, err = d.plan.Append(dst, row, &d.dialect, n)
	if err != nil {
		return dst, fieldFailed(err, row, d.text.mark)
	}
	return dst, nil
}

// rowFailed makes a rowError of a row that could not be cut, and an *Error of what ends the file; the errors of its source stay. mark is added to positions
// in the text.
func rowFailed(err error, mark int64) error {
	if bad, ok := errors.AsType[*rows.RowError](err); ok {
		return &rowError{is: &Error{Byte: mark + bad.Byte, Line: bad.Line, Reason: bad.Reason, Err: err}, raw: bad.Raw}
	}
	if l, ok := errors.AsType[*rows.LimitError](err); ok {
		return &Error{Byte: mark + l.Byte, Line: l.Line, Reason: l.Reason, Kind: KindLimit, Err: err}
	}
	if f, ok := errors.AsType[*rows.FormatError](err); ok {
		return &Error{Byte: mark + f.Byte, Line: f.Line, Reason: f.Reason, Err: err}
	}
	return err
}

// fieldFailed makes a rowError of a row that could not be made a document, and an *Error of one that must not.
func fieldFailed(err error, row *rows.Row, mark int64) error {
	if l, ok := errors.AsType[*columns.LimitError](err); ok {
		return &Error{Byte: mark + row.Byte, Line: row.Line, Reason: l.Reason, Kind: KindLimit, Err: err}
	}
	e := &Error{Byte: mark + row.Byte, Line: row.Line, Reason: err.Error(), Err: err}
	if bad, ok := errors.AsType[*columns.FieldError](err); ok {
		e.Column, e.Reason, e.Value = bad.Column, bad.Reason, bad.Value
		if bad.HasValue && bad.Value == "" {
			e.Reason = "the empty value " + bad.Reason
		}
	}
	return &rowError{is: e, raw: row.Text}
}

func (d *delimited) position() position {
	at, line := d.scanner.Position()
	return position{Byte: at, Line: line}
}

func (d *delimited) close() {
	if d.lenient.count > 0 {
		d.r.warnFile("%d fields have text behind their closing quote, which is read as a part of them; the first is in the row at line %d", d.lenient.count, d.lenient.line)
	}
	if d.several.count > 0 {
		d.r.warnFile("%d rows with such fields have several lines, the first is at line %d: if a quote is missing there, the rows that follow it are in its value", d.several.count, d.several.line)
	}
	if n := d.plan.Surplus(); n > 0 {
		d.r.warnFile("%d rows have more fields than the header, all of them empty; they are ignored", n)
	}
	d.text.close()
}

// inform tells what is neither odd nor an error.
func (r *Reader) inform(format string, args ...any) {
	if r.config.OnInfo != nil {
		r.config.OnInfo(fmt.Sprintf(format, args...))
	}
}
