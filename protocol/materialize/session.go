package materialize

import (
	"context"
	"errors"
	"io"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol/config"
)

// session answers Flow's requests on stdin, one response each, until open takes over. It returns the exit code.
func (inv *invocation) session() (exit int) {
	defer func() {
		if r := recover(); r != nil {
			exit = refuse(command.Panicked(r))
		}
	}()
	in, exit := inv.Requests(inv.connector.usage)
	if in == nil {
		return exit
	}
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return refuse(err)
		}
		request, err := new(flow.SinkDecoder).Decode(line)
		if err == nil && request.Open != nil {
			err = inv.materialize(in, request.Open)
			if err == nil {
				return 0
			}
		} else if err == nil {
			err = inv.answer(request)
		}
		if err != nil {
			return refuse(err)
		}
	}
}

// refuse logs the reason and returns the exit code.
func refuse(err error) int {
	fields := logrus.Fields{}
	if _, ok := errors.AsType[*FencedError](err); ok {
		fields["class"] = "fenced"
	}
	return command.RefuseWith(err, fields)
}

func (inv *invocation) answer(r flow.SinkRequest) error {
	switch {
	case r.Spec != nil:
		return inv.Print(flow.AppendSinkSpec(nil, flow.Spec{
			ConfigSchema: inv.connector.configSchema(config.Flow), ResourceConfigSchema: inv.connector.resourceSchema(), DocumentationURL: inv.connector.docs,
		}))
	case r.Validate != nil:
		return inv.validate(r.Validate)
	case r.Apply != nil:
		return inv.apply(r.Apply)
	}
	return inv.unexpected(r, "no materialization is open, so that spec, validate, apply or open must come")
}

// apply makes the destination agree with the materialization.
func (inv *invocation) apply(a *flow.SinkApply) (err error) {
	m, err := inv.openConfig(a.Materialization.Config)
	if err != nil {
		return err
	}
	defer closeInto(m, &err)
	to, err := inv.bindings(a.Materialization.Bindings)
	if err != nil {
		return err
	}
	var from []Binding
	if a.Last != nil {
		from = lastBindings(a.Last)
	}
	ctx := context.Background()
	paths := make([][]string, len(to))
	for i := range to {
		paths[i] = to[i].ResourcePath
	}
	if err := checkNeighbours(ctx, m, a.Materialization.Name, paths); err != nil {
		return err
	}
	plan, err := m.Apply(ctx, from, to, a.State)
	if err != nil {
		return err
	}
	if err := plan.Run(ctx); err != nil {
		return err
	}
	return inv.Print(flow.AppendSinkApplied(nil, describe(plan)))
}
