package main

import "bytes"

// counter counts lines and bytes, which costs the reader next to nothing.
type counter struct{ lines, bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += int64(bytes.Count(p, newline))
	c.bytes += int64(len(p))
	return len(p), nil
}

var newline = []byte{'\n'}

// splitter hands out whole lines without their newline; they are valid during the call. It stops at the first error.
type splitter struct {
	line    func([]byte) error
	bytes   int64
	partial []byte
}

func (s *splitter) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	rest := p
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.partial = append(s.partial, rest...)
			return len(p), nil
		}
		line := rest[:end]
		if len(s.partial) > 0 {
			s.partial = append(s.partial, line...)
			line = s.partial
		}
		if err := s.line(line); err != nil {
			return 0, err
		}
		s.partial, rest = s.partial[:0], rest[end+1:]
	}
}
