package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/estuary/connectors/protocol"
)

// tree parses the text of a file, which has to be one document. It returns the values, and the line of each by its place, such as streams[0].key.
func tree(path string, text []byte) (root yaml.MapSlice, lines map[string]int, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write it
	if !utf8.Valid(text) {
		line := 1
		for rest := text; ; line++ {
			first, after, _ := bytes.Cut(rest, []byte("\n"))
			if !utf8.Valid(first) {
				break
			}
			rest = after
		}
		return nil, nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("%s, line %d: the text is not in UTF-8", path, line), Fix: "save the file in that encoding"}
	}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, nil, broken(path, err)
	}
	lines = map[string]int{}
	first := ast.Node(nil)
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.NullType:
		case first != nil:
			return nil, nil, &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("%s, line %d: a second YAML document begins", path, doc.Body.GetToken().Position.Line),
				Fix: "write each pipeline into a file of its own, and no --- between the parts of one",
			}
		default:
			first = doc.Body
			note(lines, "", first)
		}
	}
	if first == nil {
		return nil, lines, nil
	}
	if err := yaml.NodeToValue(first, &root, yaml.UseOrderedMap()); err != nil {
		return nil, nil, broken(path, err)
	}
	return root, lines, nil
}

// note notes the lines of everything below a node.
func note(lines map[string]int, at string, node ast.Node) {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, member := range n.Values {
			note(lines, at, member)
		}
	case *ast.MappingValueNode:
		token := n.Key.GetToken()
		below := token.Value
		if at != "" {
			below = at + "." + token.Value
		}
		lines[below] = token.Position.Line
		note(lines, below, n.Value)
	case *ast.SequenceNode:
		for i, value := range n.Values {
			below := fmt.Sprintf("%s[%d]", at, i)
			lines[below] = value.GetToken().Position.Line
			if m, ok := value.(*ast.MappingValueNode); ok { // its token is the colon
				lines[below] = m.Key.GetToken().Position.Line
			}
			note(lines, below, value)
		}
	case *ast.AnchorNode:
		note(lines, at, n.Value)
	case *ast.TagNode:
		note(lines, at, n.Value)
	}
}

var (
	twice    = regexp.MustCompile(`^mapping key (".*") already defined at \[(\d+):\d+\]$`)
	position = regexp.MustCompile(`^\[(\d+):\d+\] `)
)

// broken tells people what the YAML parser has found.
func broken(path string, err error) error {
	message, line := strings.TrimSpace(yaml.FormatError(err, false, false)), ""
	if found, ok := errors.AsType[yaml.Error](err); ok && found.GetToken() != nil {
		message, line = found.GetMessage(), fmt.Sprintf("line %d: ", found.GetToken().Position.Line)
	} else if m := position.FindStringSubmatch(message); m != nil {
		message, line = message[len(m[0]):], "line "+m[1]+": "
	}
	message, _, _ = strings.Cut(message, "\n")
	p := &protocol.Problem{Kind: protocol.Config, Err: err}
	switch m := twice.FindStringSubmatch(message); {
	case m != nil:
		p.Summary, p.Fix = fmt.Sprintf("%s, %sthe key %s stands in line %s already", path, line, m[1], m[2]), "leave one of them out"
	case strings.Contains(message, `'\t'`) || strings.Contains(message, "'\t'"):
		p.Summary, p.Fix = fmt.Sprintf("%s, %sa tab stands where YAML allows spaces only", path, line), "indent with spaces"
	default:
		p.Summary, p.Fix = path+" is no YAML mapping", line+message
	}
	return p
}

// where is the file with the line of a place, as far as it is known.
func (d *decoder) where(at string) string {
	for at != "" {
		if line, ok := d.lines[at]; ok {
			return fmt.Sprintf("%s, line %d", d.file.Path, line)
		}
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return d.file.Path
}
