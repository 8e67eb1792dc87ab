package parser

import (
	"bytes"
	"io"

	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/internal/rows"
)

// extendedLog reads logs in the W3C Extended Log File Format.
type extendedLog struct {
	r       *Reader
	text    *text
	scanner *rows.W3C
	dialect rows.Dialect
	plan    *columns.TextPlan
	bound   int // the #Fields that the plan is of
}

func (r *Reader) beginW3C(t *text, from position) error {
	o := r.config.w3c()
	r.setThreshold(o.ErrorThreshold)
	w := &extendedLog{r: r, text: t, bound: -1}
	r.docs = w
	if !from.Begun {
		w.scanner = rows.NewW3C(t.start(), rows.Options{Text: t.length()})
		return nil
	}
	at := rows.W3CPosition{Byte: from.Byte, Line: from.Line, Fields: from.Fields - 1, Tab: from.Tab}
	in, directive, err := t.between(at.Fields, at.Byte)
	if err == nil {
		w.scanner, err = rows.ResumeW3C(in, directive, at, rows.Options{})
	}
	return err
}

// maxDirective is how long a #Fields line may be for a log to be read on behind it, in bytes.
const maxDirective = 1 << 20

// between returns the text from a byte on, and the line that begins at an earlier one.
func (t *text) between(earlier, at int64) (io.Reader, []byte, error) {
	in, err := t.at(earlier)
	if err != nil {
		return nil, nil, err
	}
	var piece []byte
	for most := min(maxDirective, at-earlier); bytes.IndexByte(piece, '\n') < 0 && int64(len(piece)) < most; {
		from := int64(len(piece))
		piece = append(piece, make([]byte, min(max(from, 4<<10), most-from))...)
		if _, err := io.ReadFull(in, piece[from:]); err != nil {
			return nil, nil, err
		}
	}
	rest := at - earlier - int64(len(piece))
	if t.jump != nil && rest > skippable {
		in, err = t.jumpTo(at)
		return in, piece, err
	}
	_, err = io.CopyN(io.Discard, in, rest)
	return in, piece, err
}

func (w *extendedLog) next(dst []byte, n int64) ([]byte, error) {
	row, err := w.scanner.Next()
	if err != nil {
		return dst, rowFailed(err, w.text.mark)
	}
	if b := w.scanner.Bound(); b != w.bound {
		w.bound, w.dialect = b, w.scanner.Dialect()
		if w.plan, err = w.r.planText(w.scanner.Fields(), DefaultCSV(), "-"); err != nil {
			return dst, err
		}
	}
	dst, err = w.plan.Append(dst, row, &w.dialect, n)
	if err != nil {
		return dst, fieldFailed(err, row, w.text.mark)
	}
	return dst, nil
}

func (w *extendedLog) position() position {
	at := w.scanner.Position()
	return position{Byte: at.Byte, Line: at.Line, Fields: at.Fields + 1, Tab: at.Tab}
}

func (w *extendedLog) close() { w.text.close() }
