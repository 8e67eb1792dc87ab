package protocoltest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// place is a schema inside a schema.
type place struct {
	at   string // for people: properties by name, [] for items
	name string // of the property; empty: the root, or none
	node map[string]any
	top  bool // a property of the root
}

// places lists a schema and all schemas in it. Names of properties are not mistaken for keywords.
func places(root map[string]any) []place {
	var list []place
	var walk func(p place)
	walk = func(p place) {
		list = append(list, p)
		if properties, ok := p.node["properties"].(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				if node, ok := properties[name].(map[string]any); ok {
					walk(place{at: p.at + "/" + name, name: name, node: node, top: p.at == ""})
				}
			}
		}
		if items, ok := p.node["items"].(map[string]any); ok {
			walk(place{at: p.at + "/[]", node: items})
		}
		for _, several := range []string{"oneOf", "anyOf", "allOf"} {
			variants, _ := p.node[several].([]any)
			for i, v := range variants {
				if node, ok := v.(map[string]any); ok {
					walk(place{at: fmt.Sprintf("%s/%s %d", p.at, several, i), node: node})
				}
			}
		}
	}
	walk(place{node: root})
	return list
}

// typesOf lists the types of a schema, null aside.
func typesOf(node map[string]any) []string {
	var list []string
	switch t := node["type"].(type) {
	case string:
		list = []string{t}
	case []any:
		for _, v := range t {
			if name, ok := v.(string); ok {
				list = append(list, name)
			}
		}
	}
	return slices.DeleteFunc(list, func(t string) bool { return t == "null" })
}

// secretNames are those that the acceptance tests take for secrets.
var secretNames = []string{
	"client_token", "access_token", "api_token", "token", "secret", "client_secret", "password", "key", "service_account_info", "service_account",
	"tenant_id", "certificate", "jwt", "credentials", "app_id", "appid", "refresh_token",
}

var notInSpecs = []string{
	"not", "anyOf", "patternProperties", "prefixItems", "allOf", "if", "then", "else", "dependentSchemas", "dependentRequired", "$ref",
}

// specFaults says where a connectionSpecification breaks the rules of the acceptance tests.
func specFaults(root map[string]any) []string {
	var list []string
	for _, p := range places(root) {
		for _, fault := range specPlaceFaults(p) {
			list = append(list, fmt.Sprintf("spec, at %q: %s", p.at, fault))
		}
	}
	return list
}

func specPlaceFaults(p place) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	n := p.node
	for _, keyword := range notInSpecs {
		if _, there := n[keyword]; there {
			add("the keyword %s is not allowed", keyword)
		}
	}
	if additional, there := n["additionalProperties"]; there && additional != true {
		add("additionalProperties must be true, runners add keys")
	}
	types := typesOf(n)
	if len(types) > 1 {
		add("several types, want one, or one and null")
	}
	isObject := slices.Contains(types, "object")
	variants, isChoice := n["oneOf"].([]any)
	if isObject && n["properties"] == nil && !isChoice {
		add("an object without properties")
	}
	if slices.Contains(types, "array") {
		items, _ := n["items"].(map[string]any)
		of := typesOf(items)
		if items["enum"] == nil && (len(of) != 1 || !slices.Contains([]string{"object", "string", "number", "integer"}, of[0])) {
			add("an array whose items have not one type among object, string, number, integer")
		}
	}
	if slices.Contains(secretNames, p.name) && !isObject && n["const"] == nil && n["airbyte_secret"] != true {
		add("the name looks like a secret, so it must be airbyte_secret")
	}
	if enum, ok := n["enum"].([]any); ok && hasEqual(enum) {
		add("two equal values in enum")
	}
	if _, there := n["group"]; there && !p.top {
		add("group belongs to properties of the top level")
	}
	if _, there := n["display_type"]; there && !isChoice {
		add("display_type belongs to a choice with oneOf")
	}
	if isChoice {
		list = append(list, choiceFaults(isObject, variants)...)
	}
	if fault := dateFault(n); fault != "" {
		add("%s", fault)
	}
	properties, _ := n["properties"].(map[string]any)
	var orders []any
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if property, ok := properties[name].(map[string]any); ok && property["order"] != nil {
			orders = append(orders, property["order"])
		}
	}
	if hasEqual(orders) {
		add("two properties with the same order")
	}
	return list
}

func hasEqual(values []any) bool {
	seen := map[string]bool{}
	for _, v := range values {
		if seen[canonical(v)] {
			return true
		}
		seen[canonical(v)] = true
	}
	return false
}

// choiceFaults: exactly one property is common to all variants, and it is a constant text that tells them apart.
func choiceFaults(isObject bool, variants []any) []string {
	if !isObject || len(variants) == 0 {
		return []string{"oneOf belongs to an object and has variants"}
	}
	constants := map[string][]any{}
	for _, v := range variants {
		variant, _ := v.(map[string]any)
		properties, ok := variant["properties"].(map[string]any)
		if !ok || variant["type"] != "object" {
			return []string{"a variant of oneOf is no object with properties"}
		}
		for name, p := range properties {
			property, _ := p.(map[string]any)
			if text, ok := property["const"].(string); ok {
				constants[name] = append(constants[name], text)
			}
		}
	}
	common := 0
	for _, values := range constants {
		if len(values) == len(variants) && !hasEqual(values) {
			common++
		}
	}
	if common != 1 {
		return []string{fmt.Sprintf("%d properties tell the variants of oneOf apart by a const, want 1", common)}
	}
	return nil
}

// dateFault: who says that a text is a date says so to the form's check and to people's eyes alike.
func dateFault(n map[string]any) string {
	pattern, _ := n["pattern"].(string)
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Sprintf("the pattern %q cannot be read", pattern)
	}
	for format, sample := range map[string]string{"date": "2021-02-03", "date-time": "2021-02-03T04:05:06Z"} {
		matches := pattern != "" && compiled.MatchString(sample) && !compiled.MatchString("x")
		if n["format"] == format && !matches {
			return fmt.Sprintf("format %s without a pattern that lets %s pass", format, sample)
		}
		if matches && n["format"] != "date" && n["format"] != "date-time" {
			return fmt.Sprintf("the pattern is one of a %s, so format must say so", format)
		}
	}
	return ""
}

// airbyteTypes are the values that runners know. Others make them guess.
var airbyteTypes = []any{"timestamp_with_timezone", "timestamp_without_timezone", "time_with_timezone", "time_without_timezone", "integer"}

// streamFaults says where a discovered stream breaks the rules of the acceptance tests.
func streamFaults(d discovered) []string {
	value, err := parse(d.Schema)
	root, ok := value.(map[string]any)
	if err != nil || !ok {
		return []string{fmt.Sprintf("json_schema cannot be read: %v", err)}
	}
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if _, err := compile(d.Schema, ""); err != nil {
		add("json_schema is not valid: %v", err)
	}
	for _, p := range places(root) {
		for _, keyword := range []string{"$ref", "allOf", "not", "if"} {
			if _, there := p.node[keyword]; there {
				add("at %q: the keyword %s is not allowed", p.at, keyword)
			}
		}
		if additional, there := p.node["additionalProperties"]; there && additional != true {
			add("at %q: additionalProperties must be true", p.at)
		}
		if kind, there := p.node["airbyte_type"]; there && !slices.Contains(airbyteTypes, kind) {
			add("at %q: unknown airbyte_type %v", p.at, kind)
		}
	}
	for _, path := range d.Key {
		switch node := at(root, path); {
		case node == nil:
			add("the key %q is not in json_schema", path)
		case slices.ContainsFunc(typesOf(node), func(t string) bool { return t == "object" || t == "array" }):
			add("the key %q is an object or array", path)
		}
	}
	if len(d.Cursor) > 0 && at(root, d.Cursor) == nil {
		add("the cursor %q is not in json_schema", d.Cursor)
	}
	if slices.Contains(d.Modes, "incremental") && !d.DefinedCursor && len(d.Cursor) == 0 {
		add("it is incremental, but names no cursor and does not define one itself")
	}
	return list
}

// at returns the schema at a path of properties; nil: there is none.
func at(node map[string]any, path []string) map[string]any {
	for _, name := range path {
		properties, _ := node["properties"].(map[string]any)
		node, _ = properties[name].(map[string]any)
	}
	return node
}
