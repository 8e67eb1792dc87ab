package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf8"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/internal/sqlsink"
)

// encoder appends JSON values as the COPY text of one column. One goroutine uses it.
type encoder struct {
	append func(e *encoder, dst, value []byte) ([]byte, error)
	// binary does so in binary form; nil: this type goes in text form only.
	binary binaryForm
	// name of the column and its table, for messages.
	name, table string
	live        string // the column's type, without its modifier
	refuseNul   bool
	// key: two values must never become one, so nothing is stripped.
	key bool

	nuls    int64 // stripped so far
	scratch []byte
}

// newEncoder picks the append function by the type that the column has, once for all rows.
func newEncoder(c sqlsink.Column, live, table string, refuseNul bool) *encoder {
	e := &encoder{name: c.Name, table: table, refuseNul: refuseNul, live: base(live), key: c.Key, append: appendText, binary: binaryFormOf(c, live)}
	switch base(live) {
	case "boolean":
		e.append = appendRaw
	case "bigint", "integer", "smallint":
		e.append = appendBigint
	case "numeric":
		e.append = appendNumeric
		if c.Shape == sqlsink.IntegerString {
			e.append = appendIntegerString
		}
	case "double precision", "real":
		e.append = appendFloat
	case "date":
		e.append = appendDate
	case "timestamp with time zone", "timestamp without time zone":
		e.append = appendTimestamp
	case "time without time zone", "time with time zone":
		e.append = appendTime
	case "bytea":
		e.append = appendBinary
	case "json":
		e.append = appendJSON
	case "jsonb":
		e.append = appendJSONB
	}
	return e
}

// valueError is about a value that no column of the type can hold.
func valueError(why string) error { return &badValue{why} }

type badValue struct{ why string }

func (e *badValue) Error() string { return e.why }

// appendRaw is for values whose JSON text has nothing to escape, and which the server reads as they are.
func appendRaw(_ *encoder, dst, value []byte) ([]byte, error) {
	return pgwire.AppendCopyText(dst, value), nil
}

// appendText appends a string's content, other values as JSON.
func appendText(e *encoder, dst, value []byte) ([]byte, error) {
	raw, ok := inside(value)
	if !ok {
		return appendJSON(e, dst, value)
	}
	if plain(raw) == len(raw) {
		return append(dst, raw...), nil
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return pgwire.AppendCopyText(dst, raw), nil
	}
	e.scratch = rawjson.AppendUnquoted(e.scratch[:0], raw)
	if bytes.IndexByte(e.scratch, 0) >= 0 {
		if err := e.nul(); err != nil {
			return dst, err
		}
		e.scratch = slices.DeleteFunc(e.scratch, func(b byte) bool { return b == 0 })
	}
	return pgwire.AppendCopyText(dst, e.scratch), nil
}

// inside returns what stands between the quotes of a JSON string.
func inside(value []byte) ([]byte, bool) {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1], true
	}
	return nil, false
}

// plain counts the bytes at the start of a text that are printable ASCII and no backslash: those that mean themselves in JSON and in COPY text.
func plain(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		slash := w ^ '\\'*ones
		if m := (w | (w - ' '*ones) | (slash-ones)&^slash) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '\\' {
		i++
	}
	return i
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// nul counts a U+0000 that is stripped, and tells of the first, the tenth, the hundredth …
func (e *encoder) nul() error {
	switch {
	case e.key:
		return valueError("it holds the character U+0000, which PostgreSQL's text cannot hold, and without it the key would be another's")
	case e.refuseNul:
		return valueError("it holds the character U+0000, which PostgreSQL's text cannot hold (advanced.on_nul is refuse)")
	}
	e.nuls++
	for n := int64(1); n <= e.nuls; n *= 10 {
		if n == e.nuls {
			log.WithFields(log.Fields{"table": e.table, "column": e.name, "values": e.nuls}).Warn("stripped the character U+0000, which PostgreSQL's text cannot hold")
		}
	}
	return nil
}

// appendBinary appends base64 as hexadecimal.
func appendBinary(e *encoder, dst, value []byte) ([]byte, error) {
	raw, ok := inside(value)
	if !ok {
		return dst, valueError("it is no string in base64")
	}
	if bytes.IndexByte(raw, '\\') >= 0 { // a slash may be escaped
		raw = rawjson.AppendUnquoted(nil, raw)
	}
	e.scratch = slices.Grow(e.scratch[:0], base64.StdEncoding.DecodedLen(len(raw))+3)
	bin := e.scratch[:cap(e.scratch)]
	var n int
	err := error(nil)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if n, err = encoding.Decode(bin, raw); err == nil {
			break
		}
	}
	if err != nil {
		return dst, valueError(fmt.Sprintf("it is no base64 (%v)", err))
	}
	dst = append(dst, `\\x`...)
	return hex.AppendEncode(dst, bin[:n]), nil
}
