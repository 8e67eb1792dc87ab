package parser

import (
	"bytes"
	"errors"
	"io"

	"github.com/estuary/connectors/parser/internal/charset"
)

// sampleBytes is what detection sees of a file, and of its text.
const sampleBytes = 64 << 10

// text is the decoded text of a file or of an archive's member, without a byte order mark. Positions in it count decoded bytes.
type text struct {
	sample  []byte // its beginning, at most 64 KiB
	whole   bool   // the sample is all of it
	mark    int64  // bytes of the file before the text, where text and file are otherwise the same
	encoded charset.Detected

	file *opened
	in   *rewinder
	jump func(at int64) (io.ReadCloser, error) // opens the text at a byte; nil: only by reading up to it
	open io.ReadCloser                         // what jump has opened last; nil: nothing
}

// newText decodes what is inside a file's layers. explicit and hint are labels, or empty. JSON is never guessed to be anything but Unicode, by RFC 8259.
func newText(file *opened, explicit, hint string, k kind, warn func(string, ...any)) (*text, error) {
	head, err := file.stream.Peek(sampleBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	t := &text{file: file}
	t.encoded = charset.Detect(head, errors.Is(err, io.EOF), label(explicit), label(hint))
	if t.encoded.Guessed && (k == jsonKind || k == auto && byFirstBytes(head) == jsonKind) {
		t.encoded = charset.Detected{}
	}
	if t.encoded.Guessed {
		warn("the text is not UTF-8 and nothing names its encoding: it is read as windows-1252; set encoding if it is another")
	}
	if _, err := io.CopyN(io.Discard, file.stream, int64(t.encoded.Mark)); err != nil {
		return nil, err
	}
	if t.encoded.IsUTF8() && file.layers == 0 {
		t.mark = int64(t.encoded.Mark)
		if file.reopen != nil {
			t.jump = func(at int64) (io.ReadCloser, error) { return file.reopen(t.mark + at) }
		}
	}
	t.in = &rewinder{in: charset.NewReader(file.stream, t.encoded.Encoding, int64(t.encoded.Mark)), keep: true}
	sample := int64(sampleBytes)
	if file.layers == 0 && file.size >= 0 { // UTF-8 of a single byte is up to three long
		sample = min(sample, 3*file.size+1)
	}
	t.sample = make([]byte, sample)
	n, err := io.ReadFull(t.in, t.sample)
	t.sample, t.whole = t.sample[:n], errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if !t.encoded.IsUTF8() && bytes.HasPrefix(t.sample, []byte("\ufeff")) { // the mark of an encoding without one of its own, such as GB 18030
		t.sample = t.sample[3:]
		t.in.buf = t.in.buf[3:]
	}
	t.in.pos = 0
	return t, nil
}

// label looks an encoding up; nil: none is given. What is unknown in a config was refused there, and a content type may say anything.
func label(name string) *charset.Encoding {
	if name == "" || name == "auto" {
		return nil
	}
	e, err := charset.Lookup(name)
	if err != nil {
		return nil
	}
	return &e
}

// length is that of a text that the sample shows whole; 0: unknown.
func (t *text) length() int {
	if !t.whole {
		return 0
	}
	return len(t.sample)
}

// start is the text from its beginning, read once.
func (t *text) start() io.Reader {
	t.in.keep = false
	return t.in
}

// header is the text from its beginning; it can be read again.
func (t *text) header() io.Reader { return t.in }

// at is the text from a byte on, after header or at first.
func (t *text) at(at int64) (io.Reader, error) {
	if t.jump != nil && at > int64(len(t.in.buf)) {
		return t.jumpTo(at)
	}
	t.in.pos, t.in.keep = 0, false
	if _, err := io.CopyN(io.Discard, t.in, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return t.in, nil
}

func (t *text) jumpTo(at int64) (io.Reader, error) {
	body, err := t.jump(at)
	if err != nil {
		return nil, err
	}
	t.close() // what was read up to here
	t.open = body
	return body, nil
}

// close ends the reading of the file.
func (t *text) close() {
	if t.open != nil {
		_ = t.open.Close() // it was only read from
	}
	t.file.close()
}

// rewinder keeps what it has read, so that it can be read again.
type rewinder struct {
	in   io.Reader
	buf  []byte
	pos  int // of the next byte in buf
	keep bool
	err  error
}

func (r *rewinder) Read(p []byte) (int, error) {
	if r.pos < len(r.buf) {
		n := copy(p, r.buf[r.pos:])
		if r.pos += n; r.pos == len(r.buf) && !r.keep {
			r.buf, r.pos = nil, 0
		}
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.in.Read(p)
	if r.keep {
		r.buf = append(r.buf, p[:n]...)
		r.pos += n
	}
	r.err = err
	return n, err
}
