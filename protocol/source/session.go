package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/flow"
	"github.com/estuary/connectors/protocol/config"
)

// session answers Flow's requests on stdin, one response each, until open takes over. It returns the exit code.
func (inv *invocation) session() (exit int) {
	defer func() {
		if r := recover(); r != nil {
			exit = inv.refuse(panicked(r))
		}
	}()
	in := bufio.NewReader(inv.stdin)
	first, err := in.Peek(1)
	switch {
	case inv.stdinTerminal || errors.Is(err, io.EOF):
		usage(inv.stderr, inv.connector.name, inv.connector.title, inv.connector.docs)
		return 2
	case err == nil && first[0] != '{':
		fmt.Fprintln(inv.stderr, "stdin must hold Flow requests as JSON, one object a line, but it does not begin with {.")
		return 2
	}
	for {
		request, err := nextRequest(in)
		switch {
		case errors.Is(err, io.EOF):
			return 0
		case err != nil:
			return inv.refuse(err)
		case request.Open != nil:
			return inv.capture(in, request.Open)
		}
		if err := inv.answer(request); err != nil {
			return inv.refuse(err)
		}
	}
}

// nextRequest reads a line. A last line without a newline counts when it is whole.
func nextRequest(in *bufio.Reader) (flow.Request, error) {
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) == 0 && err == nil {
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("reading stdin: %w", err)
			}
			return flow.Request{}, err
		}
		return flow.DecodeRequest(line)
	}
}

func (inv *invocation) answer(r flow.Request) error {
	switch {
	case r.Spec != nil:
		return inv.print(flow.AppendSpec(nil, flow.Spec{
			ConfigSchema: inv.connector.configSchema(config.Flow), ResourceConfigSchema: inv.connector.resourceSchema(),
			DocumentationURL: inv.connector.docs, ResourcePathPointers: inv.connector.path,
		}))
	case r.Discover != nil:
		return inv.flowDiscover(r.Discover)
	case r.Validate != nil:
		return inv.flowValidate(r.Validate)
	case r.Apply != nil:
		return inv.print(flow.AppendApplied(nil))
	case r.Acknowledge != nil:
		return errors.New("the runner acknowledges a checkpoint, but no capture is open")
	}
	return errors.New("the runner sent a request that is none of spec, discover, validate, apply and open")
}

// refuse logs the reason and returns the exit code: the protocol has no response for errors.
func (inv *invocation) refuse(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return 0
	}
	entry := logrus.NewEntry(logrus.StandardLogger())
	if cause := internal(err); cause != "" {
		entry = entry.WithField("cause", cause)
	}
	entry.Error(message(err))
	return 1
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
	return inv.print(flow.AppendDiscovered(nil, streams, paths))
}

// flowValidate runs the check: Flow has no other place for it.
func (inv *invocation) flowValidate(v *flow.Validate) (err error) {
	s, err := inv.openConfig(v.Config)
	if err != nil {
		return err
	}
	defer closeInto(s, &err)
	bs, err := inv.flowBindings(v.Bindings)
	if err != nil {
		return err
	}
	if err := s.Check(context.Background(), bs); err != nil {
		return err
	}
	paths := make([][]string, len(bs))
	for i, b := range bs {
		if paths[i], err = resourcePath(b.Resource, inv.connector.path); err != nil {
			return err
		}
	}
	return inv.print(flow.AppendValidated(nil, paths))
}
