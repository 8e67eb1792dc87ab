package protocoltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sinkSpec: both spec surfaces, the answers to check, and what whoever starts the binary without anything is told.
func sinkSpec(s *sinkSession) error {
	if err := acceptanceSpec(s.session); err != nil {
		return err
	}
	o, err := s.run(command{name: "spec"})
	if err != nil {
		return err
	}
	for _, m := range o.of("SPEC") {
		if !strings.Contains(string(m.line), `"supported_destination_sync_modes":["append"`) {
			s.report("the SPEC does not say which destination sync modes are supported")
		}
	}
	if err := acceptanceCheck(s.session); err != nil {
		return err
	}
	if err := s.flowStarts(); err != nil {
		return err
	}
	d, err := s.drive()
	if err != nil {
		return err
	}
	defer d.end()
	for name, schema := range map[string]map[string]any{"configSchema": s.configSchema, "resourceConfigSchema": s.resourceSchema} {
		for _, fault := range flowSchemaFaults(schema) {
			s.report("%s, %s", name, fault)
		}
	}
	for _, fault := range resourceFaults(s.resourceSchema) {
		s.report("resourceConfigSchema: %s", fault)
	}
	return d.endsWithInput("spec")
}

// flowKeywords are those that Flow's schema parser accepts; it refuses others, except x-….
var flowKeywords = []string{
	"$schema", "$id", "$comment", "$defs", "definitions", "type", "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
	"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "items", "minItems", "maxItems", "uniqueItems", "contains",
	"enum", "const", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
	"format", "contentEncoding", "contentMediaType", "nullable", "reduce", "redact", "secret", "airbyte_secret", "multiline", "advanced", "order", "discriminator",
}

// flowSchemaFaults says where a config's or a resource's schema would break Flow's forms.
// bug materializations 53: references, booleans as strings, missing titles and unmarked secrets broke the forms (2022-05)
func flowSchemaFaults(root map[string]any) []string {
	var list []string
	for _, p := range places(root) {
		add := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("at %q: %s", p.at, fmt.Sprintf(format, args...)))
		}
		for _, keyword := range slices.Sorted(maps.Keys(p.node)) {
			if !slices.Contains(flowKeywords, keyword) && !strings.HasPrefix(keyword, "x-") {
				add("Flow refuses the keyword %s", keyword)
			}
		}
		for keyword, v := range p.node {
			boolean := slices.Contains([]string{"secret", "multiline", "advanced", "deprecated"}, keyword) || strings.HasPrefix(keyword, "x-")
			if _, ok := v.(bool); boolean && !ok {
				add("%s is no boolean", keyword)
			}
		}
		types := typesOf(p.node)
		if p.name != "" {
			for _, keyword := range []string{"title", "description"} {
				if text, _ := p.node[keyword].(string); text == "" {
					add("no %s", keyword)
				}
			}
			if slices.Contains(secretNames, p.name) && slices.Contains(types, "string") && p.node["secret"] != true {
				add("the name looks like a secret, so it must be marked as one")
			}
			if _, there := p.node["default"]; slices.Contains(types, "boolean") && !there {
				add("a boolean without a default")
			}
		}
		if p.node["secret"] == true && !slices.Equal(types, []string{"string"}) {
			add("a secret that is no string")
		}
		properties, _ := p.node["properties"].(map[string]any)
		var placed []any
		for _, v := range properties {
			if node, ok := v.(map[string]any); ok && node["order"] != nil {
				placed = append(placed, node["order"])
			}
		}
		if hasEqual(placed) {
			add("two properties with the same order")
		}
	}
	return list
}

// resourceFaults says what a resource's schema lacks that Flow's own forms and checks need.
func resourceFaults(root map[string]any) (list []string) {
	marked := map[string][]string{}
	for _, p := range places(root) {
		for mark, want := range map[string]string{"x-collection-name": "string", "x-schema-name": "string", "x-delta-updates": "boolean"} {
			if p.node[mark] != true {
				continue
			}
			marked[mark] = append(marked[mark], p.name)
			if !slices.Equal(typesOf(p.node), []string{want}) {
				list = append(list, fmt.Sprintf("%s marks %s, which is no %s", mark, p.name, want))
			}
			if !p.top {
				list = append(list, fmt.Sprintf("%s marks %s, which is not at the top", mark, p.name))
			}
		}
	}
	for mark, names := range marked {
		if len(names) > 1 {
			list = append(list, fmt.Sprintf("%s marks %q, want one property", mark, names))
		}
	}
	names := marked["x-collection-name"]
	if len(names) == 0 {
		return append(list, "x-collection-name marks no property")
	}
	required, _ := root["required"].([]any)
	if !slices.Contains(required, any(names[0])) {
		list = append(list, fmt.Sprintf("%s, which x-collection-name marks, is not required", names[0]))
	}
	return list
}
