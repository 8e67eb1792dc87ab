package jsontext

import (
	"bytes"
	"errors"
)

// Resync gives a bad line up: after a *SyntaxError Next goes on behind the line end that follows the first byte of the value that failed, so that the
// next line is tried even if the bad one lacks its end. Inside a top-level array, whose lines mean nothing, and after any other error it returns that
// error.
func (s *Scanner) Resync() error {
	var syntax *SyntaxError
	if !errors.As(s.failed, &syntax) || s.inArray {
		return s.failed
	}
	s.rejected = s.rejected[:0]
	s.at = int(s.bad - s.base)
	for {
		text := s.buf[s.at:s.end]
		lineEnd := bytes.IndexByte(text, '\n')
		if lineEnd >= 0 {
			text = text[:lineEnd]
		}
		s.rejected = append(s.rejected, text[:min(len(text), maxRejected-len(s.rejected))]...)
		s.at += len(text)
		switch {
		case lineEnd >= 0:
			s.at++
			s.failed = nil
			s.mark()
			return nil
		case ended(s.err):
			s.failed = nil
			s.mark()
			return nil
		case s.err != nil:
			s.failed = s.err
			return s.failed
		}
		s.more()
	}
}

// Rejected returns what the last Resync gave up, its first 4 KiB, without the line end. It is valid until the next call.
func (s *Scanner) Rejected() []byte {
	return s.rejected
}
