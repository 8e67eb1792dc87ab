package flow

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// AppendSinkSpec appends a sink's spec response.
func AppendSinkSpec(dst []byte, s Spec) []byte {
	return appendLine(dst, "spec", struct {
		Protocol             int             `json:"protocol"`
		ConfigSchema         json.RawMessage `json:"configSchema"`
		ResourceConfigSchema json.RawMessage `json:"resourceConfigSchema"`
		DocumentationURL     string          `json:"documentationUrl,omitempty"`
	}{Protocol, s.ConfigSchema, s.ResourceConfigSchema, s.DocumentationURL})
}

// AppendSinkValidated appends a validated response. Constraints are written as a map, which every version of the runtime reads.
func AppendSinkValidated(dst []byte, bs []ValidatedBinding) []byte {
	type constraint struct {
		Type        string `json:"type"`
		Reason      string `json:"reason"`
		FoldedField string `json:"foldedField,omitempty"`
	}
	type binding struct {
		CaseInsensitiveFields bool                  `json:"caseInsensitiveFields,omitempty"`
		Constraints           map[string]constraint `json:"constraints"`
		ResourcePath          []string              `json:"resourcePath"`
		DeltaUpdates          bool                  `json:"deltaUpdates,omitempty"`
	}
	list := make([]binding, len(bs))
	for i, b := range bs {
		list[i] = binding{b.CaseInsensitiveFields, make(map[string]constraint, len(b.Constraints)), orEmpty(b.ResourcePath), b.DeltaUpdates}
		for field, c := range b.Constraints {
			list[i].Constraints[field] = constraint(c)
		}
	}
	return appendLine(dst, "validated", struct {
		Bindings []binding `json:"bindings"`
	}{list})
}

// AppendSinkApplied appends an applied response; description is what was done, empty: nothing.
func AppendSinkApplied(dst []byte, description string) []byte {
	return appendLine(dst, "applied", struct {
		Description string `json:"actionDescription,omitempty"`
	}{description})
}

// AppendSinkOpened appends an opened response. A nil checkpoint leaves it to the runner, {} starts from the beginning; any other goes out byte for byte.
// lengths takes the runner's offer of them.
func AppendSinkOpened(dst []byte, checkpoint []byte, disableLoadOptimization, lengths bool) []byte {
	dst = append(dst, `{"opened":{`...)
	if checkpoint != nil {
		dst = append(append(append(dst, `"runtimeCheckpoint":`...), checkpoint...), ',')
	}
	if disableLoadOptimization {
		dst = append(dst, `"disableLoadOptimization":true,`...)
	}
	if lengths {
		dst = append(dst, `"lengths":true,`...)
	}
	return append(bytes.TrimSuffix(dst, []byte(",")), "}}\n"...)
}

// AppendLoaded appends a document that exists. It must be JSON; one of several lines is made compact.
func AppendLoaded(dst []byte, binding int, doc []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"loaded":{"binding":`...), int64(binding), 10)
	dst = append(dst, `,"doc":`...)
	return append(appendOneLine(dst, doc), "}}\n"...)
}

// AppendFlushed appends a flushed response.
func AppendFlushed(dst []byte) []byte { return append(dst, `{"flushed":{}}`+"\n"...) }

// AppendStartedCommit appends a startedCommit response; a nil patch changes nothing of the state.
func AppendStartedCommit(dst, patch []byte) []byte { return appendUpdated(dst, "startedCommit", patch) }

// AppendAcknowledged appends an acknowledged response; a nil patch changes nothing of the state.
func AppendAcknowledged(dst, patch []byte) []byte { return appendUpdated(dst, "acknowledged", patch) }

func appendUpdated(dst []byte, name string, patch []byte) []byte {
	dst = append(append(append(dst, `{"`...), name...), `":{`...)
	if patch != nil {
		dst = append(dst, `"state":{"updated":`...)
		dst = append(appendOneLine(dst, patch), `,"mergePatch":true}`...)
	}
	return append(dst, "}}\n"...)
}

// appendOneLine appends JSON; one that spans lines, or holds tabs, which end a patch for the runtime, is made compact.
func appendOneLine(dst, doc []byte) []byte {
	for _, c := range doc {
		if c < ' ' {
			return rawjson.AppendCompact(dst, doc)
		}
	}
	return append(dst, doc...)
}
