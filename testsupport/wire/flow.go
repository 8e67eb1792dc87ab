package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Protocol is the version that a Flow connector must name in its spec.
const Protocol = 3032023

// Response is one line of a Flow capture; Kind tells which of the others is set.
type Response struct {
	Kind string // spec, discovered, validated, applied, opened, captured, sourcedSchema, checkpoint, reset

	Body json.RawMessage // of spec and of applied, as printed

	Discovered []DiscoveredBinding
	Validated  [][]string // resource paths

	ExplicitAcknowledgements bool // of opened

	Binding int             // of captured, sourcedSchema, reset
	Doc     json.RawMessage // of captured
	Schema  json.RawMessage // of sourcedSchema

	State      json.RawMessage // of checkpoint: the update
	MergePatch bool

	Reason string // of reset
}

// DiscoveredBinding is a stream that a capture offers.
type DiscoveredBinding struct {
	RecommendedName string
	ResourceConfig  json.RawMessage
	DocumentSchema  json.RawMessage
	Key             []string
	Disable         bool
	ResourcePath    []string
	IsFallbackKey   bool
}

// FlowDecoder decodes responses as Flow's runtime of 2025 does, which refuses whatever it does not know.
type FlowDecoder struct {
	// AllowReset accepts the response reset, for sessions whose open carried "reset":true.
	AllowReset bool
	// Lengths are asked of captured documents, for sessions whose open carried "lengths":true.
	Lengths bool
}

// Decode decodes one line of stdout.
func (f FlowDecoder) Decode(line []byte) (*Response, error) {
	if bytes.ContainsAny(line, "\t\r\n") {
		return nil, fmt.Errorf("reading a response: a raw tab or line break in %.120q", line)
	}
	members, err := Object(line)
	if err != nil {
		return nil, err
	}
	if len(members) != 1 {
		return nil, fmt.Errorf("reading a response: %d members, want one: %.120s", len(members), line)
	}
	r := &Response{}
	var body json.RawMessage
	for r.Kind, body = range members {
	}
	inner, err := Object(body)
	if err != nil {
		return nil, fmt.Errorf("reading response %s: %w", r.Kind, err)
	}
	decode, known := map[string]func(*Response, map[string]json.RawMessage) error{
		"spec": spec, "discovered": discovered, "validated": validated, "applied": applied, "opened": opened, "captured": captured,
		"sourcedSchema": sourcedSchema, "checkpoint": checkpoint, "reset": reset,
	}[r.Kind]
	if !known || (r.Kind == "reset" && !f.AllowReset) {
		return nil, fmt.Errorf("reading a response: unknown member %q", r.Kind)
	}
	r.Body = body
	if r.Kind == "captured" && f.Lengths {
		if err := lengths(inner); err != nil {
			return nil, err
		}
	}
	if err := decode(r, inner); err != nil {
		return nil, err
	}
	return r, nil
}

func spec(_ *Response, m map[string]json.RawMessage) error {
	var protocol uint32
	var config, resource json.RawMessage
	var docs string
	var pointers []string
	err := errors.Join(
		only(m, "spec", "protocol", "configSchema", "resourceConfigSchema", "documentationUrl", "oauth2", "resourcePathPointers"),
		member(m, "spec", "protocol", true, &protocol), member(m, "spec", "configSchema", true, &config),
		member(m, "spec", "resourceConfigSchema", true, &resource), member(m, "spec", "documentationUrl", false, &docs),
		member(m, "spec", "resourcePathPointers", true, &pointers))
	if err == nil && (protocol != Protocol || !isObject(config) || !isObject(resource)) {
		err = fmt.Errorf("reading spec: protocol %d, want %d, and two schemas that are objects", protocol, Protocol)
	}
	return err
}

func discovered(r *Response, m map[string]json.RawMessage) error {
	var bindings []json.RawMessage
	if err := errors.Join(only(m, "discovered", "bindings"), member(m, "discovered", "bindings", false, &bindings)); err != nil {
		return err
	}
	for _, raw := range bindings {
		b, err := Object(raw)
		if err != nil {
			return err
		}
		var d DiscoveredBinding
		const where = "a discovered binding"
		err = errors.Join(
			only(b, where, "recommendedName", "resourceConfig", "documentSchema", "key", "disable", "resourcePath", "isFallbackKey"),
			member(b, where, "recommendedName", true, &d.RecommendedName), member(b, where, "resourceConfig", true, &d.ResourceConfig),
			member(b, where, "documentSchema", true, &d.DocumentSchema), member(b, where, "key", false, &d.Key),
			member(b, where, "disable", false, &d.Disable), member(b, where, "resourcePath", false, &d.ResourcePath),
			member(b, where, "isFallbackKey", false, &d.IsFallbackKey))
		if err != nil {
			return err
		}
		if !isObject(d.ResourceConfig) || !isObject(d.DocumentSchema) {
			return fmt.Errorf("reading discovered binding %s: resourceConfig and documentSchema must be objects", d.RecommendedName)
		}
		r.Discovered = append(r.Discovered, d)
	}
	return nil
}

func validated(r *Response, m map[string]json.RawMessage) error {
	var bindings []json.RawMessage
	if err := errors.Join(only(m, "validated", "bindings"), member(m, "validated", "bindings", false, &bindings)); err != nil {
		return err
	}
	for _, raw := range bindings {
		b, err := Object(raw)
		if err != nil {
			return err
		}
		var path []string
		if err = errors.Join(only(b, "a validated binding", "resourcePath"), member(b, "a validated binding", "resourcePath", true, &path)); err != nil {
			return err
		}
		r.Validated = append(r.Validated, path)
	}
	return nil
}

func applied(_ *Response, m map[string]json.RawMessage) error {
	var action string
	return errors.Join(only(m, "applied", "actionDescription"), member(m, "applied", "actionDescription", false, &action))
}

func opened(r *Response, m map[string]json.RawMessage) error {
	return errors.Join(only(m, "opened", "explicitAcknowledgements"), member(m, "opened", "explicitAcknowledgements", false, &r.ExplicitAcknowledgements))
}

func captured(r *Response, m map[string]json.RawMessage) error {
	err := errors.Join(only(m, "captured", "binding", "doc"), binding(r, m, "captured"), member(m, "captured", "doc", true, &r.Doc))
	if err == nil && !isObject(r.Doc) {
		err = fmt.Errorf("reading captured: the document is no object: %.80s", r.Doc)
	}
	return err
}

// lengths takes the member lengths out, which has to tell how long the members of the document are: three digits of base 32 each, '0' to 'O'.
func lengths(m map[string]json.RawMessage) error {
	var told string
	if err := member(m, "captured", "lengths", true, &told); err != nil {
		return err
	}
	delete(m, "lengths")
	var want []byte
	for doc, i := m["doc"], 1; i < len(doc); {
		end := value(doc, i)
		end = value(doc, end+1)
		n := end - i
		want = append(want, '0'+byte(n>>10), '0'+byte(n>>5&31), '0'+byte(n&31))
		i = end + 1
	}
	if told != string(want) {
		return fmt.Errorf("reading captured: the lengths are %q, want %q, of %.300s", told, want, m["doc"])
	}
	return nil
}

func sourcedSchema(r *Response, m map[string]json.RawMessage) error {
	err := errors.Join(only(m, "sourcedSchema", "binding", "documentSchema"), binding(r, m, "sourcedSchema"), member(m, "sourcedSchema", "documentSchema", true, &r.Schema))
	if err != nil {
		return err
	}
	var closed struct {
		AdditionalProperties *bool `json:"additionalProperties"`
	}
	if err = json.Unmarshal(r.Schema, &closed); err != nil || closed.AdditionalProperties == nil || *closed.AdditionalProperties {
		return fmt.Errorf("reading sourcedSchema of binding %d: it is not closed by additionalProperties false: %.120s", r.Binding, r.Schema)
	}
	return nil
}

func checkpoint(r *Response, m map[string]json.RawMessage) error {
	var state json.RawMessage
	if err := errors.Join(only(m, "checkpoint", "state"), member(m, "checkpoint", "state", true, &state)); err != nil {
		return err
	}
	inner, err := Object(state)
	if err != nil {
		return err
	}
	err = errors.Join(only(inner, "a checkpoint's state", "updated", "mergePatch"),
		member(inner, "a checkpoint's state", "updated", true, &r.State), member(inner, "a checkpoint's state", "mergePatch", false, &r.MergePatch))
	if err == nil && !isObject(r.State) {
		err = fmt.Errorf("reading a checkpoint: updated is no object: %.80s", r.State)
	}
	return err
}

func reset(r *Response, m map[string]json.RawMessage) error {
	return errors.Join(only(m, "reset", "binding", "reason"), binding(r, m, "reset"), member(m, "reset", "reason", true, &r.Reason))
}

func binding(r *Response, m map[string]json.RawMessage, where string) error {
	var n uint32
	if err := member(m, where, "binding", false, &n); err != nil {
		return err
	}
	r.Binding = int(n)
	return nil
}
