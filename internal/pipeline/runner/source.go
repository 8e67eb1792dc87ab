package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/estuary/connectors/internal/flow"
)

// version is what this runner calls the specifications that it sends.
const version = "pipeline"

// source is a running Flow source.
type source struct {
	*link
	p            *pipe
	spec         flow.SpecResponse
	acknowledges bool
}

// endWait is how long a connector may take to end after its output has ended.
const endWait = 15 * time.Second

// askSpec asks a connector what it is.
func askSpec(ctx context.Context, l *link) (flow.SpecResponse, error) {
	line, err := l.ask(ctx, flow.AppendSpecRequest(nil))
	if err != nil {
		return flow.SpecResponse{}, err
	}
	r, err := flow.DecodeSinkResponse(line)
	if err != nil || r.Spec == nil {
		return flow.SpecResponse{}, l.unexpected("its spec", line, err)
	}
	if r.Spec.Protocol != flow.Protocol {
		return flow.SpecResponse{}, fmt.Errorf("the %s %s speaks version %d of the protocol, this runner %d", l.side, l.name, r.Spec.Protocol, flow.Protocol)
	}
	return *r.Spec, nil
}

// offer lists what the source offers.
func (s *source) offer(ctx context.Context) ([]offered, error) {
	line, err := s.ask(ctx, flow.AppendDiscoverRequest(nil, s.p.file.Name, s.p.file.Source.Config))
	if err != nil {
		return nil, err
	}
	r, err := flow.DecodeCaptureResponse(line)
	if err != nil || r.Discovered == nil {
		return nil, s.unexpected("what it offers", line, err)
	}
	list := make([]offered, len(r.Discovered.Bindings))
	for i, b := range r.Discovered.Bindings {
		if list[i], err = offeredBy(b); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func offeredBy(b flow.DiscoveredBinding) (offered, error) {
	schema, ok := parseObject(b.Schema)
	if !ok {
		return offered{}, fmt.Errorf("the schema of stream %s is no object", b.RecommendedName)
	}
	o := offered{
		name: b.RecommendedName, path: b.ResourcePath, resource: b.Resource, schema: b.Schema, key: b.Key, fallback: b.IsFallbackKey,
		complete: !bytes.Equal(schema.get("x-infer-schema"), []byte("true")),
	}
	if namespace, name, ok := strings.Cut(b.RecommendedName, "/"); ok {
		o.namespace, o.name = namespace, name
	}
	if len(o.path) == 0 {
		o.path = []string{b.RecommendedName}
	}
	return o, nil
}

// task describes the capture.
func (s *source) task() flow.CaptureTask {
	t := flow.CaptureTask{Name: s.p.file.Name, Config: s.p.file.Source.Config}
	for _, r := range s.p.routes {
		t.Bindings = append(t.Bindings, r.capture)
	}
	return t
}

// validate lets the source check everything.
func (s *source) validate(ctx context.Context) error {
	t := s.task()
	line, err := s.ask(ctx, flow.AppendCaptureValidate(nil, t))
	if err != nil {
		return err
	}
	if r, err := flow.DecodeCaptureResponse(line); err != nil || r.Validated == nil || len(r.Validated.Bindings) != len(t.Bindings) {
		return s.unexpected("the answer to validate", line, err)
	}
	return nil
}

// prepare does nothing: open hands the position over.
func (*source) prepare() error { return nil }

func (s *source) open(ctx context.Context) (*feed, error) {
	t := s.task()
	line, err := s.ask(ctx, flow.AppendCaptureApply(nil, t, version))
	if err != nil {
		return nil, err
	}
	if r, err := flow.DecodeCaptureResponse(line); err != nil || r.Applied == nil {
		return nil, s.unexpected("the answer to apply", line, err)
	}
	if line, err = s.ask(ctx, flow.AppendCaptureOpen(nil, t, version, s.p.pos.Capture, s.p.tail)); err != nil {
		return nil, err
	}
	r, err := flow.DecodeCaptureResponse(line)
	if err != nil || r.Opened == nil {
		return nil, s.unexpected("opened", line, err)
	}
	s.acknowledges = r.Opened.ExplicitAcknowledgements
	return s.handOver(), nil
}

func (s *source) line(c *collector, line []byte) error {
	if binding, doc, lengths, ok := flow.ScanCaptured(line); ok {
		return c.add(binding, doc, lengths)
	}
	if patch, ok := flow.CheckpointPatch(line); ok {
		return s.checkpoint(c, &flow.StateUpdate{Updated: bytes.Clone(patch), MergePatch: true})
	}
	r, err := flow.DecodeCaptureResponse(line)
	switch {
	case err == nil && r.Captured != nil:
		return c.add(r.Captured.Binding, r.Captured.Doc, nil)
	case err == nil && r.Checkpoint != nil:
		return s.checkpoint(c, r.Checkpoint.State)
	case err == nil && r.SourcedSchema != nil:
		c.anything = true
		return c.schema(r.SourcedSchema.Binding, r.SourcedSchema.Schema)
	case err == nil && r.Reset != nil:
		return c.reset(*r.Reset)
	}
	return s.unexpected("captured or checkpoint", line, err)
}

func (s *source) checkpoint(c *collector, u *flow.StateUpdate) error {
	capture, err := fold(c.capture, u)
	if err != nil {
		return fmt.Errorf("reading a checkpoint of the source: %w", err)
	}
	c.checkpoint(capture)
	return nil
}

func (s *source) acknowledge(checkpoints uint32) {
	if checkpoints > 0 && s.acknowledges {
		_, _ = s.stdin.Write(flow.AppendCaptureAcknowledge(nil, checkpoints)) // that the source has ended is noticed where its output is read
	}
}

func (s *source) stop() { s.closeStdin() }

func (s *source) ended(c *collector, stopped bool) error {
	switch {
	case !s.wait(endWait):
		return errors.New("the source has closed its output and goes on running")
	case s.ending() != nil:
		return s.ending()
	case c.anything && !stopped:
		return errors.New("the source broke the protocol: it ended in the middle of a checkpoint")
	}
	return nil
}
