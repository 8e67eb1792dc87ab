package source

import (
	"context"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

func (inv *invocation) discover() (exit int, err error) {
	s, err := inv.open()
	if err != nil {
		return 0, err
	}
	streams, err := discoverAll(s)
	if err == nil && inv.args.Streams != nil {
		streams, err = selectStreams(streams, *inv.args.Streams)
	}
	if err != nil {
		return 0, err
	}
	if inv.args.Configured {
		return 0, inv.Print(airbyte.AppendConfigured(nil, streams))
	}
	return 0, inv.Print(airbyte.AppendCatalog(nil, streams))
}

// discoverAll lists the streams and closes the source.
func discoverAll(s Source) (streams []protocol.Stream, err error) {
	defer command.CloseInto(s, "the source", &err)
	return s.Discover(context.Background())
}

// matchStreams makes bindings of the discovered streams that --streams names.
func (inv *invocation) matchStreams(ctx context.Context, s Source) ([]protocol.Binding, error) {
	streams, err := s.Discover(ctx)
	if err != nil {
		return nil, err
	}
	streams, err = selectStreams(streams, *inv.args.Streams)
	return streamBindings(streams), err
}
