package transact

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/estuary/connectors/internal/jsonkey"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// A record is stored in one piece, the same in memory and in a run: a header, the packed key, the document, and where in it key and values stand.
//
//	length of the packed key, length of the document   uint32 each, little-endian
//	flags                                              one byte, three unused
//	packed key
//	document
//	offset and length of each key and value            uint32 each; length 0: absent, or null
const headerBytes = 12

// The flags of a record.
const (
	// flagLoaded: the destination holds it already.
	flagLoaded = 1 << iota
	// flagCut: what stood to its left does not matter any more.
	flagCut
	// flagDeleted: the document ends with it.
	flagDeleted
	// flagCreates: its oldest part may be the first of a document, so nothing of a deleted one shows through it. Updates and deletions of a deleted document
	// are repetitions of what came before its deletion, and are joined to it.
	flagCreates
	// flagSpans: the list of offsets is there. Reduced documents have none.
	flagSpans
)

// record is the view of a stored record.
type record struct {
	packed, doc, spans []byte
	flags              byte
}

func viewRecord(b []byte, spans int) (r record) {
	packed, doc := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	r.flags = b[8]
	size := headerBytes + packed
	r.packed = b[headerBytes:size:size]
	r.doc = b[size : size+doc : size+doc]
	size += doc
	if r.flags&flagSpans != 0 {
		r.spans = b[size : size+8*spans]
	}
	return r
}

// sizeOf returns the size of the record with this header.
func sizeOf(header []byte, spans int) int {
	size := headerBytes + int(binary.LittleEndian.Uint32(header)) + int(binary.LittleEndian.Uint32(header[4:]))
	if header[8]&flagSpans != 0 {
		size += 8 * spans
	}
	return size
}

func putHeader(b []byte, packed, doc int, flags byte) {
	binary.LittleEndian.PutUint32(b, uint32(packed))
	binary.LittleEndian.PutUint32(b[4:], uint32(doc))
	b[8], b[9], b[10], b[11] = flags, 0, 0, 0
}

// span returns a key or value; nil: absent, or null.
func (r *record) span(i int) []byte {
	offset, length := binary.LittleEndian.Uint32(r.spans[8*i:]), binary.LittleEndian.Uint32(r.spans[8*i+4:])
	if length == 0 {
		return nil
	}
	return r.doc[offset : offset+length : offset+length]
}

// scan checks a document, unless lengths say where its members end, and finds its parts; views is as long as the plan's pointers. It returns the packed key in dst, and the document's flags.
func (p *plan) scan(dst, doc, lengths []byte, views [][]byte) (packed []byte, flags byte, err error) {
	if len(doc) == 0 || doc[0] != '{' {
		return dst, 0, p.documentProblem("it is no JSON object", nil)
	}
	if len(doc) >= maxDocument {
		return dst, 0, p.documentProblem(fmt.Sprintf("it has %d bytes, and %d are possible", len(doc), maxDocument), nil)
	}
	if lengths == nil || !p.extractor.ExtractMembers(doc, lengths, views) {
		if err = p.extractor.Extract(doc, views); err != nil {
			return dst, 0, p.documentProblem(err.Error(), err)
		}
	}
	switch op := views[p.spans]; {
	case string(op) == `"c"`: // most often
		flags = flagCreates
	case isString(op, "d"):
		flags = flagDeleted
	case !isString(op, "u"):
		flags = flagCreates
	}
	if p.Delta {
		return dst, flags, nil
	}
	packed = dst
	for i := range p.Key {
		v := views[i]
		if !p.NullableKey && len(v) == 0 {
			return dst, 0, p.keyProblem(i, "is absent")
		}
		if !p.NullableKey && v[0] == 'n' {
			return dst, 0, p.keyProblem(i, "is null")
		}
		if packed, err = jsonkey.AppendPacked(packed, v); err != nil {
			return dst, 0, p.keyProblem(i, "is no key: "+err.Error())
		}
	}
	return packed, flags, nil
}

// isString tells whether a JSON value is this string, in whatever spelling.
func isString(value []byte, text string) bool {
	return len(value) > 1 && value[0] == '"' && rawjson.NameIs(value[1:len(value)-1], text)
}

// maxDocument keeps sums of lengths within their fields.
const maxDocument = 1 << 31

func (p *plan) documentProblem(reason string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("a record of stream %s is no usable document", p.Stream), Fix: reason, Err: err}
}

// putSpans writes where the views stand in doc, which they are views of.
func putSpans(b, doc []byte, views [][]byte) {
	for i, v := range views {
		var at uint64 // offset below, length above
		if len(v) > 0 && (v[0] != 'n' || !rawjson.IsNull(v)) {
			at = uint64(cap(doc)-cap(v)) | uint64(len(v))<<32
		}
		binary.LittleEndian.PutUint64(b[8*i:], at)
	}
}

// prefixOf returns the first bytes of a packed key as a number that sorts as they do.
func prefixOf(packed []byte) uint64 {
	if len(packed) >= 8 {
		return binary.BigEndian.Uint64(packed)
	}
	var b [8]byte
	copy(b[:], packed)
	return binary.BigEndian.Uint64(b[:])
}

// compareKeys compares by the prefixes as far as they tell.
func compareKeys(prefixA, prefixB uint64, a, b []byte) int {
	if prefixA != prefixB {
		if prefixA < prefixB {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}
