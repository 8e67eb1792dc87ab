package parser

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
)

// Cursor is a place between two documents of a file, from which another Reader can go on. It is JSON of at most 256 bytes that nobody but this package needs
// to understand. The zero value is the start of the file.
type Cursor struct{ at cursor }

// cursor is what a Cursor holds. Zero fields are left out.
type cursor struct {
	Config    string `json:"c"`           // hash of what decides about documents
	Size      int64  `json:"z,omitempty"` // of the file
	Documents int64  `json:"n,omitempty"` // emitted
	Row       int64  `json:"r,omitempty"` // read
	Member    int    `json:"m,omitempty"` // index in a zip archive's directory
	position
}

// position is a place in one file, or in one member of an archive. Which fields count depends on the format.
type position struct {
	Byte   int64 `json:"b,omitempty"` // of the decoded text, or of an Avro block or message
	Line   int64 `json:"l,omitempty"` // at Byte
	Fields int64 `json:"f,omitempty"` // W3C: byte of the #Fields that holds, and 1
	Tab    bool  `json:"t,omitempty"` // W3C: TABs separate
	Array  bool  `json:"a,omitempty"` // JSON: inside a top-level array
	Group  int   `json:"g,omitempty"` // Parquet: row group
	Index  int64 `json:"i,omitempty"` // Parquet: row in the group; Avro: object in the block
	Begun  bool  `json:"s,omitempty"` // something was read; without it the position is the start
}

// IsZero tells whether the cursor is the start.
func (c Cursor) IsZero() bool { return c.at == cursor{} }

// MarshalJSON writes null at the start.
func (c Cursor) MarshalJSON() ([]byte, error) {
	if c.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(c.at)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Cursor) UnmarshalJSON(raw []byte) error {
	c.at = cursor{}
	if err := json.Unmarshal(raw, &c.at); err != nil {
		return fmt.Errorf("reading a cursor: %w", err)
	}
	if at := c.at; at.Byte < 0 || at.Documents < 0 || at.Row < 0 || at.Line < 0 || at.Fields < 0 || at.Member < 0 || at.Group < 0 || at.Index < 0 {
		return fmt.Errorf("reading a cursor: a number in %s is negative", clip(string(raw)))
	}
	return nil
}

// hash is of everything in a config that decides about documents.
func (c *Config) hash() string {
	raw, err := json.Marshal(c)
	if err != nil { // of a schema or a value that is no JSON
		raw = fmt.Appendf(nil, "%+v", c)
	}
	h := fnv.New64a()
	h.Write(raw)
	return fmt.Sprintf("%016x", h.Sum64())
}
