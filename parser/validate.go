package parser

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/parser/avro"
	"github.com/estuary/connectors/parser/internal/charset"
	"github.com/estuary/connectors/parser/internal/columns"
	"github.com/estuary/connectors/parser/internal/rows"
	"github.com/estuary/connectors/parser/proto"
)

// Validate tells all that the tags cannot say, as an errors.Join. It touches no file.
func (c *Config) Validate() error { return errors.Join(c.check(), c.compile()) }

// compile tells what is wrong with options that are made something of for each file, where Open finds it by itself.
func (c *Config) compile() error {
	var problems []error
	bad := func(of string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", of, err))
		}
	}
	for _, k := range []kind{csvKind, tsvKind} {
		o := c.delimited(k)
		_, _, err := columns.ForText(o.Headers, o.columns(columns.Options{}))
		bad(string(k), err)
	}
	if a := c.avro(); a.Schema != "" {
		_, err := avro.Parse([]byte(a.Schema))
		bad("avro.schema", err)
	}
	if p := c.protobuf(); p.ProtoFile != "" && p.Message != "" {
		_, err := proto.Parse([]byte(p.ProtoFile), p.Message)
		bad("protobuf", err)
	}
	return errors.Join(problems...)
}

// check is the cheap part of Validate. Open calls it.
func (c *Config) check() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	for _, twice := range []struct {
		name        string
		inside, old bool
	}{
		{"csv", c.Format.CSV != nil && c.Format.CSV.Config != nil, c.CSV != nil},
		{"tsv", c.Format.TSV != nil && c.Format.TSV.Config != nil, c.TSV != nil},
		{"json", c.Format.JSON != nil && c.Format.JSON.Config != nil, c.JSON != nil},
		{"w3cExtendedLog", c.Format.W3C != nil && c.Format.W3C.Config != nil, c.W3C != nil},
		{"avro", c.Format.Avro != nil && c.Format.Avro.Config != nil, c.Avro != nil},
		{"parquet", c.Format.Parquet != nil && c.Format.Parquet.Config != nil, c.Parquet != nil},
		{"protobuf", c.Format.Protobuf != nil && c.Format.Protobuf.Config != nil, c.Protobuf != nil},
	} {
		if twice.inside && twice.old {
			bad("format.config and %s are both given: keep format.config and remove %s", twice.name, twice.name)
		}
	}
	for _, of := range []struct {
		field string
		names map[string]string
	}{{"fileExtensionMappings", c.FileExtensionMappings}, {"contentTypeMappings", c.ContentTypeMappings}} {
		for _, key := range slices.Sorted(maps.Keys(of.names)) {
			if _, ok := kindNamed(of.names[key]); !ok {
				bad("%s maps %q to the format %q, which is none of %s", of.field, key, of.names[key], kindNames())
			}
		}
	}
	for _, pointer := range slices.Sorted(maps.Keys(c.AddValues)) {
		if !isPointer(pointer) || pointer == "" {
			bad("addValues has the key %q, which is no JSON pointer such as /_meta/file", pointer)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(c.Projections)) {
		if !isPointer(c.Projections[field]) {
			bad("projections puts the field %q at %q, which is no JSON pointer", field, c.Projections[field])
		}
	}
	if !isPointer(c.AddRecordOffset) {
		bad("addRecordOffset %q is no JSON pointer such as /_meta/offset", c.AddRecordOffset)
	}
	if len(c.Schema) > 0 {
		if err := jsonschema.Check(c.Schema); err != nil {
			bad("schema: %w", err)
		}
	}
	for _, csv := range []struct {
		kind   kind
		config *CSV
	}{{csvKind, c.delimited(csvKind)}, {tsvKind, c.delimited(tsvKind)}} {
		if _, err := rows.Detect(nil, true, csv.config.given(csv.kind)); err != nil {
			bad("%s: %w", csv.kind, err)
		}
		problems = append(problems, encodingProblem(string(csv.kind), csv.config.Encoding)...)
	}
	problems = append(problems, encodingProblem("json", c.json().Encoding)...)
	problems = append(problems, encodingProblem("w3cExtendedLog", c.w3c().Encoding)...)
	if a := c.avro(); a.Framing == "single" && a.Schema == "" {
		bad("avro.framing is single, but avro.schema is missing: give the schema of the messages")
	}
	if c.Format.Protobuf != nil && (c.protobuf().ProtoFile == "" || c.protobuf().Message == "") {
		bad("the format is protobuf, but protoFile or message is missing: give the text of the .proto file and the name of the message")
	}
	return errors.Join(problems...)
}

func encodingProblem(of, label string) []error {
	if label == "" || label == "auto" {
		return nil
	}
	if _, err := charset.Lookup(label); err != nil {
		return []error{fmt.Errorf("%s: %w", of, err)}
	}
	return nil
}

// isPointer tells whether s is a JSON pointer by RFC 6901; "" is the whole document.
func isPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := strings.IndexByte(s, '~'); i >= 0; {
		if i+1 >= len(s) || s[i+1] != '0' && s[i+1] != '1' {
			return false
		}
		next := strings.IndexByte(s[i+1:], '~')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return true
}

// given is what of the dialect is fixed.
func (c *CSV) given(k kind) rows.Given {
	usual := ""
	if c.Delimiter == "" && k == tsvKind {
		usual = "\t"
	}
	return rows.Given{
		Delimiter: c.Delimiter, Usual: usual, Quote: &c.Quote, Escape: c.Escape, End: c.LineEnding, Comment: c.Comment, Columns: len(c.Headers), SkipLines: c.SkipLines,
	}
}
