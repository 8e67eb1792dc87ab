package source

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// read is the command of that name.
func (inv *invocation) read() (int, error) {
	s, err := inv.open()
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	req, wire, err := inv.request(ctx, s)
	if err != nil {
		return 0, errors.Join(err, s.Close())
	}
	out := NewOut(inv.Stdout, wire, req.Bindings)
	out.redact, out.now = inv.Secrets.Redact, inv.Now
	if err := out.start(); err != nil {
		return 0, errors.Join(err, s.Close())
	}
	inv.Graceful()
	err = inv.readTo(ctx, s, req, out)
	return inv.conclude(out, err), nil
}

// request says what to read, from --catalog or --streams, and how to write it.
func (inv *invocation) request(ctx context.Context, s Source) (req Request, wire Wire, err error) {
	req = Request{Range: protocol.FullRange, Stop: inv.Stop(), KeepsTail: true}
	extended := false
	switch {
	case inv.args.Catalog != nil && inv.args.Streams != nil:
		return req, nil, errBothSelections()
	case inv.args.Catalog == nil && inv.args.Streams == nil:
		return req, nil, command.Problem("neither --catalog nor --streams is given", "name what to read with --catalog FILE or --streams GLOBS")
	case inv.args.Catalog != nil && inv.args.Tail:
		return req, nil, command.Problem("--tail goes with --streams only", `with a catalog, write "estuary.dev/tail":true into it`)
	case inv.args.Streams != nil:
		req.Tail = inv.args.Tail
		req.Bindings, err = inv.matchStreams(ctx, s)
	default:
		var c airbyte.Catalog
		c, err = inv.catalog()
		req.Bindings, req.Tail, req.Range, extended = catalogBindings(c), c.Tail, c.Range, c.Extended
	}
	if err != nil {
		return req, nil, err
	}
	from, err := inv.givenState(req.Bindings)
	if err != nil {
		return req, nil, err
	}
	if extended {
		return req, newExtendedWire(req.Bindings, from), nil
	}
	return req, AirbyteWire(req.Bindings), nil
}

func errBothSelections() error {
	return command.Problem("--catalog and --streams are both given", "give only one of them")
}

func (inv *invocation) catalog() (airbyte.Catalog, error) {
	raw, err := command.ReadInput("catalog", inv.args.Catalog)
	if err != nil {
		return airbyte.Catalog{}, err
	}
	return airbyte.DecodeCatalog(raw)
}

// givenState hands the bindings what --state holds.
func (inv *invocation) givenState(bs []protocol.Binding) (base, error) {
	if inv.args.State == nil {
		return base{}, nil
	}
	raw, err := command.ReadInput("state", inv.args.State)
	if err != nil {
		return base{}, err
	}
	state, err := airbyte.DecodeState(raw)
	if err != nil {
		return base{}, err
	}
	return giveState(bs, state)
}

// readTo runs the source's Read and closes it. A panic is an error like another.
func (inv *invocation) readTo(ctx context.Context, s Source, req Request, out *Out) (err error) {
	done := make(chan struct{})
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		out.keepAlive(done)
	}()
	defer func() {
		if r := recover(); r != nil {
			err = command.Panicked(r)
		}
		close(done)
		<-beating
	}()
	defer command.CloseInto(s, "the source", &err)
	return s.Read(ctx, req, out)
}

// conclude writes the end of a read and returns the exit code.
func (inv *invocation) conclude(out *Out, err error) int {
	failed := out.finish(err, !inv.Stopped())
	switch gone := out.gone(); {
	case errors.Is(gone, syscall.EPIPE):
		return 0 // nobody is left to tell
	case gone != nil:
		fmt.Fprintln(inv.Stderr, gone)
		return 1
	case err != nil || failed > 0:
		return 1
	}
	return 0
}
