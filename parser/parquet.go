package parser

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/parquet"
)

// parquetRows reads Apache Parquet.
type parquetRows struct {
	file   *opened
	schema []byte
	rows   *parquet.Rows
	plan   *columns.RecordPlan
	at     position
}

var errNoParquet = errors.New("it does not begin and end with PAR1, as Parquet files do; it may have been cut")

// isParquet looks at both ends of a file: a text may begin with PAR1, too. It makes the file one that can be read at random; an error that is errNoParquet
// leaves the file as it was.
func (r *Reader) isParquet(in *opened, head []byte) (encrypted bool, err error) {
	if !bytes.HasPrefix(head, parquetMagic) && !bytes.HasPrefix(head, parquetEncrypted) {
		return false, errNoParquet
	}
	magic := bytes.Clone(head[:len(parquetMagic)]) // head is of a buffer that the copying of what cannot be read at random fills anew
	s, err := r.random(in)
	if err != nil {
		return false, err
	}
	tail := make([]byte, len(parquetMagic))
	if s.length() < 12 { // both magics and a length
		return false, errNoParquet
	}
	if _, err := (ranges{s}).ReadAt(tail, s.length()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("reading the end of the file: %w", err)
	}
	if !bytes.Equal(tail, magic) {
		return false, errNoParquet
	}
	return bytes.Equal(tail, parquetEncrypted), nil
}

// length is the size of what can be read at random.
func (s *source) length() int64 {
	if s.local != nil {
		return s.local.size
	}
	return s.size
}

// maxPage bounds a page of Parquet, in bytes: DuckDB writes pages of up to 100 MB where texts are long.
const maxPage = 112 << 20

func (r *Reader) beginParquet(in *opened, from position) error {
	r.setThreshold(r.config.parquet().ErrorThreshold)
	s, err := r.random(in)
	if err != nil {
		return err
	}
	in.close() // it has served its turn
	f, err := parquet.Open(ranges{s}, s.length(), parquet.Limits{Page: maxPage})
	if err != nil {
		return err
	}
	plan, err := r.planRecord(f.Fields())
	if err != nil {
		return err
	}
	p := &parquetRows{file: in, schema: f.JSONSchema(), plan: plan}
	if p.rows, err = f.Rows(from.Group, from.Index); err != nil {
		return err
	}
	p.at = position{Group: from.Group, Index: from.Index}
	r.docs = p
	return nil
}

// planRecord makes a plan for records whose values have types of their own.
func (r *Reader) planRecord(fields []string) (*columns.RecordPlan, error) {
	c, err := r.columnOptions()
	if err != nil {
		return nil, err
	}
	plan, warnings, err := columns.ForRecord(fields, c)
	return plan, r.planned(warnings, err)
}

func (p *parquetRows) next(dst []byte, n int64) ([]byte, error) {
	if err := p.rows.Next(); err != nil {
		return dst, err
	}
	p.at.Group, p.at.Index = p.rows.Position()
	dst, err := p.plan.Append(dst, n, p.rows.AppendField)
	if err == nil {
		return dst, nil
	}
	if bad, ok := errors.AsType[*parquet.ValueError](err); ok {
		return dst, &rowError{is: &Error{Byte: -1, Column: bad.Column, Reason: bad.Reason, Value: bad.Value, Err: err}}
	}
	return dst, err
}

func (p *parquetRows) position() position { return p.at }

func (p *parquetRows) jsonSchema() []byte { return p.schema }

func (p *parquetRows) close() {
	p.rows.Close()
	p.file.close()
}
