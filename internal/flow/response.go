package flow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/internal/rawjson"
	"github.com/estuary/connectors/protocol"
)

// Protocol is the version of the protocol that a spec response announces; runners refuse any other.
const Protocol = 3032023

// appendLine appends an object with one member, as every response is.
func appendLine(dst []byte, name string, v any) []byte {
	buf := bytes.NewBuffer(append(append(append(dst, `{"`...), name...), `":`...))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("flow: rendering a response: " + err.Error()) // only strings, numbers and valid raw JSON are ever given
	}
	return append(bytes.TrimSuffix(buf.Bytes(), []byte("\n")), "}\n"...)
}

// Spec is the answer to spec.
type Spec struct {
	Protocol             int             `json:"protocol"`
	ConfigSchema         json.RawMessage `json:"configSchema"`
	ResourceConfigSchema json.RawMessage `json:"resourceConfigSchema"`
	DocumentationURL     string          `json:"documentationUrl,omitempty"`
	ResourcePathPointers []string        `json:"resourcePathPointers"`
}

// AppendSpec appends a spec response.
func AppendSpec(dst []byte, s Spec) []byte {
	s.Protocol = Protocol
	return appendLine(dst, "spec", s)
}

type discoveredBinding struct {
	RecommendedName string          `json:"recommendedName"`
	ResourceConfig  json.RawMessage `json:"resourceConfig"`
	DocumentSchema  json.RawMessage `json:"documentSchema"`
	Key             []string        `json:"key,omitempty"`
	ResourcePath    []string        `json:"resourcePath"`
	IsFallbackKey   bool            `json:"isFallbackKey,omitempty"`
}

// AppendDiscovered appends a discovered response; paths holds the streams' resource paths.
func AppendDiscovered(dst []byte, streams []protocol.Stream, paths [][]string) []byte {
	list := make([]discoveredBinding, len(streams))
	for i, s := range streams {
		b := discoveredBinding{
			RecommendedName: s.RecommendedName, ResourceConfig: s.Resource, DocumentSchema: jsonschema.Flow(s.Schema), Key: s.Key, ResourcePath: paths[i],
		}
		if b.RecommendedName == "" {
			b.RecommendedName = s.Name
		}
		if len(s.Key) == 0 {
			b.Key, b.IsFallbackKey = s.FallbackKey, len(s.FallbackKey) > 0
		}
		list[i] = b
	}
	return appendLine(dst, "discovered", struct {
		Bindings []discoveredBinding `json:"bindings"`
	}{list})
}

// AppendValidated appends a validated response.
func AppendValidated(dst []byte, paths [][]string) []byte {
	type binding struct {
		ResourcePath []string `json:"resourcePath"`
	}
	list := make([]binding, len(paths))
	for i, p := range paths {
		list[i].ResourcePath = p
	}
	return appendLine(dst, "validated", struct {
		Bindings []binding `json:"bindings"`
	}{list})
}

// AppendApplied appends an applied response: nothing had to be done.
func AppendApplied(dst []byte) []byte { return append(dst, `{"applied":{}}`+"\n"...) }

// AppendOpened appends an opened response that asks for acknowledgements.
func AppendOpened(dst []byte) []byte {
	return append(dst, `{"opened":{"explicitAcknowledgements":true}}`+"\n"...)
}

// CapturedOpening returns what stands before a document of the binding; CapturedClosing stands after it.
func CapturedOpening(binding int) []byte {
	dst := strconv.AppendInt([]byte(`{"captured":{"binding":`), int64(binding), 10)
	return append(dst, `,"doc":`...)
}

// CapturedClosing stands after a document.
const CapturedClosing = "}}\n"

// AppendCapturedLengths appends, right after a document that started at dst[start], the lengths of its members: ends are where they end. It stands before
// CapturedClosing, and is an extension. A document with a very long member is left without.
func AppendCapturedLengths(dst []byte, start int, ends []int) []byte {
	const opening = `,"lengths":"`
	before, size := len(dst), len(opening)+rawjson.LengthBytes*len(ends)+1
	dst = slices.Grow(dst, size)[:before+size]
	list := dst[before+copy(dst[before:], opening):]
	from := start + 1
	for _, end := range ends {
		if end-from > rawjson.MaxLength {
			return dst[:before]
		}
		rawjson.PutLength(list, end-from)
		from, list = end+1, list[rawjson.LengthBytes:]
	}
	list[0] = '"'
	return dst
}

// AppendSourcedSchema appends a sourcedSchema response.
func AppendSourcedSchema(dst []byte, binding int, s protocol.Schema) []byte {
	dst = strconv.AppendInt(append(dst, `{"sourcedSchema":{"binding":`...), int64(binding), 10)
	dst = append(append(dst, `,"documentSchema":`...), jsonschema.FlowClosed(s)...)
	return append(dst, "}}\n"...)
}

// AppendCheckpoint appends a checkpoint whose state is a merge patch of the document, compact JSON.
func AppendCheckpoint(dst, patch []byte) []byte {
	dst = append(append(dst, `{"checkpoint":{"state":{"updated":`...), patch...)
	return append(dst, `,"mergePatch":true}}}`+"\n"...)
}

// AppendReset appends a reset response, an extension.
func AppendReset(dst []byte, binding int, reason string) []byte {
	return appendLine(dst, "reset", struct {
		Binding int    `json:"binding"`
		Reason  string `json:"reason"`
	}{binding, reason})
}
