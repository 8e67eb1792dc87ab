package columns

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/jsonschema"
)

// Options say where columns go and how their text is read. The zero value makes strings of everything.
type Options struct {
	// Schema is of the documents; nil: nothing is known. It places columns and tells their types; what it says of values is not checked.
	Schema *jsonschema.Node
	// Projections are the user's: locations (JSON pointers) by field.
	Projections map[string]string
	// AddValues are put into each document, by their location, and so is, at OffsetAt, the row's number; "": it is not. They win over what a file has there.
	AddValues map[string]json.RawMessage
	OffsetAt  string
	// MissingNull writes null for columns at the end of the header that a row lacks, where the schema allows null.
	MissingNull bool
	// Nulls are the texts that are null where the schema allows it; nil: the empty text, NULL, null and nil. Trues and Falses are those of booleans; nil: true
	// and false. Their case does not matter where the schema allows no string.
	Nulls, Trues, Falses []string
	// NoValue is the text of a field without a value, as - in W3C's logs; quoted it is text. "": there is none.
	NoValue string
	// QuotedEmptyIsString keeps "" apart from nothing: it is never null where the schema allows a string.
	QuotedEmptyIsString bool
	// DecimalComma reads 1,5 as a number, Thousands is what groups of three digits are separated by; "": by nothing. Both hold where the schema allows no
	// string.
	DecimalComma bool
	Thousands    string
	// DefaultOffset, as +00:00, is the zone of times without one. Where it is given, text like a date and a time becomes RFC 3339 if the schema says format
	// date-time; "": no text is changed.
	DefaultOffset string
	// MaxDocument is how many bytes a document made of a row of text may have; 0: 96 MiB.
	MaxDocument int
}

var (
	defaultNulls  = []string{"", "NULL", "null", "nil"}
	defaultTrues  = []string{"true"}
	defaultFalses = []string{"false"}
)

// withDefaults returns the options with the defaults, or an error that names the option that cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.Nulls == nil {
		o.Nulls = defaultNulls
	}
	if o.Trues == nil {
		o.Trues = defaultTrues
	}
	if o.Falses == nil {
		o.Falses = defaultFalses
	}
	if o.MaxDocument == 0 {
		o.MaxDocument = defaultDocument
	}
	decimal := "."
	if o.DecimalComma {
		decimal = ","
	}
	if o.Thousands == decimal {
		return o, fmt.Errorf("reading numbers: %q cannot separate both thousands and decimals; set thousands to another character, or none", decimal)
	}
	for i := range len(o.Thousands) {
		if c := o.Thousands[i]; c >= '0' && c <= '9' || c == '-' {
			return o, fmt.Errorf("reading numbers: thousands cannot be separated by %q, which is a part of numbers", o.Thousands)
		}
	}
	if o.DefaultOffset != "" && !isOffset(o.DefaultOffset) {
		return o, errors.New("reading times: the default offset must be written as +00:00, not " + o.DefaultOffset)
	}
	return o, nil
}
