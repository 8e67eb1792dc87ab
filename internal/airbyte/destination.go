package airbyte

import (
	"encoding/json"
	"fmt"

	"github.com/estuary/connectors/protocol"
)

// SyncMode is what a destination does with a stream.
type SyncMode string

// The modes that our destinations know.
const (
	Append      SyncMode = "append"       // rows are only added
	AppendDedup SyncMode = "append_dedup" // a row for each key
	Overwrite   SyncMode = "overwrite"    // what is there is replaced when the stream is complete
)

// DestinationStream is one stream of a catalog as a destination reads it.
type DestinationStream struct {
	Descriptor  Descriptor
	Schema      json.RawMessage // nil: none given
	Mode        SyncMode
	Key         []string // JSON pointers: the catalog's, else the source's own; nil: there is none
	Projections map[string]string
	// Generation and MinimumGeneration: rows of generations before the minimum are to go. 0: not given.
	Generation, MinimumGeneration int64
}

// DecodeDestinationCatalog reads a configured catalog for `write`. Names may repeat in different namespaces. An error is a *protocol.Problem.
func DecodeDestinationCatalog(raw []byte) ([]DestinationStream, error) {
	var wire struct {
		Type    *string `json:"type"`
		Streams *[]*struct {
			Stream *struct {
				Name      string          `json:"name"`
				Namespace string          `json:"namespace"`
				Schema    json.RawMessage `json:"json_schema"`
				Key       [][]string      `json:"source_defined_primary_key"`
			} `json:"stream"`
			Mode        SyncMode          `json:"destination_sync_mode"`
			PrimaryKey  [][]string        `json:"primary_key"`
			Projections map[string]string `json:"estuary.dev/projections"`
			Old         map[string]string `json:"projections"`
			Generation  float64           `json:"generation_id"`
			Minimum     float64           `json:"minimum_generation_id"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, notCatalog(raw, err)
	}
	if wire.Type != nil && *wire.Type == "CATALOG" && wire.Streams == nil {
		return nil, badCatalog("it is the output of discover; make a configured one with the source's `discover --configured`", nil)
	}
	if wire.Streams == nil {
		return nil, notCatalog(raw, nil)
	}
	var list []DestinationStream
	seen := map[Descriptor]bool{}
	for i, s := range *wire.Streams {
		if s == nil || s.Stream == nil || s.Stream.Name == "" {
			return nil, badCatalog(fmt.Sprintf("stream %d of it has no name", i+1), nil)
		}
		d := DestinationStream{
			Descriptor: Descriptor{s.Stream.Name, s.Stream.Namespace}, Mode: s.Mode, Projections: s.Projections,
			Generation: int64(s.Generation), MinimumGeneration: int64(s.Minimum),
		}
		if seen[d.Descriptor] {
			return nil, badCatalog(fmt.Sprintf("it names stream %s twice", d.Descriptor), nil)
		}
		seen[d.Descriptor] = true
		if string(s.Stream.Schema) != "null" {
			d.Schema = s.Stream.Schema
		}
		if d.Key = pointers(s.PrimaryKey); d.Key == nil {
			d.Key = pointers(s.Stream.Key)
		}
		if d.Projections == nil {
			d.Projections = s.Old
		}
		switch d.Mode {
		case Append, Overwrite:
		case AppendDedup:
			if d.Key == nil {
				return nil, &protocol.Problem{
					Kind: protocol.Config, Summary: fmt.Sprintf("stream %s is to be deduplicated, but has no key", d.Descriptor),
					Fix: "give it a primary_key in the catalog, or the destination_sync_mode append",
				}
			}
		default:
			return nil, badCatalog(fmt.Sprintf("stream %s has destination_sync_mode %q; append, append_dedup and overwrite are possible", d.Descriptor, d.Mode), nil)
		}
		list = append(list, d)
	}
	return list, nil
}

// String is the name for people: with the namespace in front, unless the name starts with it.
func (d Descriptor) String() string {
	if d.Namespace == "" || len(d.Name) > len(d.Namespace) && d.Name[:len(d.Namespace)+1] == d.Namespace+"." {
		return d.Name
	}
	return d.Namespace + "." + d.Name
}
