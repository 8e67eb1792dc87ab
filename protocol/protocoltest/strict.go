package protocoltest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed airbyte.schema.json
var airbyteSchema []byte

//go:embed flow.schema.json
var flowSchema []byte

//go:embed flowsink.schema.json
var sinkSchema []byte

// definitions is a file of schemas, compiled when they are first asked for.
type definitions struct {
	text     []byte
	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

var (
	airbyteMessages = definitions{text: airbyteSchema}
	flowResponses   = definitions{text: flowSchema}
	sinkResponses   = definitions{text: sinkSchema}
)

// named returns a definition; nil: there is none of this name.
func (d *definitions) named(name string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.compiled[name]; ok {
		return s, nil
	}
	var file struct {
		Definitions map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(d.text, &file); err != nil {
		return nil, fmt.Errorf("reading the schemas of messages: %w", err)
	}
	var s *jsonschema.Schema
	if file.Definitions[name] != nil {
		var err error
		if s, err = compile(d.text, "#/$defs/"+name); err != nil {
			return nil, err
		}
	}
	if d.compiled == nil {
		d.compiled = map[string]*jsonschema.Schema{}
	}
	d.compiled[name] = s
	return s, nil
}

// compile compiles a schema, or the part of it that the fragment names.
func compile(text []byte, fragment string) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.AssertFormat()
	const url = "file:///schema.json"
	if err := c.AddResource(url, document); err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	s, err := c.Compile(url + fragment)
	if err != nil {
		return nil, fmt.Errorf("compiling a schema: %w", err)
	}
	return s, nil
}

// fits validates a value that parse has read. The error is one line.
func fits(s *jsonschema.Schema, value any) error {
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	return errors.New(strings.TrimSpace(strings.Join(lines[min(1, len(lines)-1):], ";")))
}

// strictAirbyte says what is wrong with a line of stdout under an Airbyte command.
func strictAirbyte(line []byte) error {
	value, err := parse(line)
	if err != nil {
		return fmt.Errorf("a line is no JSON object: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("a line is no JSON object: %.100q", line)
	}
	kind, _ := object["type"].(string)
	schema, err := airbyteMessages.named(kind)
	if err != nil {
		return err
	}
	if schema == nil || kind != strings.ToUpper(kind) {
		return fmt.Errorf("a line has the unknown type %q: %.100q", kind, line)
	}
	if err := fits(schema, value); err != nil {
		return fmt.Errorf("a %s is not as the protocol has it: %w: %.200s", kind, err, line)
	}
	return nil
}

// strictFlow says what is wrong with a response of a capture, and returns its one member's name.
func strictFlow(line []byte) (kind string, err error) { return strictResponse(line, &flowResponses) }

// strictSink does the same for one of a materialization.
func strictSink(line []byte) (kind string, err error) { return strictResponse(line, &sinkResponses) }

// partNames are definitions that are no responses.
var partNames = []string{"text", "binding", "pointers", "path", "closed", "state", "constraint"}

func strictResponse(line []byte, responses *definitions) (kind string, err error) {
	if bytes.ContainsAny(line, "\t\r") {
		return "", fmt.Errorf("a response holds a raw tab or line break: %.100q", line)
	}
	value, err := parse(line)
	if err != nil {
		return "", fmt.Errorf("a response is no JSON object: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) != 1 {
		return "", fmt.Errorf("a response is no object with one member: %.100q", line)
	}
	var body any
	for kind, body = range object {
	}
	schema, err := responses.named(kind)
	if err != nil {
		return kind, err
	}
	if schema == nil || slices.Contains(partNames, kind) {
		return kind, fmt.Errorf("a response has the unknown member %q: %.100q", kind, line)
	}
	if err := fits(schema, body); err != nil {
		return kind, fmt.Errorf("a response %s is not as the protocol has it: %w: %.200s", kind, err, line)
	}
	return kind, nil
}
