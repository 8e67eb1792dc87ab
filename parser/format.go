package parser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Format is a choice of one format, with its options. It is written {"type": "csv", "config": {…}}, or "csv" where it has none, or where they stand at
// Config.CSV as they did in 2022. All nil is auto.
type Format struct {
	Auto     *AutoFormat     `json:"auto" title:"Detected" doc:"The format is found out for each file."`
	CSV      *CSVFormat      `json:"csv" title:"CSV" doc:"Rows of fields, separated by commas or other characters."`
	TSV      *TSVFormat      `json:"tsv" title:"TSV" doc:"Rows of fields, separated by TABs."`
	JSON     *JSONFormat     `json:"json" title:"JSON" doc:"Objects, one a line or one behind the other, or arrays of them."`
	W3C      *W3CFormat      `json:"w3cExtendedLog" title:"W3C Extended Log" doc:"Logs of web servers and CDNs."`
	Avro     *AvroFormat     `json:"avro" title:"Avro" doc:"Object container files, or messages with a schema from here."`
	Parquet  *ParquetFormat  `json:"parquet" title:"Parquet" doc:"Apache Parquet."`
	Protobuf *ProtobufFormat `json:"protobuf" title:"Protobuf" doc:"One message a file, or many behind their lengths."`
}

// The variants of Format.
type (
	// AutoFormat has no options.
	AutoFormat struct {
		Config *Empty `json:"config" title:"Options" doc:"None." hidden:"true"`
	}
	// CSVFormat has those of CSV.
	CSVFormat struct {
		Config *CSV `json:"config" title:"Options" doc:"Options of delimited text."`
	}
	// TSVFormat has those of CSV.
	TSVFormat struct {
		Config *CSV `json:"config" title:"Options" doc:"Options of delimited text."`
	}
	// JSONFormat has those of JSON.
	JSONFormat struct {
		Config *JSON `json:"config" title:"Options" doc:"Options of JSON."`
	}
	// W3CFormat has those of W3C.
	W3CFormat struct {
		Config *W3C `json:"config" title:"Options" doc:"Options of W3C logs."`
	}
	// AvroFormat has those of Avro.
	AvroFormat struct {
		Config *Avro `json:"config" title:"Options" doc:"Options of Avro."`
	}
	// ParquetFormat has those of Parquet.
	ParquetFormat struct {
		Config *Parquet `json:"config" title:"Options" doc:"Options of Parquet."`
	}
	// ProtobufFormat has those of Protobuf.
	ProtobufFormat struct {
		Config *Protobuf `json:"config" title:"Options" doc:"Options of Protobuf."`
	}
)

// kind is a format, by its name in configs; the empty one is not known yet.
type kind string

const (
	auto     kind = ""
	csvKind  kind = "csv"
	tsvKind  kind = "tsv"
	jsonKind kind = "json"
	w3cKind  kind = "w3cExtendedLog"
	avroKind kind = "avro"
	parqKind kind = "parquet"
	protKind kind = "protobuf"
)

var kinds = []kind{csvKind, tsvKind, jsonKind, w3cKind, avroKind, parqKind, protKind}

func kindNamed(name string) (kind, bool) {
	k := kind(name)
	return k, slices.Contains(kinds, k)
}

func kindNames() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// variants are the fields of f, in a form that can be gone over; config points to its Config.
func (f *Format) variants() []variant {
	return []variant{
		{auto, f.Auto != nil, func() any { f.Auto = new(AutoFormat); return &f.Auto.Config }},
		{csvKind, f.CSV != nil, func() any { f.CSV = new(CSVFormat); return &f.CSV.Config }},
		{tsvKind, f.TSV != nil, func() any { f.TSV = new(TSVFormat); return &f.TSV.Config }},
		{jsonKind, f.JSON != nil, func() any { f.JSON = new(JSONFormat); return &f.JSON.Config }},
		{w3cKind, f.W3C != nil, func() any { f.W3C = new(W3CFormat); return &f.W3C.Config }},
		{avroKind, f.Avro != nil, func() any { f.Avro = new(AvroFormat); return &f.Avro.Config }},
		{parqKind, f.Parquet != nil, func() any { f.Parquet = new(ParquetFormat); return &f.Parquet.Config }},
		{protKind, f.Protobuf != nil, func() any { f.Protobuf = new(ProtobufFormat); return &f.Protobuf.Config }},
	}
}

type variant struct {
	kind   kind
	chosen bool
	choose func() (config any)
}

// kind is what was chosen.
func (f *Format) kind() kind {
	for _, v := range f.variants() {
		if v.chosen {
			return v.kind
		}
	}
	return auto
}

// UnmarshalJSON reads both forms.
func (f *Format) UnmarshalJSON(raw []byte) error {
	var given struct {
		Type   string          `json:"type"`
		Config json.RawMessage `json:"config"`
	}
	*f = Format{}
	var err error
	switch raw = bytes.TrimSpace(raw); {
	case string(raw) == "null":
		return nil
	case len(raw) > 0 && raw[0] == '"':
		err = json.Unmarshal(raw, &given.Type)
	default:
		err = json.Unmarshal(raw, &given)
	}
	if err != nil {
		return fmt.Errorf("reading format: %w", err)
	}
	for _, v := range f.variants() {
		if name := string(v.kind); given.Type != name && (v.kind != auto || given.Type != "auto") {
			continue
		}
		config := v.choose()
		if given.Config == nil {
			return nil
		}
		if err := json.Unmarshal(given.Config, config); err != nil {
			return fmt.Errorf("reading the options of format %s: %w", given.Type, err)
		}
		return nil
	}
	return fmt.Errorf("reading format: %q is none of auto, %s", given.Type, kindNames())
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (f Format) MarshalJSON() ([]byte, error) {
	out := struct {
		Type   string `json:"type"`
		Config any    `json:"config,omitempty"`
	}{Type: "auto"}
	switch k := f.kind(); k {
	case csvKind:
		out.Config = orNil(f.CSV.Config)
	case tsvKind:
		out.Config = orNil(f.TSV.Config)
	case jsonKind:
		out.Config = orNil(f.JSON.Config)
	case w3cKind:
		out.Config = orNil(f.W3C.Config)
	case avroKind:
		out.Config = orNil(f.Avro.Config)
	case parqKind:
		out.Config = orNil(f.Parquet.Config)
	case protKind:
		out.Config = orNil(f.Protobuf.Config)
	default:
	}
	if k := f.kind(); k != auto {
		out.Type = string(k)
	}
	return json.Marshal(out)
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return p
}

// UnmarshalJSON fills in what an absent quote means.
func (c *CSV) UnmarshalJSON(raw []byte) error {
	type plain CSV
	p := plain(*DefaultCSV())
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	*c = CSV(p)
	return nil
}

// delimited returns the options for csv or tsv.
func (c *Config) delimited(k kind) *CSV {
	var config *CSV
	switch {
	case k == tsvKind && c.Format.TSV != nil && c.Format.TSV.Config != nil:
		config = c.Format.TSV.Config
	case k == tsvKind:
		config = c.TSV
	case c.Format.CSV != nil && c.Format.CSV.Config != nil:
		config = c.Format.CSV.Config
	default:
		config = c.CSV
	}
	if config == nil {
		return DefaultCSV()
	}
	return config
}

func (c *Config) json() JSON {
	if c.Format.JSON != nil && c.Format.JSON.Config != nil {
		return *c.Format.JSON.Config
	}
	if c.JSON != nil {
		return *c.JSON
	}
	return JSON{}
}

func (c *Config) w3c() W3C {
	if c.Format.W3C != nil && c.Format.W3C.Config != nil {
		return *c.Format.W3C.Config
	}
	if c.W3C != nil {
		return *c.W3C
	}
	return W3C{}
}

func (c *Config) avro() Avro {
	if c.Format.Avro != nil && c.Format.Avro.Config != nil {
		return *c.Format.Avro.Config
	}
	if c.Avro != nil {
		return *c.Avro
	}
	return Avro{}
}

func (c *Config) parquet() Parquet {
	if c.Format.Parquet != nil && c.Format.Parquet.Config != nil {
		return *c.Format.Parquet.Config
	}
	if c.Parquet != nil {
		return *c.Parquet
	}
	return Parquet{}
}

func (c *Config) protobuf() Protobuf {
	if c.Format.Protobuf != nil && c.Format.Protobuf.Config != nil {
		return *c.Format.Protobuf.Config
	}
	if c.Protobuf != nil {
		return *c.Protobuf
	}
	return Protobuf{}
}
