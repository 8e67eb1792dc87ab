package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/estuary/connectors/protocol"
)

// What a sink is sent of a collection: all that the runtime may write, of which only what a sink can use is read.
type (
	wireSinkCollection struct {
		Name        string                `json:"name"`
		Key         []string              `json:"key"`
		ReadSchema  json.RawMessage       `json:"readSchema"`
		WriteSchema json.RawMessage       `json:"writeSchema"`
		Projections []wireGivenProjection `json:"projections"`
	}
	wireGivenProjection struct {
		Pointer   string             `json:"ptr"`
		Field     string             `json:"field"`
		Explicit  bool               `json:"explicit"`
		Key       bool               `json:"isPrimaryKey"`
		Inference wireGivenInference `json:"inference"`
	}
	wireGivenInference struct {
		Types       []string        `json:"types"`
		Title       string          `json:"title"`
		Description string          `json:"description"`
		Default     json.RawMessage `json:"default"`
		Exists      exists          `json:"exists"`
		String      *struct {
			Format          string `json:"format"`
			ContentEncoding string `json:"contentEncoding"`
			MaxLength       number `json:"maxLength"`
		} `json:"string"`
		Numeric *struct {
			HasMinimum bool            `json:"hasMinimum"`
			Minimum    json.RawMessage `json:"minimum"`
			HasMaximum bool            `json:"hasMaximum"`
			Maximum    json.RawMessage `json:"maximum"`
		} `json:"numeric"`
		Array *struct {
			ItemTypes []string `json:"itemTypes"`
		} `json:"array"`
	}
)

func (c *wireSinkCollection) decoded() protocol.Collection {
	out := protocol.Collection{Name: c.Name, Key: c.Key, Schema: given(c.ReadSchema), Projections: make([]protocol.Projection, len(c.Projections))}
	if out.Schema == nil {
		out.Schema = given(c.WriteSchema)
	}
	for i, p := range c.Projections {
		out.Projections[i] = protocol.Projection{
			Field: p.Field, Pointer: p.Pointer, Explicit: p.Explicit, Key: p.Key || slices.Contains(c.Key, p.Pointer), Inference: p.Inference.decoded(),
		}
	}
	return out
}

func (i *wireGivenInference) decoded() protocol.Inference {
	out := protocol.Inference{Types: slices.Sorted(slices.Values(i.Types)), Exists: protocol.Exists(i.Exists), Title: i.Title, Description: i.Description, Default: given(i.Default)}
	if s := i.String; s != nil {
		out.Format, out.ContentEncoding, out.MaxLength = s.Format, s.ContentEncoding, int(s.MaxLength)
	}
	if n := i.Numeric; n != nil && n.HasMinimum {
		out.Minimum = bound(n.Minimum)
	}
	if n := i.Numeric; n != nil && n.HasMaximum {
		out.Maximum = bound(n.Maximum)
	}
	if a := i.Array; a != nil {
		out.ItemTypes = slices.Sorted(slices.Values(a.ItemTypes))
	}
	return out
}

// bound is a number as it was written; one that is left out is zero.
func bound(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "0"
	}
	return string(bytes.Trim(raw, `"`))
}

// number is an integer without sign, which the runtime writes as a number, or inside a string where it may have more than 32 bits.
type number uint32

// UnmarshalJSON reads 5, "5" and null.
func (n *number) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	u, err := strconv.ParseUint(string(bytes.Trim(raw, `"`)), 10, 32)
	if err != nil {
		return fmt.Errorf("an integer from 0 to 4294967295 must stand where %.40s is", raw)
	}
	*n = number(u)
	return nil
}

// exists is an enum, written by name or by number.
type exists protocol.Exists

// UnmarshalJSON reads "MUST", 1 and null. IMPLICIT is a location that the schema does not know, which may be there.
func (e *exists) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case `"MUST"`, "1":
		*e = exists(protocol.Must)
	case `"MAY"`, "2", `"IMPLICIT"`, "3", `"INVALID"`, "0", `""`, "null":
		*e = exists(protocol.May)
	case `"CANNOT"`, "4":
		*e = exists(protocol.Cannot)
	default:
		return fmt.Errorf("the inference %.40s of a projection's existence is none of MUST, MAY, IMPLICIT and CANNOT", raw)
	}
	return nil
}
