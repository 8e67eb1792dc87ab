package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/internal/sqlsink"
)

// decoder appends a column's value, in the server's text form, as the JSON value that it was made of.
type decoder func(dst, text []byte) ([]byte, error)

// newDecoder picks the function by shape and by the type that the column has.
func newDecoder(s sqlsink.Shape, live string) decoder {
	numeric := s == sqlsink.Integer || s == sqlsink.BigInteger || s == sqlsink.Number || s == sqlsink.Float
	switch base(live) {
	case "boolean", "json", "jsonb":
		return decodeRaw
	case "bigint", "integer", "smallint", "numeric", "double precision", "real":
		if numeric {
			return decodeNumber
		}
	case "date":
		return decodeDate
	case "timestamp with time zone", "timestamp without time zone":
		return decodeTimestamp
	case "time without time zone":
		return decodeTime
	case "bytea":
		return decodeBinary
	case "inet":
		return decodeInet
	}
	return decodeText
}

func decodeRaw(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }

func decodeText(dst, text []byte) ([]byte, error) { return rawjson.AppendQuoted(dst, text), nil }

// decodeNumber quotes what is no JSON number: NaN and infinities.
func decodeNumber(dst, text []byte) ([]byte, error) {
	if c := text[len(text)-1]; c < '0' || c > '9' {
		return decodeText(dst, text)
	}
	return append(dst, text...), nil
}

// outOfRange recognises infinities and years that documents cannot have, and returns what stands for them.
func outOfRange(text []byte, first, last string) (string, bool) {
	switch {
	case string(text) == "-infinity", bytes.HasSuffix(text, []byte(" BC")):
		return first, true
	case string(text) == "infinity", beyondYear9999(text):
		return last, true
	}
	return "", false
}

func decodeDate(dst, text []byte) ([]byte, error) {
	if instead, ok := outOfRange(text, "0000-01-01", "9999-12-31"); ok {
		text = []byte(instead)
	}
	return decodeText(dst, text)
}

// decodeTimestamp turns "2024-01-15 09:00:00.5+00" into RFC 3339. The session's time zone is UTC.
func decodeTimestamp(dst, text []byte) ([]byte, error) {
	if instead, ok := outOfRange(text, "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"); ok {
		return decodeText(dst, []byte(instead))
	}
	date, clock, ok := bytes.Cut(text, []byte{' '})
	if !ok {
		return dst, fmt.Errorf("the server printed a timestamp as %q", text)
	}
	dst = append(dst, '"')
	dst = append(dst, date...)
	dst = append(dst, 'T')
	dst = append(dst, bytes.TrimSuffix(clock, []byte("+00"))...)
	return append(dst, 'Z', '"'), nil
}

func decodeTime(dst, text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte("24:")) {
		text = []byte("23:59:59.999999")
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, 'Z', '"'), nil
}

func decodeBinary(dst, text []byte) ([]byte, error) {
	digits, ok := bytes.CutPrefix(text, []byte(`\x`))
	if !ok {
		return dst, fmt.Errorf("the server printed bytes as %.20q", text)
	}
	bin, err := hex.DecodeString(string(digits))
	if err != nil {
		return dst, fmt.Errorf("reading bytes from the server: %w", err)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, bin)
	return append(dst, '"'), nil
}

// decodeInet takes the length off a whole address, which the cast to text adds.
func decodeInet(dst, text []byte) ([]byte, error) {
	address, bits, _ := bytes.Cut(text, []byte{'/'})
	if string(bits) == "32" && bytes.IndexByte(address, ':') < 0 || string(bits) == "128" {
		text = address
	}
	return decodeText(dst, text)
}
