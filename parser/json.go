package parser

import (
	"errors"

	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/internal/jsontext"
)

// objects reads JSON.
type objects struct {
	r         *Reader
	text      *text
	scanner   *jsontext.Scanner
	plan      *columns.JSONPlan
	threshold int
}

func (r *Reader) beginJSON(t *text, from position) error {
	o := r.config.json()
	r.setThreshold(o.ErrorThreshold)
	c, err := r.columnOptions()
	if err != nil {
		return err
	}
	plan, err := columns.ForJSON(c)
	if err != nil {
		return fileError(KindConfig, "%w", err)
	}
	j := &objects{r: r, text: t, plan: plan, threshold: o.ErrorThreshold}
	in := t.start()
	if from.Begun {
		if in, err = t.at(from.Byte); err != nil {
			return err
		}
	}
	j.scanner = jsontext.NewScanner(in, jsontext.Options{Text: t.length()}, jsontext.Position{Byte: from.Byte, Line: from.Line, InArray: from.Array})
	r.docs = j
	return nil
}

func (j *objects) next(dst []byte, n int64) ([]byte, error) {
	value, err := j.scanner.Next()
	if err != nil {
		return dst, j.failed(err)
	}
	dst, err = j.plan.Append(dst, &value, n)
	if err != nil {
		return dst, &rowError{is: &Error{Byte: j.text.mark + value.Byte, Line: value.Line, Reason: err.Error(), Err: err}, raw: value.Raw}
	}
	return dst, nil
}

// failed makes a rowError of a bad value where lines are values and the threshold lets them be skipped. Inside an array, or without a threshold, nothing
// behind it can be trusted.
func (j *objects) failed(err error) error {
	if limit, ok := errors.AsType[*jsontext.LimitError](err); ok {
		return &Error{Byte: j.text.mark + limit.Byte, Line: limit.Line, Reason: limit.Reason, Kind: KindLimit, Err: err}
	}
	bad, ok := errors.AsType[*jsontext.SyntaxError](err)
	if !ok {
		return err
	}
	e := &Error{Byte: j.text.mark + bad.Byte, Line: bad.Line, Reason: bad.Reason, Err: err}
	if j.threshold == 0 || j.scanner.Resync() != nil {
		return e
	}
	return &rowError{is: e, raw: j.scanner.Rejected()}
}

func (j *objects) position() position {
	at := j.scanner.Position()
	return position{Byte: at.Byte, Line: at.Line, Array: at.InArray}
}

func (j *objects) close() {
	for _, w := range j.plan.Warnings() {
		j.r.warnFile("%s", w)
	}
	j.text.close()
}
