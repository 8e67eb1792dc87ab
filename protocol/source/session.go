package source

import (
	"context"
	"errors"
	"io"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol/config"
)

// session answers Flow's requests on stdin, one response each, until open takes over. It returns the exit code.
func (inv *invocation) session() (exit int) {
	defer func() {
		if r := recover(); r != nil {
			exit = command.Refuse(command.Panicked(r))
		}
	}()
	in, exit := inv.Requests(inv.connector.usage)
	if in == nil {
		return exit
	}
	for {
		request, err := nextRequest(in)
		switch {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return command.Refuse(err)
		case request.Open != nil:
			return inv.capture(in, request.Open)
		}
		if err := inv.answer(request); err != nil {
			return command.Refuse(err)
		}
	}
}

// nextRequest reads a line. A last line without a newline counts when it is whole.
func nextRequest(in *command.LineReader) (flow.Request, error) {
	line, err := in.Next()
	if err != nil {
		return flow.Request{}, err
	}
	return flow.DecodeRequest(line)
}

func (inv *invocation) answer(r flow.Request) error {
	switch {
	case r.Spec != nil:
		return inv.Print(flow.AppendSpec(nil, flow.Spec{
			ConfigSchema: inv.connector.configSchema(config.Flow), ResourceConfigSchema: inv.connector.resourceSchema(),
			DocumentationURL: inv.connector.docs, ResourcePathPointers: inv.connector.path,
		}))
	case r.Discover != nil:
		return inv.flowDiscover(r.Discover)
	case r.Validate != nil:
		return inv.flowValidate(r.Validate)
	case r.Apply != nil:
		return inv.Print(flow.AppendApplied(nil))
	case r.Acknowledge != nil:
		return errors.New("the runner acknowledges a checkpoint, but no capture is open")
	}
	return errors.New("the runner sent a request that is none of spec, discover, validate, apply and open")
}

func (inv *invocation) flowDiscover(d *flow.Discover) error {
	s, err := inv.openConfig(d.Config)
	if err != nil {
		return err
	}
	streams, err := discoverAll(s)
	if err != nil {
		return err
	}
	paths := make([][]string, len(streams))
	for i, stream := range streams {
		if paths[i], err = resourcePath(stream.Resource, inv.connector.path); err != nil {
			return err
		}
	}
	return inv.Print(flow.AppendDiscovered(nil, streams, paths))
}

// flowValidate runs the check: Flow has no other place for it.
func (inv *invocation) flowValidate(v *flow.Validate) (err error) {
	s, err := inv.openConfig(v.Config)
	if err != nil {
		return err
	}
	defer command.CloseInto(s, "the source", &err)
	bs, err := inv.flowBindings(v.Bindings)
	if err != nil {
		return err
	}
	if err := s.Check(context.Background(), v.Name, bs); err != nil {
		return err
	}
	paths := make([][]string, len(bs))
	for i, b := range bs {
		if paths[i], err = resourcePath(b.Resource, inv.connector.path); err != nil {
			return err
		}
	}
	return inv.Print(flow.AppendValidated(nil, paths))
}
