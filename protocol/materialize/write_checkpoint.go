package materialize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/rawjson"
)

// tableCheckpoint is what `write` stores beside the rows of a table, as JSON.
type tableCheckpoint struct {
	// State is the last STATE that covers the rows, as the list of `state` has it; nil: none yet.
	State json.RawMessage `json:"state,omitempty"`
	// Generation is the newest that a runner has named; 0: none did.
	Generation int64 `json:"generation,omitempty"`
}

// decodeTableCheckpoint takes nil and null for none.
func decodeTableCheckpoint(raw []byte) (c tableCheckpoint, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// appendCheckpoint appends the member of a table to the checkpoint of a transaction, which starts with {.
func appendCheckpoint(dst []byte, stateKey string, c tableCheckpoint) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(rawjson.AppendQuoted(dst, []byte(stateKey)), ':')
	return append(dst, encodePlain(c)...)
}

// encodePlain leaves <, > and & readable.
func encodePlain(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("materialize: encoding a checkpoint: " + err.Error()) // it holds strings, numbers and JSON that was checked
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func objectOf(raw []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if len(raw) == 0 {
		return members, nil
	}
	return members, json.Unmarshal(raw, &members)
}

// storedState is the form of a STATE in a checkpoint and in the list of `state`: what a source needs to go on, without counts and nulls.
func storedState(g *airbyte.GivenMessage) json.RawMessage {
	type descriptor struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	type stream struct {
		Descriptor descriptor      `json:"stream_descriptor"`
		State      json.RawMessage `json:"stream_state,omitempty"`
	}
	out := struct {
		Kind   airbyte.StateKind `json:"type"`
		Stream *stream           `json:"stream,omitempty"`
		Global json.RawMessage   `json:"global,omitempty"`
		Data   json.RawMessage   `json:"data,omitempty"`
	}{Kind: g.Kind}
	switch g.Kind {
	case airbyte.StreamKind:
		out.Stream = &stream{descriptor{g.Stream, g.Namespace}, g.StreamState}
	case airbyte.GlobalKind:
		out.Global = g.Global
	case airbyte.LegacyKind:
		out.Data = g.Data
	}
	return encodePlain(out)
}

var errPatch = errors.New("a STATE with a merge patch holds no object")

// fold applies a merge patch (RFC 7396) to a state; nil: there is none yet.
func fold(state, patch []byte) ([]byte, error) {
	if len(patch) == 0 || patch[0] != '{' {
		return nil, errPatch
	}
	if state == nil {
		state = []byte("{}")
	}
	after, err := jsonpatch.MergePatch(state, patch)
	if err != nil {
		return nil, fmt.Errorf("folding the merge patch of a STATE: %w", err)
	}
	return after, nil
}

// foldedState returns the state that patches go on from: the one that every table remembers; nil: there is none, or they differ.
func foldedState(tables []*table) []byte {
	var common []byte
	for i, t := range tables {
		var s struct {
			Kind airbyte.StateKind `json:"type"`
			Data json.RawMessage   `json:"data"`
		}
		if json.Unmarshal(t.checkpoint.State, &s) != nil || s.Kind != airbyte.LegacyKind || len(s.Data) == 0 || s.Data[0] != '{' {
			return nil
		}
		if i > 0 && !bytes.Equal(common, s.Data) {
			return nil
		}
		common = s.Data
	}
	return common
}
