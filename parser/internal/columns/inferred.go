package columns

import (
	"strings"

	"github.com/estuary/connectors/internal/jsonschema"
)

// maxPlaces is how many locations of a schema are compared with the names of columns: objects in each other without end have more than anybody can name.
const maxPlaces = 200_000

// inferred is the location that the schema has for a name; nil tokens: none.
type inferred struct {
	tokens []string
	// rival is another location of the same depth that has the name, too; nil: there is none.
	rival []string
}

// offer takes a location if it is the first one, and so the shallowest.
func (i *inferred) offer(tokens []string) {
	switch {
	case i.tokens == nil:
		i.tokens = tokens
	case i.rival == nil && len(tokens) == len(i.tokens) && pointer(tokens) != pointer(i.tokens):
		i.rival = tokens
	}
}

// infer finds the locations that a schema has for names, both as they are and folded. What it remembers grows with the names, not with the schema.
func infer(schema *jsonschema.Node, names []string) (exact, folded map[string]*inferred) {
	exact, folded = make(map[string]*inferred, len(names)), make(map[string]*inferred, len(names))
	for _, name := range names {
		exact[name], folded[jsonschema.FoldBlanks(name)] = &inferred{}, &inferred{}
	}
	if schema == nil {
		return exact, folded
	}
	count := 0
	schema.Places(func(p jsonschema.Place) bool {
		for _, name := range inferredNames(p.Tokens) {
			if hit := exact[name]; hit != nil {
				hit.offer(p.Tokens)
			}
			if hit := folded[jsonschema.FoldBlanks(name)]; hit != nil {
				hit.offer(p.Tokens)
			}
		}
		count++
		return count < maxPlaces
	})
	return exact, folded
}

// inferredNames are the names of columns that mean a location: /foo_bar/baz is that, foo_bar/baz, foo_bar_baz, "foo_bar baz" or foo_barbaz. Members of the
// document itself are also meant by their name with blanks for underscores.
func inferredNames(tokens []string) []string {
	whole := pointer(tokens)
	if len(tokens) == 1 {
		name := tokens[0]
		list := []string{whole, whole[1:]}
		if name != whole[1:] {
			list = append(list, name)
		}
		if strings.Contains(name, "_") {
			list = append(list, strings.ReplaceAll(name, "_", " "))
		}
		return list
	}
	return []string{whole, whole[1:], strings.Join(tokens, "_"), strings.Join(tokens, " "), strings.Join(tokens, "")}
}

// pointer spells a location as RFC 6901 does.
func pointer(tokens []string) string {
	if len(tokens) == 1 {
		return "/" + escapeToken(tokens[0])
	}
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken(token))
	}
	return b.String()
}

func escapeToken(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// parsePointer reads a location; ok is false for one that RFC 6901 does not know. "" has no tokens: it is the document.
func parsePointer(text string) (tokens []string, ok bool) {
	if text == "" {
		return nil, true
	}
	if text[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(text[1:], "/")
	for i, token := range tokens {
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(token, "~0", ""), "~1", ""), "~") {
			return nil, false
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, true
}
