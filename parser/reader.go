package parser

import (
	"errors"
	"fmt"
	"io"
)

// Reader reads the documents of one file. It is not safe for concurrent use.
type Reader struct {
	config  *Config
	source  *source
	what    described
	file    string   // for errors, with the member's name
	archive *archive // nil: the file is none

	temporary []*staged // closed at the end, those of a member at its end

	docs      documents
	threshold int     // of the format that is read
	window    *window // nil: no row is held back
	ended     error   // why docs gave no more; io.EOF at their end
	failed    error   // what Next returns from now on

	at    cursor // behind the document that Next returned last
	row   int64  // data rows or documents read in this file or member
	told  int64  // warnings about rows
	stats Stats
}

// Stats are counts of a Reader.
type Stats struct {
	Documents int64 // returned by Next, by this Reader
	Rejected  int64 // rows that were skipped because they are bad
	Warnings  int64
	Bytes     int64 // read from the input, compressed as it is
}

// documents reads one file, or one member of an archive, in one format.
type documents interface {
	// next appends the document that becomes the n-th of the file, counted from 0. Its errors: io.EOF; *rowError, after which it can be called again; others
	// are final.
	next(dst []byte, n int64) ([]byte, error)
	// position is where to go on after what next returned last, be it a document or a bad row.
	position() position
	close()
}

// Next appends the next document: an object on one line, without a line end. At the end it returns io.EOF; any other error is an *Error and final. With an
// error dst comes back as long as it was.
func (r *Reader) Next(dst []byte) ([]byte, error) {
	for r.failed == nil {
		if r.window != nil && r.window.free > 0 {
			out, at := r.window.release(dst)
			r.emit(at)
			return out, nil
		}
		if r.ended != nil {
			r.advance()
			continue
		}
		n := r.at.Documents
		if r.window != nil {
			n += int64(r.window.held())
		}
		r.row++
		out, err := r.docs.next(dst, n)
		switch {
		case err == nil && r.window == nil:
			r.emitted()
			return out, nil
		case err == nil:
			r.keep(r.window.add(out[len(dst):], r.place()))
		default:
			r.take(err)
		}
	}
	return dst, r.failed
}

// take deals with an error of docs.
func (r *Reader) take(err error) {
	bad, isRow := errors.AsType[*rowError](err)
	switch {
	case !isRow:
		if e, ok := errors.AsType[*Error](err); ok && e.Row == 0 && e.Line > 0 {
			e.Row = r.row
		}
		r.row--
		r.ended = r.wrap(err)
		if r.window != nil {
			r.keep(r.window.end(r.ended))
		}
	case r.threshold == 0:
		bad.is.File, bad.is.Row = r.file, r.row
		r.fail(bad.is)
	default:
		bad.is.File, bad.is.Row = r.file, r.row
		r.reject(bad)
		if r.window != nil {
			r.keep(r.window.bad(bad.is))
		}
	}
}

// keep fails the file when the window says so.
func (r *Reader) keep(err error) {
	if err != nil {
		r.fail(err)
	}
}

// advance goes on to the next member when one has ended, and else to the end.
func (r *Reader) advance() {
	err := r.ended
	if errors.Is(err, io.EOF) && r.archive != nil {
		r.summarize()
		r.docs.close()
		r.docs = nil
		if dropped := r.drop(r.archive.staged); dropped != nil {
			r.warn("%v", dropped)
		}
		err = r.nextMember(position{})
	}
	if err != nil {
		r.fail(err)
	}
}

// emit makes a place the one behind the document that Next returns.
func (r *Reader) emit(at cursor) {
	r.stats.Documents++
	at.Documents = r.at.Documents + 1
	r.at = at
}

// emitted makes the place behind what was read last the one behind the document that Next returns. It runs for each document, so it moves as little as it can.
func (r *Reader) emitted() {
	r.stats.Documents++
	r.at.Documents++
	r.at.Row = r.row
	r.at.position = r.docs.position()
	r.at.Begun = true
	if r.archive != nil {
		r.at.Member = r.archive.index
	}
}

// place is the cursor behind what was read last; emit fills in the number of documents.
func (r *Reader) place() cursor {
	at := cursor{Config: r.at.Config, Size: r.at.Size, Row: r.row, position: r.docs.position()}
	if r.archive != nil {
		at.Member = r.archive.index
	}
	at.Begun = true
	return at
}

// Cursor is the place behind the document that Next returned last.
func (r *Reader) Cursor() Cursor { return Cursor{r.at} }

// JSONSchema is the JSON schema of what the file declares of its records, as Avro, Parquet and Protobuf files do, without projections and what is added; nil:
// the format declares nothing, or the file has nothing in it. Of an archive it is the member's that is read.
func (r *Reader) JSONSchema() []byte {
	if d, ok := r.docs.(declared); ok {
		return d.jsonSchema()
	}
	return nil
}

// declared are documents of a format that has schemas.
type declared interface{ jsonSchema() []byte }

// Stats counts up to now.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Bytes = r.source.read.Load()
	return s
}

// Close releases what a Reader holds that is not read to its end. It may be called at any time, and more than once.
func (r *Reader) Close() error {
	if r.failed == nil {
		r.failed = &Error{File: r.file, Byte: -1, Reason: "the reader is closed", Kind: KindIO}
	}
	return r.release()
}

func (r *Reader) release() error {
	if r.docs != nil {
		r.docs.close()
		r.docs = nil
	}
	if r.archive != nil {
		r.archive.close()
		r.archive = nil
	}
	return r.drop(0)
}

// drop releases the temporary files but for the first ones.
func (r *Reader) drop(kept int) error {
	var errs []error
	for _, t := range r.temporary[kept:] {
		errs = append(errs, t.close())
	}
	r.temporary = r.temporary[:kept]
	return errors.Join(errs...)
}

// fail ends the reading with an error, io.EOF among them.
func (r *Reader) fail(err error) {
	r.summarize()
	r.failed = r.wrap(err)
	if err := r.release(); err != nil {
		r.warn("%v", err)
	}
}

// maxTold is how many bad rows of a file get a warning each.
const maxTold = 100

// reject counts a bad row and tells who wants to know.
func (r *Reader) reject(bad *rowError) {
	r.stats.Rejected++
	if r.told++; r.told <= maxTold {
		r.warn("skipped: %v", bad.is)
	}
	if r.config.OnReject != nil {
		r.config.OnReject(bad.is, bad.raw[:min(len(bad.raw), maxRaw)])
	}
}

// maxRaw is how much of a bad row is handed on, in bytes.
const maxRaw = 4 << 10

// summarize tells how many bad rows got no warning of their own.
func (r *Reader) summarize() {
	if r.told > maxTold {
		r.warn("skipped: %s: %d more rows", r.file, r.told-maxTold)
	}
	r.told = 0
}

func (r *Reader) warn(format string, args ...any) {
	r.stats.Warnings++
	if r.config.OnWarning != nil {
		r.config.OnWarning(fmt.Sprintf(format, args...))
	}
}

// warnFile is warn about the file, with its name.
func (r *Reader) warnFile(format string, args ...any) {
	r.warn("%s: %s", r.file, fmt.Sprintf(format, args...))
}
