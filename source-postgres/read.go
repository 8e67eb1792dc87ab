package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/keyrange"
	"github.com/estuary/connectors/internal/pgwire"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
	"github.com/estuary/connectors/sqlcapture"
)

// Read captures; the engine decides what happens when, and asks the parts here.
func (s *postgres) Read(ctx context.Context, req source.Request, out *source.Out) error {
	session, err := openSession(ctx, s.config)
	if err != nil {
		return err
	}
	defer session.close()
	if why := idle(req.Bindings, req.Range); why != "" {
		log.Info(why)
	}
	if err := s.config.warnOfMisnamed(ctx, session.conn); err != nil {
		return err
	}
	if session.system, err = systemIdentifier(ctx, s.config); err != nil {
		return err
	}
	resumes := slices.ContainsFunc(req.Bindings, func(b protocol.Binding) bool { return len(b.State) > 0 })
	base, err := slotBase(ctx, session.conn, s.config, req.Task, req.Range, resumes)
	if err != nil {
		return err
	}
	slot := newSlot(session.conn, s.config, base, req.Range)
	scanner := &scanner{session: session}
	defer scanner.close()
	db := sqlcapture.Database{
		Catalog: session.catalog,
		Scanner: scanner,
		Opener:  &opener{session: session, slot: slot},
		Source:  newSourceEncoder(s.config.Advanced.SourceTag),
		Filler:  scanner,
		Barrier: session,
		Monitor: monitor{session, slot.name},
		ParsePosition: func(raw json.RawMessage) (sqlcapture.Position, error) {
			return parsePosition(raw, session.system)
		},
	}
	return sqlcapture.Run(ctx, db, s.config.options(), req, out)
}

// idle says why there is nothing to read, which would else look like a capture that has caught up; empty: there is something.
func idle(bs []protocol.Binding, r protocol.Range) string {
	if len(bs) == 0 {
		return "no stream is configured, so there is nothing to read"
	}
	for _, b := range bs {
		if keyrange.Owns(r, tableOf(b).String()) {
			return ""
		}
	}
	return fmt.Sprintf("none of the %d configured tables belongs to the range of this process (%08x to %08x), so there is nothing to read", len(bs), r.Begin, r.End)
}

// options are the engine's settings in the configuration.
func (c *config) options() sqlcapture.Options {
	a := c.Advanced
	return sqlcapture.Options{
		Table:           tableOf,
		ChunkRows:       a.BackfillChunkSize,
		OnGap:           sqlcapture.Choice(a.OnGap),
		OnTruncate:      sqlcapture.Choice(a.OnTruncate),
		OnRewrite:       sqlcapture.Choice(a.OnRewrite),
		SkipBackfill:    func(t sqlcapture.TableName) bool { return c.skipsBackfill(t.Schema, t.Name) },
		Rediscover:      a.RediscoveryInterval,
		MaxRuntime:      a.MaxRuntime,
		MaxUnackedBytes: a.MaxUnackedBytes,
	}
}

// monitor looks after the slot.
type monitor struct {
	session *session
	slot    string
}

// Report logs the lag.
func (m monitor) Report(ctx context.Context, at sqlcapture.Position) {
	m.session.report(ctx, m.slot, at.(position).lsn) //nolint:forcetypeassert // every position of this source is one
}

// systemIdentifier tells clusters apart. A replication command returns it to everybody who may replicate; the SQL function needs more rights.
func systemIdentifier(ctx context.Context, c *config) (string, error) {
	settings, err := c.pgConfig(true)
	if err != nil {
		return "", err
	}
	conn, err := pgwire.Connect(ctx, settings)
	if err != nil {
		return "", c.explain("connecting for replication", err)
	}
	defer func() { _ = conn.Close() }() // nothing depends on a polite end
	results, err := conn.Exec(ctx, "IDENTIFY_SYSTEM")
	if err != nil {
		return "", c.explain("identifying the server", err)
	}
	return field(results, "systemid")
}
