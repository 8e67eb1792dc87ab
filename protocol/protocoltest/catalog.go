package protocoltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

type catalog struct {
	Streams []json.RawMessage `json:"streams"`
}

// discovered is a stream that the source offers.
type discovered struct {
	Name          string          `json:"name"`
	Namespace     string          `json:"namespace"`
	Schema        json.RawMessage `json:"json_schema"`
	Modes         []string        `json:"supported_sync_modes"`
	DefinedCursor bool            `json:"source_defined_cursor"`
	Cursor        []string        `json:"default_cursor_field"`
	Key           [][]string      `json:"source_defined_primary_key"`
	raw           json.RawMessage // as it was printed
}

func (d discovered) descriptor() descriptor { return descriptor{d.Name, d.Namespace} }

// properties lists the names of the stream's top-level properties, sorted.
func (d discovered) properties() ([]string, error) {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(d.Schema, &schema); err != nil {
		return nil, fmt.Errorf("reading json_schema of %s: %w", d.descriptor(), err)
	}
	return slices.Sorted(maps.Keys(schema.Properties)), nil
}

func (c *catalog) discovered() ([]discovered, error) {
	var list []discovered
	for _, raw := range c.Streams {
		d := discovered{raw: raw}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("reading a stream of the catalog: %w", err)
		}
		list = append(list, d)
	}
	return list, nil
}

// discover runs discover and returns the streams of its one CATALOG, in the fixture's order. All suites but the one about discovery begin with it.
func (s *session) discover() ([]discovered, error) {
	o, err := s.run(command{name: "discover", config: s.f.Config})
	if err != nil {
		return nil, err
	}
	s.sound("discover", o)
	catalogs := o.of("CATALOG")
	if len(catalogs) != 1 {
		return nil, fmt.Errorf("discover printed %d CATALOGs, want one; %s", len(catalogs), o.why())
	}
	list, err := catalogs[0].Catalog.discovered()
	if err != nil {
		return nil, err
	}
	var ordered []discovered
	for _, want := range s.f.Streams {
		i := slices.IndexFunc(list, func(d discovered) bool { return d.descriptor() == want.descriptor() })
		if i < 0 {
			return nil, fmt.Errorf("discover does not offer %s", want.descriptor())
		}
		ordered = append(ordered, list[i])
	}
	if len(list) != len(ordered) {
		return nil, fmt.Errorf("discover offers %d streams, the fixture has %d", len(list), len(ordered))
	}
	return ordered, nil
}

// selection says how a runner words its catalog.
type selection struct {
	mode        string // sync_mode
	destination string // destination_sync_mode
	nulls       bool   // every optional key is there, as null
	noKey       bool   // no primary_key, whatever the destination mode
	generations bool   // generation, minimum generation and sync id, all 1
	root        map[string]any
	projections map[string]map[string]string // by stream's name
}

// configured writes a catalog for read.
func configured(streams []discovered, how selection) ([]byte, error) {
	list := []any{}
	for _, d := range streams {
		c := map[string]any{"stream": d.raw, "sync_mode": how.mode, "destination_sync_mode": how.destination}
		if how.nulls {
			for _, name := range []string{"cursor_field", "primary_key", "generation_id", "minimum_generation_id", "sync_id", "include_files", "destination_object_name"} {
				c[name] = nil
			}
		}
		if len(d.Key) > 0 && !how.noKey {
			c["primary_key"] = d.Key
		}
		if how.generations {
			c["generation_id"], c["minimum_generation_id"], c["sync_id"] = 1, 1, 1
		}
		if p := how.projections[d.Name]; p != nil {
			c["estuary.dev/projections"] = p
		}
		list = append(list, c)
	}
	whole := map[string]any{"streams": list}
	for name, value := range how.root {
		whole[name] = value
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing a catalog: %w", err)
	}
	return text, nil
}

// incremental is how most runners read.
var incremental = selection{mode: "incremental", destination: "append_dedup"}

// discoverAndConfigure is what a suite about reading begins with.
func (s *session) discoverAndConfigure(how selection) ([]discovered, []byte, error) {
	streams, err := s.discover()
	if err != nil {
		return nil, nil, err
	}
	text, err := configured(streams, how)
	return streams, text, err
}

// stateFile writes the input of --state: the states as the source printed them.
func stateFile(states map[descriptor]*state, order []Stream) []byte {
	list := []json.RawMessage{}
	for _, stream := range order {
		if state := states[stream.descriptor()]; state != nil {
			list = append(list, state.raw)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return []byte(err.Error()) // parts of valid JSON
	}
	return text
}

// lastStates returns the last STATE of each stream.
func lastStates(messages []message) map[descriptor]*state {
	last := map[descriptor]*state{}
	for _, m := range messages {
		if m.State != nil && m.State.Stream != nil {
			last[m.State.Stream.Descriptor] = m.State
		}
	}
	return last
}

// errNoState: a run without one cannot be gone on with.
var errNoState = errors.New("the read printed no STATE")
