package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// Config of the connector: what a user fills in. Its schema, defaults and strict decoding come from the tags.
type Config struct {
	UpTo int `json:"upTo" title:"Up to" doc:"The last number." default:"3" min:"1"`
}

// Resource tells one stream from another.
type Resource struct {
	Stream string `json:"stream" title:"Stream" doc:"Name of the stream."`
}

// Numbers is a source of one stream that counts up to a number.
type Numbers struct{ config Config }

// Connector is what a main passes to source.Main.
var Connector = source.Connector[Config, Resource]{
	Name: "source-numbers", Title: "numbers", Version: "v1", ResourcePath: []string{"/stream"},
	New: func(c Config) (source.Source, error) { return &Numbers{c}, nil },
}

// Check finds nothing: numbers are always there.
func (*Numbers) Check(context.Context, string, []protocol.Binding) error { return nil }

// Discover lists the stream.
func (*Numbers) Discover(context.Context) ([]protocol.Stream, error) {
	return []protocol.Stream{{
		Name: "numbers", RecommendedName: "numbers", Resource: json.RawMessage(`{"stream":"numbers"}`), Key: []string{"/n"}, Incremental: true,
		Schema: protocol.Schema{Types: []string{"object"}, Complete: true, Properties: []protocol.Property{
			{Name: "n", Schema: protocol.Schema{Types: []string{"integer"}}, Required: true},
		}},
	}}, nil
}

// Read goes on after the number in the state, with a checkpoint after each number.
func (s *Numbers) Read(_ context.Context, req source.Request, out *source.Out) error {
	for i, b := range req.Bindings {
		var state struct{ Last int }
		if b.State != nil {
			if err := json.Unmarshal(b.State, &state); err != nil {
				return fmt.Errorf("reading the state of %s: %w", b.Stream.Name, err)
			}
		}
		for n := state.Last + 1; n <= s.config.UpTo; n++ {
			batch := out.NewBatch()
			doc := append(batch.Begin(i), `{"n":`...)
			doc = strconv.AppendInt(doc, int64(n), 10)
			batch.End(append(doc, '}'))
			batch.Patch(i, fmt.Appendf(nil, `{"last":%d}`, n))
			if _, err := out.Emit(batch); err != nil {
				return err
			}
			select {
			case <-req.Stop: // the checkpoint is written
				return nil
			default:
			}
		}
	}
	return nil
}

// Close has nothing to close.
func (*Numbers) Close() error { return nil }

func Example() {
	// A main is one line: source.Main(Connector). Here the source is driven as an engine's test does it, with the form that Flow reads.
	s, err := Connector.New(Config{UpTo: 3})
	if err != nil {
		panic(err)
	}
	bs := []protocol.Binding{{
		Stream: protocol.Stream{Name: "numbers"}, StateKey: "numbers", State: []byte(`{"last":1}`), Shared: []byte(`{}`),
	}}
	out := source.NewOut(os.Stdout, source.FlowWire(bs), bs)
	if err := s.Read(context.Background(), source.Request{Bindings: bs, Range: protocol.FullRange, Stop: make(chan struct{})}, out); err != nil {
		panic(err)
	}
	// Output:
	// {"captured":{"binding":0,"doc":{"n":2}}}
	// {"checkpoint":{"state":{"updated":{"bindings":{"numbers":{"last":2}}},"mergePatch":true}}}
	// {"captured":{"binding":0,"doc":{"n":3}}}
	// {"checkpoint":{"state":{"updated":{"bindings":{"numbers":{"last":3}}},"mergePatch":true}}}
}
