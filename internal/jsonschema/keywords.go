package jsonschema

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// keywords fills a node from the members of its object.
type keywords struct {
	parser                     *parser
	node                       *Node
	base                       *url.URL
	nullable                   bool
	exclusiveMin, exclusiveMax bool // draft 4: minimum and maximum themselves are excluded
	prefix                     bool // items is a list
}

func (k *keywords) keyword(name string, v []byte) {
	n := k.node
	switch name {
	case "title":
		n.Title = text(v)
	case "description":
		n.Description = text(v)
	case "default":
		n.Default = v
	case "format":
		n.Format = text(v)
	case "contentEncoding":
		n.ContentEncoding = text(v)
	case "reduce":
		n.Reduce = v
	case "nullable":
		k.nullable = string(v) == "true"
	case "type", "enum", "const", "required", "pattern":
		k.values(name, v)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		k.bound(name, v)
	case "$ref", "$recursiveRef", "$dynamicRef":
		// The dynamic ones mean the same unless another document extends this one.
		if n.Ref = k.parser.refer(text(v), k.base); n.Ref == nil {
			n.Dangling = text(v)
		}
	case "allOf":
		n.AllOf = k.list(name, v)
	case "anyOf":
		n.AnyOf = k.list(name, v)
	case "oneOf":
		n.OneOf = k.list(name, v)
	case "multipleOf", "uniqueItems", "minContains", "maxContains", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems":
		n.Unknown = append(n.Unknown, name)
	default:
		k.part(name, v)
	}
}

// part reads keywords that hold schemas.
func (k *keywords) part(name string, v []byte) {
	n := k.node
	switch name {
	case "not":
		n.Not = k.schema(name, v)
	case "if":
		n.If = k.schema(name, v)
	case "then":
		n.Then = k.schema(name, v)
	case "else":
		n.Else = k.schema(name, v)
	case "additionalProperties":
		n.Additional = k.schema(name, v)
	case "propertyNames":
		n.Naming = k.schema(name, v)
	case "contains":
		n.Contains = k.schema(name, v)
	case "additionalItems":
		n.AdditionalItems = k.schema(name, v)
	case "prefixItems":
		n.Prefix = k.list(name, v)
	case "items":
		if k.prefix = v[0] == '['; k.prefix {
			n.Prefix = k.list(name, v)
		} else {
			n.Items = k.schema(name, v)
		}
	case "properties":
		k.named(name, v, func(property string, s *Node) { n.Properties = append(n.Properties, NamedNode{property, s}) })
	case "patternProperties":
		k.named(name, v, func(property string, s *Node) {
			if r := pattern(rawjson.AppendQuoted(nil, []byte(property))); r != nil {
				n.Patterns = append(n.Patterns, PatternNode{r, s})
			} else {
				n.Unknown = append(n.Unknown, name)
			}
		})
	}
}

func (k *keywords) values(name string, v []byte) {
	n := k.node
	switch name {
	case "type":
		each(v, func(one []byte) {
			is := typeNamed(text(one))
			if n.Types |= is; is == 0 && k.parser.odd == nil {
				k.parser.odd = fmt.Errorf("the type at %s of a JSON schema is %.60s, which is none of array, boolean, integer, null, number, object, string", show(n.Location), one)
			}
		})
	case "required":
		if v[0] == '[' {
			each(v, func(one []byte) { n.Required = append(n.Required, text(one)) })
		}
	case "pattern":
		if n.Pattern = pattern(v); n.Pattern == nil {
			n.Unknown = append(n.Unknown, name)
		}
	case "const":
		n.Values = intersect(n.Values, [][]byte{v})
	case "enum":
		values := [][]byte{}
		if v[0] == '[' {
			each(v, func(one []byte) { values = append(values, one) })
			n.Values = intersect(n.Values, values)
		}
	}
}

// intersect returns the values that two lists allow; a nil list allows all.
func intersect(a, b [][]byte) [][]byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := [][]byte{}
	for _, v := range a {
		if contains(b, v) {
			both = append(both, v)
		}
	}
	return both
}

func contains(list [][]byte, v []byte) bool {
	for _, one := range list {
		if rawjson.Compare(one, v) == 0 {
			return true
		}
	}
	return false
}

func (k *keywords) bound(name string, v []byte) {
	n := k.node
	number, isNumber := rawjson.ParseNumber(v)
	count := -1
	if isNumber && number.Integer() && !number.Negative {
		if i, err := strconv.Atoi(number.String()); err == nil {
			count = i
		}
	}
	switch name {
	case "minLength":
		n.MinLength = count
	case "maxLength":
		n.MaxLength = count
	case "minItems":
		n.MinItems = count
	case "maxItems":
		n.MaxItems = count
	case "minProperties":
		n.MinProperties = count
	case "maxProperties":
		n.MaxProperties = count
	}
	if !isNumber {
		k.exclusiveMin = k.exclusiveMin || name == "exclusiveMinimum" && string(v) == "true"
		k.exclusiveMax = k.exclusiveMax || name == "exclusiveMaximum" && string(v) == "true"
		return
	}
	switch name {
	case "minimum":
		n.Minimum = &number
	case "maximum":
		n.Maximum = &number
	case "exclusiveMinimum":
		n.ExclusiveMinimum = &number
	case "exclusiveMaximum":
		n.ExclusiveMaximum = &number
	}
}

// finish does what depends on several keywords.
func (k *keywords) finish() {
	n := k.node
	if k.nullable && n.Types != 0 {
		n.Types |= Null
	}
	if k.exclusiveMin {
		n.ExclusiveMinimum, n.Minimum = n.Minimum, nil
	}
	if k.exclusiveMax {
		n.ExclusiveMaximum, n.Maximum = n.Maximum, nil
	}
	if k.prefix { // with a list of items the rest has a keyword of its own
		n.Items = n.AdditionalItems
	}
	n.AdditionalItems = nil
	if len(n.Properties) > 8 {
		n.byName = make(map[string]*Node, len(n.Properties))
		for _, p := range n.Properties {
			n.byName[p.Name] = p.Node
		}
	}
}

func (k *keywords) schema(name string, v []byte) *Node {
	if c := v[0]; c != '{' && c != 't' && c != 'f' {
		return nil
	}
	return k.parser.node(v, k.node.Location+"/"+name, k.base)
}

func (k *keywords) list(name string, v []byte) (nodes []*Node) {
	if v[0] != '[' {
		return nil
	}
	i := 0
	each(v, func(one []byte) {
		if s := k.schema(name+"/"+strconv.Itoa(i), one); s != nil {
			nodes = append(nodes, s)
		}
		i++
	})
	return nodes
}

func (k *keywords) named(name string, v []byte, f func(string, *Node)) {
	if v[0] != '{' {
		return
	}
	_ = rawjson.Object(v, func(member, value []byte) error { // all of it is valid
		property := unquote(member)
		if c := value[0]; c == '{' || c == 't' || c == 'f' {
			f(property, k.parser.node(value, k.node.Location+"/"+name+"/"+escape(property), k.base))
		}
		return nil
	})
}

// each calls f with the elements of an array, or with the value itself if it is none.
func each(v []byte, f func([]byte)) {
	if v[0] != '[' {
		f(v)
		return
	}
	_ = rawjson.Array(v, func(one []byte) error { // all of it is valid
		f(one)
		return nil
	})
}

// text returns what a string spells; empty: it is none.
func text(v []byte) string {
	if v[0] != '"' {
		return ""
	}
	return unquote(v[1 : len(v)-1])
}
