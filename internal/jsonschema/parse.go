package jsonschema

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/estuary/connectors/internal/rawjson"
)

// Parse reads a JSON schema. The nodes hold views of the text, which must not change any more. What is wrong in it
// allows everything, see Check.
func Parse(schema []byte) (*Node, error) {
	n, _, err := parse(schema)
	return n, err
}

// Check tells what is wrong in a schema that a user has written: that a misspelt type means nothing would be seen in the data only.
func Check(schema []byte) error {
	_, odd, err := parse(schema)
	if err == nil {
		err = odd
	}
	return err
}

func parse(schema []byte) (n *Node, odd, err error) {
	if err := rawjson.Valid(schema); err != nil {
		return nil, nil, fmt.Errorf("reading a JSON schema: %w", err)
	}
	p := parser{text: schema, nodes: map[string]*Node{}, resources: map[string]string{}, anchors: map[string]string{}}
	whole, _, _ := rawjson.Pointer{}.Find(schema) // it is valid
	if c := whole[0]; c != '{' && c != 't' && c != 'f' {
		return nil, nil, fmt.Errorf("a JSON schema must be an object, not %.20s", whole)
	}
	base := &url.URL{}
	p.resources[""] = ""
	p.index(whole, "", base)
	n = p.node(whole, "", base)
	return n, p.odd, nil
}

// parser remembers nodes by their location, so that references meet and cycles close.
type parser struct {
	text      []byte
	nodes     map[string]*Node
	resources map[string]string // location by absolute $id
	anchors   map[string]string // location by absolute URI with the anchor as fragment
	odd       error             // about the first misspelt type
}

// index looks for $id and $anchor, which references may name before they are met.
func (p *parser) index(value []byte, location string, base *url.URL) {
	switch value[0] {
	case '[':
		i := 0
		_ = rawjson.Array(value, func(v []byte) error { // all of it is valid
			p.index(v, fmt.Sprintf("%s/%d", location, i), base)
			i++
			return nil
		})
	case '{':
		base = p.identify(value, location, base)
		_ = rawjson.Object(value, func(name, v []byte) error {
			switch string(name) {
			case "const", "enum", "default", "examples", "example":
			default:
				p.index(v, location+"/"+escape(unquote(name)), base)
			}
			return nil
		})
	}
}

// identify registers an object's names and returns the base URI of what is in it.
func (p *parser) identify(object []byte, location string, base *url.URL) *url.URL {
	var anchors []string
	_ = rawjson.Object(object, func(name, v []byte) error {
		if v[0] != '"' {
			return nil
		}
		switch text := unquote(v[1 : len(v)-1]); {
		case string(name) == "$anchor":
			anchors = append(anchors, text)
		case string(name) != "$id":
		case strings.HasPrefix(text, "#"):
			anchors = append(anchors, text[1:])
		default:
			if id, err := base.Parse(text); err == nil {
				id.Fragment = ""
				base = id
				p.resources[id.String()] = location
			}
		}
		return nil
	})
	for _, anchor := range anchors {
		p.anchors[base.String()+"#"+anchor] = location
	}
	return base
}

// find returns the location that a reference means.
func (p *parser) find(ref string, base *url.URL) (location string, ok bool) {
	target, err := base.Parse(ref)
	if err != nil {
		return "", false
	}
	fragment := target.Fragment
	target.Fragment, target.RawFragment = "", ""
	root, known := p.resources[target.String()]
	if !known {
		return "", false
	}
	if fragment == "" || fragment[0] == '/' {
		return root + fragment, true
	}
	location, ok = p.anchors[target.String()+"#"+fragment]
	return location, ok
}

// refer returns the node that a reference means; nil: it leads nowhere.
func (p *parser) refer(ref string, base *url.URL) *Node {
	location, ok := p.find(ref, base)
	if !ok {
		return nil
	}
	if n := p.nodes[location]; n != nil {
		return n
	}
	pointer, err := rawjson.ParsePointer(location)
	if err != nil {
		return nil
	}
	value, ok, _ := pointer.Find(p.text)
	if !ok {
		return nil
	}
	// The base changes on the way where a part has an $id of its own.
	base = &url.URL{}
	for id, at := range p.resources {
		if id != "" && (location == at || strings.HasPrefix(location, at+"/")) && len(at) >= len(p.resources[base.String()]) {
			if inner, err := url.Parse(id); err == nil {
				base = inner
			}
		}
	}
	return p.node(value, location, base)
}

// node parses the schema at a location.
func (p *parser) node(value []byte, location string, base *url.URL) *Node {
	if n := p.nodes[location]; n != nil {
		return n
	}
	n := anything()
	n.Location, n.Text = location, value
	p.nodes[location] = n
	if value[0] != '{' {
		n.False = value[0] == 'f'
		return n
	}
	base = p.identify(value, location, base)
	k := keywords{parser: p, node: n, base: base}
	_ = rawjson.Object(value, func(name, v []byte) error {
		k.keyword(unquote(name), v)
		return nil
	})
	k.finish()
	return n
}

// anything is a new node that allows all values.
func anything() *Node {
	return &Node{MinLength: -1, MaxLength: -1, MinItems: -1, MaxItems: -1, MinProperties: -1, MaxProperties: -1}
}

func unquote(raw []byte) string { return string(rawjson.AppendUnquoted(nil, raw)) }

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// pattern reads a regular expression; nil: it is none that Go knows, too.
func pattern(v []byte) *regexp.Regexp {
	if v[0] != '"' {
		return nil
	}
	r, err := regexp.Compile(unquote(v[1 : len(v)-1]))
	if err != nil {
		return nil
	}
	return r
}
