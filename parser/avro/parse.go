package avro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// maxSchemaDepth bounds how deep types may stand inside each other in the text of a schema.
const maxSchemaDepth = 256

// Parse reads a schema. Its outermost type must be a record. Names are taken as they are, default values and orders are not looked at: they mean nothing
// to who reads with the writer's own schema.
func Parse(schema []byte) (*Schema, error) {
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	var text any
	if err := decoder.Decode(&text); err != nil {
		return nil, fmt.Errorf("reading an Avro schema: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading an Avro schema: something follows it at byte %d", decoder.InputOffset())
	}
	p := parser{names: map[string]*node{}, aliases: map[string]*node{}}
	root, err := p.parse(text, "", 0)
	if err != nil {
		return nil, fmt.Errorf("reading an Avro schema: %w", err)
	}
	if root.kind != kindRecord {
		return nil, fmt.Errorf("reading an Avro schema: the outermost type is %s, but each document must be a record", root.describe())
	}
	if err := p.finish(root); err != nil {
		return nil, fmt.Errorf("reading an Avro schema: %w", err)
	}
	return &Schema{root: root, text: canonical(root)}, nil
}

// parser holds the names that have been defined so far.
type parser struct {
	names   map[string]*node
	aliases map[string]*node
}

// parse reads a type that stands in a namespace.
func (p *parser) parse(text any, space string, depth int) (*node, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("more than %d types stand inside each other", maxSchemaDepth)
	}
	switch t := text.(type) {
	case string:
		return p.named(t, space)
	case []any:
		return p.union(t, space, depth)
	case map[string]any:
		switch kind := t["type"].(type) {
		case string:
			return p.typed(kind, t, space, depth)
		case []any, map[string]any:
			return p.parse(kind, space, depth+1)
		}
		return nil, fmt.Errorf("a type has no \"type\": %s", clip(t))
	}
	return nil, fmt.Errorf("a type is neither a name, nor an object, nor an array: %s", clip(text))
}

// named finds a primitive type, or one that has been defined.
func (p *parser) named(name, space string) (*node, error) {
	if k, ok := primitive(name); ok {
		return &node{kind: k}, nil
	}
	full := name
	if space != "" && !strings.Contains(name, ".") {
		full = space + "." + name
	}
	// A name without a namespace inside one is not what the specification allows, but writers do it.
	for _, names := range []map[string]*node{p.names, p.aliases} {
		for _, candidate := range []string{full, name} {
			if found := names[candidate]; found != nil {
				return found, nil
			}
		}
	}
	return nil, fmt.Errorf("the type %q is not defined", full)
}

func (p *parser) union(branches []any, space string, depth int) (*node, error) {
	if len(branches) == 0 {
		return nil, errors.New("a union has no branches")
	}
	n := &node{kind: kindUnion}
	for _, b := range branches {
		branch, err := p.parse(b, space, depth+1)
		if err != nil {
			return nil, err
		}
		if branch.kind == kindUnion {
			return nil, errors.New("a union stands directly inside a union")
		}
		n.branches = append(n.branches, branch)
	}
	return n, nil
}

// typed reads an object whose "type" is a name.
func (p *parser) typed(kind string, text map[string]any, space string, depth int) (*node, error) {
	switch kind {
	case "array", "map":
		n, key := &node{kind: kindArray}, "items"
		if kind == "map" {
			n, key = &node{kind: kindMap}, "values"
		}
		item, ok := text[key]
		if !ok {
			return nil, fmt.Errorf("a type %s has no %q", kind, key)
		}
		var err error
		n.item, err = p.parse(item, space, depth+1)
		return n, err
	case "record", "error":
		n, inside, err := p.define(kindRecord, text, space)
		if err != nil {
			return nil, err
		}
		return n, p.fields(n, text, inside, depth)
	case "enum":
		n, _, err := p.define(kindEnum, text, space)
		if err != nil {
			return nil, err
		}
		return n, n.setSymbols(text)
	case "fixed":
		n, _, err := p.define(kindFixed, text, space)
		if err != nil {
			return nil, err
		}
		size, ok := integer(text["size"])
		if !ok || size < 0 {
			return nil, fmt.Errorf("the fixed %s has no size", n.name)
		}
		n.size = size
		n.setLogical(text)
		return n, nil
	}
	n, err := p.named(kind, space)
	if err == nil && n.name == "" {
		n.setLogical(text)
	}
	return n, err
}

// define makes a named type, and returns the namespace of what stands inside it.
func (p *parser) define(k kind, text map[string]any, space string) (*node, string, error) {
	name, _ := text["name"].(string)
	if name == "" {
		return nil, "", fmt.Errorf("a type %s has no name: %s", text["type"], clip(text))
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		space = name[:i]
	} else {
		if own, ok := text["namespace"].(string); ok {
			space = own
		}
		name = qualify(name, space)
	}
	if _, known := primitive(name); known || p.names[name] != nil {
		return nil, "", fmt.Errorf("the type %q is defined twice", name)
	}
	n := &node{kind: k, name: name}
	n.doc, _ = text["doc"].(string)
	p.names[name] = n
	aliases, _ := text["aliases"].([]any)
	for _, alias := range aliases {
		if a, ok := alias.(string); ok {
			p.aliases[qualify(a, space)] = n
		}
	}
	return n, space, nil
}

func qualify(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

func (p *parser) fields(n *node, text map[string]any, space string, depth int) error {
	fields, ok := text["fields"].([]any)
	if !ok {
		return fmt.Errorf("the record %s has no \"fields\"", n.name)
	}
	seen := map[string]bool{}
	for i, item := range fields {
		f, _ := item.(map[string]any)
		name, ok := f["name"].(string)
		if !ok {
			return fmt.Errorf("field %d of the record %s has no name", i+1, n.name)
		}
		if seen[name] {
			return fmt.Errorf("the record %s has two fields %q", n.name, name)
		}
		seen[name] = true
		if _, ok := f["type"]; !ok {
			return fmt.Errorf("the field %q of the record %s has no type", name, n.name)
		}
		inner, err := p.parse(f["type"], space, depth+1)
		if err != nil {
			return fmt.Errorf("the field %q of the record %s: %w", name, n.name, err)
		}
		made := field{name: name, node: inner}
		made.doc, _ = f["doc"].(string)
		made.prefix = append(jsontext.AppendString([]byte{"{,"[min(i, 1)]}, []byte(name)), ':')
		n.fields = append(n.fields, made)
	}
	return nil
}

func (n *node) setSymbols(text map[string]any) error {
	symbols, _ := text["symbols"].([]any)
	if len(symbols) == 0 {
		return fmt.Errorf("the enum %s has no \"symbols\"", n.name)
	}
	for _, s := range symbols {
		symbol, ok := s.(string)
		if !ok {
			return fmt.Errorf("a symbol of the enum %s is no string: %s", n.name, clip(s))
		}
		n.symbols = append(n.symbols, symbol)
		n.quoted = append(n.quoted, jsontext.AppendString(nil, []byte(symbol)))
	}
	return nil
}

// integer reads a number, which some writers put into quotes.
func integer(v any) (int, bool) {
	text := ""
	switch t := v.(type) {
	case json.Number:
		text = t.String()
	case string:
		text = t
	}
	var n int32
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return 0, false
	}
	return int(n), true
}

// clip renders a piece of a schema for an error.
func clip(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.100s", text)
}
