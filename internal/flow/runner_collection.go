package flow

import (
	"encoding/json"

	"github.com/estuary/connectors/protocol"
)

// What a runner sends of a collection. Members that hold their default are left out, as the runtime does.
type (
	wireCollection struct {
		Name        string           `json:"name"`
		WriteSchema json.RawMessage  `json:"writeSchema,omitempty"`
		Key         []string         `json:"key"`
		UUID        string           `json:"uuidPtr"`
		Projections []wireProjection `json:"projections"`
	}
	wireProjection struct {
		Pointer   string        `json:"ptr"`
		Field     string        `json:"field"`
		Explicit  bool          `json:"explicit,omitempty"`
		Key       bool          `json:"isPrimaryKey,omitempty"`
		Inference wireInference `json:"inference"`
	}
	wireInference struct {
		Types       []string        `json:"types"`
		String      *wireString     `json:"string,omitempty"`
		Numeric     *wireNumeric    `json:"numeric,omitempty"`
		Array       *wireArray      `json:"array,omitempty"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description,omitempty"`
		Default     json.RawMessage `json:"default,omitempty"`
		Exists      string          `json:"exists"`
	}
	wireString struct {
		Format          string `json:"format,omitempty"`
		ContentEncoding string `json:"contentEncoding,omitempty"`
		MaxLength       int    `json:"maxLength,omitempty"`
	}
	wireNumeric struct {
		HasMinimum bool        `json:"hasMinimum,omitempty"`
		Minimum    json.Number `json:"minimum,omitempty"`
		HasMaximum bool        `json:"hasMaximum,omitempty"`
		Maximum    json.Number `json:"maximum,omitempty"`
	}
	wireArray struct {
		ItemTypes []string `json:"itemTypes,omitempty"`
	}
)

var existsNames = map[protocol.Exists]string{protocol.May: "MAY", protocol.Must: "MUST", protocol.Cannot: "CANNOT"}

func toWireCollection(c protocol.Collection) wireCollection {
	w := wireCollection{Name: c.Name, WriteSchema: c.Schema, Key: orEmpty(c.Key), UUID: "/_meta/uuid", Projections: make([]wireProjection, len(c.Projections))}
	for i, p := range c.Projections {
		w.Projections[i] = wireProjection{Pointer: p.Pointer, Field: p.Field, Explicit: p.Explicit, Key: p.Key, Inference: toWireInference(p.Inference)}
	}
	return w
}

func toWireInference(i protocol.Inference) wireInference {
	w := wireInference{Types: orEmpty(i.Types), Title: i.Title, Description: i.Description, Default: i.Default, Exists: existsNames[i.Exists]}
	if i.Format != "" || i.ContentEncoding != "" || i.MaxLength != 0 {
		w.String = &wireString{Format: i.Format, ContentEncoding: i.ContentEncoding, MaxLength: i.MaxLength}
	}
	if i.Minimum != "" || i.Maximum != "" {
		w.Numeric = &wireNumeric{
			HasMinimum: i.Minimum != "", Minimum: json.Number(i.Minimum), HasMaximum: i.Maximum != "", Maximum: json.Number(i.Maximum),
		}
	}
	if len(i.ItemTypes) > 0 {
		w.Array = &wireArray{ItemTypes: i.ItemTypes}
	}
	return w
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
