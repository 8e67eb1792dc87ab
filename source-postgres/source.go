package main

import (
	"context"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// postgres is the source. It holds no connection between calls.
type postgres struct {
	config *config
}

var _ source.Source = (*postgres)(nil)

func newSource(c config) (source.Source, error) { return &postgres{config: &c}, nil }

// Check looks for everything that would stop a read.
func (s *postgres) Check(ctx context.Context, task string, bs []protocol.Binding) error {
	return check(ctx, s.config, task, bs)
}

// Discover lists the tables that can be captured.
func (s *postgres) Discover(ctx context.Context) ([]protocol.Stream, error) {
	conn, err := s.config.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer closeQuietly(conn)
	if err := s.config.warnOfMisnamed(ctx, conn); err != nil {
		return nil, err
	}
	k, err := newCatalog(ctx, conn, s.config)
	if err != nil {
		return nil, err
	}
	return k.discover(ctx, sourceSchema())
}

// Close does nothing: every call has closed its own connections.
func (s *postgres) Close() error { return nil }

// memoryBytes bounds the connector's memory: the log that is read ahead (8 MiB of blocks, and about as much for the events made of it), a chunk's keys,
// the output's batches, the rows that are read again, and the runtime itself.
const memoryBytes = 112 << 20
