package airbyte

import (
	"bytes"
	"encoding/json"
)

// appendJSON appends v's compact JSON, leaving <, > and & readable.
func appendJSON(dst []byte, v any) []byte {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("airbyte: rendering a message: " + err.Error()) // only strings, numbers and valid raw JSON are ever given
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func appendLine(dst []byte, v any) []byte { return append(appendJSON(dst, v), '\n') }
