package airbyte

import (
	"bytes"

	"github.com/estuary/connectors/internal/rawjson"
)

// Shapes finds the documents in RECORD lines without parsing them, by what earlier lines of the same stream had around theirs: sources write all lines alike.
// It does not look into the document, so whoever uses one must check that it is an object and nothing else; where the bytes around it are those of a
// message, that makes the whole line one.
type Shapes struct {
	known []shape
	last  int
}

// maxShapes bounds the search; more streams than this in turns cost a full parse of some lines.
const maxShapes = 32

// shape is what stands before a document and behind it, a number (emitted_at) in the middle.
type shape struct {
	id                    int
	before, middle, after []byte
}

// Find returns the id of the stream that a line of known shape belongs to, and its document; ok is false when the line must be decoded in full.
func (s *Shapes) Find(line []byte) (id int, data []byte, ok bool) {
	if s.last < len(s.known) {
		if data, ok = s.known[s.last].match(line); ok {
			return s.known[s.last].id, data, true
		}
	}
	for i := range s.known {
		if data, ok = s.known[i].match(line); ok {
			s.last = i
			return s.known[i].id, data, true
		}
	}
	return 0, nil, false
}

func (h *shape) match(line []byte) (data []byte, ok bool) {
	if !bytes.HasPrefix(line, h.before) {
		return nil, false
	}
	rest := line[len(h.before):]
	if !bytes.HasSuffix(rest, h.after) {
		return nil, false
	}
	end := numberBefore(rest, len(rest)-len(h.after))
	if end == len(rest)-len(h.after) || !bytes.HasSuffix(rest[:end], h.middle) {
		return nil, false
	}
	return rest[:end-len(h.middle)], true
}

// numberBefore returns where the digits and points that end at end begin; end itself: there are none.
func numberBefore(b []byte, end int) int {
	for end > 0 && (b[end-1] >= '0' && b[end-1] <= '9' || b[end-1] == '.') {
		end--
	}
	return end
}

// Learn remembers the shape of a RECORD line whose document is data, a view of it.
func (s *Shapes) Learn(id int, line, data []byte) {
	begin := cap(line) - cap(data)
	before, behind := line[:begin], line[begin+len(data):]
	// A number before the document would differ from line to line.
	stamp := emittedAt(behind)
	if stamp == nil || emittedAt(before) != nil {
		return
	}
	at := cap(behind) - cap(stamp)
	h := shape{id: id, before: bytes.Clone(before), middle: bytes.Clone(behind[:at]), after: bytes.Clone(behind[at+len(stamp):])}
	if len(s.known) < maxShapes {
		s.known = append(s.known, h)
		s.last = len(s.known) - 1
		return
	}
	s.last = (s.last + 1) % maxShapes
	s.known[s.last] = h
}

// emittedAt finds the number of an emitted_at member in a part of a line; nil: there is none that is a plain number.
func emittedAt(part []byte) []byte {
	const name = `"emitted_at"`
	i := bytes.LastIndex(part, []byte(name))
	if i < 0 {
		return nil
	}
	i += len(name)
	for i < len(part) && (part[i] == ':' || part[i] == ' ') {
		i++
	}
	end, err := rawjson.Skip(part, i)
	if err != nil || numberBefore(part, end) != i {
		return nil
	}
	return part[i:end]
}
