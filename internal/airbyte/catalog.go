package airbyte

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/estuary/connectors/protocol"
)

// Catalog is what a runner configured for a read.
type Catalog struct {
	Streams []ConfiguredStream
	Tail    bool
	Range   protocol.Range
	// Extended: the catalog carried a key of our extensions, so this runner may be sent merge patches.
	Extended bool
}

// ConfiguredStream is one stream of a Catalog.
type ConfiguredStream struct {
	Descriptor  Descriptor
	Schema      json.RawMessage // nil: none given
	Mode        protocol.Mode
	Key         []string // JSON pointers; nil: the runner named none
	Projections map[string]string
}

// wireCatalog takes both spellings of the extensions; whatever else is there is ignored, and null is the same as absent everywhere.
type wireCatalog struct {
	Type    *string        `json:"type"`
	Streams *[]*wireStream `json:"streams"`
	Tail    *bool          `json:"estuary.dev/tail"`
	OldTail *bool          `json:"tail"`
	Range   *wireRange     `json:"estuary.dev/range"`
	Old     *wireRange     `json:"range"`
}

type wireRange struct {
	Begin string `json:"begin"`
	End   string `json:"end"`
}

type wireStream struct {
	Stream *struct {
		Name      string          `json:"name"`
		Namespace string          `json:"namespace"`
		Schema    json.RawMessage `json:"json_schema"`
	} `json:"stream"`
	Mode        string            `json:"sync_mode"`
	PrimaryKey  [][]string        `json:"primary_key"`
	Projections map[string]string `json:"estuary.dev/projections"`
	Old         map[string]string `json:"projections"`
}

// notCatalog tells what a file without streams is, if its first message says so.
func notCatalog(raw []byte, err error) error {
	var first struct {
		Type string `json:"type"`
	}
	_ = json.NewDecoder(bytes.NewReader(raw)).Decode(&first) // more of the same trouble
	switch {
	case slices.Contains([]string{"TRACE", "LOG", "CONNECTION_STATUS", "SPEC"}, first.Type):
		return badCatalog("it begins with a message of type "+first.Type+": the command that was to write it has failed, and says in it why", nil)
	case err != nil:
		return badCatalog("it is no valid configured catalog", err)
	}
	return badCatalog(`it has no "streams"`, nil)
}

// DecodeCatalog reads a configured catalog. An error is a *protocol.Problem.
func DecodeCatalog(raw []byte) (Catalog, error) {
	var wire wireCatalog
	if err := json.Unmarshal(raw, &wire); err != nil {
		return Catalog{}, notCatalog(raw, err)
	}
	if wire.Type != nil && *wire.Type == "CATALOG" && wire.Streams == nil {
		return Catalog{}, badCatalog("it is the output of discover; make a configured one with `discover --configured`", nil)
	}
	if wire.Streams == nil {
		return Catalog{}, notCatalog(raw, nil)
	}
	c := Catalog{Range: protocol.FullRange}
	c.Tail, c.Extended = either(wire.Tail, wire.OldTail)
	if r, ok := either(wire.Range, wire.Old); ok {
		var err error
		if c.Range, err = r.decode(); err != nil {
			return Catalog{}, err
		}
		c.Extended = true
	}
	names := map[string]bool{}
	for i, s := range *wire.Streams {
		if s == nil || s.Stream == nil || s.Stream.Name == "" {
			return Catalog{}, badCatalog(fmt.Sprintf("stream %d of it has no name", i+1), nil)
		}
		if names[s.Stream.Name] {
			return Catalog{}, badCatalog(fmt.Sprintf("it names stream %q twice", s.Stream.Name), nil)
		}
		names[s.Stream.Name] = true
		out, extended, err := s.decode()
		if err != nil {
			return Catalog{}, err
		}
		c.Streams = append(c.Streams, out)
		c.Extended = c.Extended || extended
	}
	return c, nil
}

func (s *wireStream) decode() (out ConfiguredStream, extended bool, err error) {
	out = ConfiguredStream{
		Descriptor: Descriptor{s.Stream.Name, s.Stream.Namespace}, Mode: protocol.Mode(s.Mode), Key: pointers(s.PrimaryKey),
	}
	if string(s.Stream.Schema) != "null" {
		out.Schema = s.Stream.Schema
	}
	switch out.Mode {
	case protocol.Incremental, protocol.FullRefresh:
	default:
		return out, false, badCatalog(fmt.Sprintf("stream %q has sync_mode %q, which is neither incremental nor full_refresh", out.Descriptor.Name, s.Mode), nil)
	}
	switch {
	case s.Projections != nil:
		out.Projections, extended = s.Projections, true
	case s.Old != nil:
		out.Projections, extended = s.Old, true
	}
	for field, pointer := range out.Projections {
		if pointer != "" && pointer[0] != '/' { // the root is Flow's projection of the whole document
			return out, false, badCatalog(fmt.Sprintf("the projection of field %q of stream %q is no JSON pointer: %q does not begin with /", field, out.Descriptor.Name, pointer), nil)
		}
	}
	return out, extended, nil
}

// either returns the namespaced spelling when it is there, else the old one.
func either[T any](namespaced, old *T) (value T, ok bool) {
	switch {
	case namespaced != nil:
		return *namespaced, true
	case old != nil:
		return *old, true
	}
	return value, false
}

// decode reads hexadecimal bounds of any case and up to eight digits. Both zero or both missing mean that nobody set them.
func (r wireRange) decode() (protocol.Range, error) {
	bounds := protocol.FullRange
	for _, b := range []struct {
		text string
		into *uint32
	}{{r.Begin, &bounds.Begin}, {r.End, &bounds.End}} {
		if b.text == "" {
			continue
		}
		n, err := strconv.ParseUint(b.text, 16, 32)
		if err != nil || len(b.text) > 8 { // ParseUint takes any number of leading zeros
			return protocol.Range{}, badCatalog(fmt.Sprintf("the bound %q of its range is not a hexadecimal number of at most eight digits", b.text), nil)
		}
		*b.into = uint32(n)
	}
	if bounds.Begin == 0 && bounds.End == 0 {
		return protocol.FullRange, nil
	}
	if bounds.Begin > bounds.End {
		return protocol.Range{}, badCatalog(fmt.Sprintf("its range begins at %08x, after its end %08x", bounds.Begin, bounds.End), nil)
	}
	return bounds, nil
}

func badCatalog(reason string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "the catalog cannot be used", Fix: reason, Err: err}
}
