package filesource

import (
	"context"
	"math"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/source"
)

// Source is a file source over any bucket.
type Source struct {
	settings *Settings
	open     Opener
	limits   limits
	now      func() time.Time
	after    func(time.Duration) <-chan time.Time
}

var _ source.Source = (*Source)(nil)

// Opener opens the bucket. attempts is how often one request is sent until an answer comes; 0: as often as a run that is to last needs.
type Opener func(ctx context.Context, attempts int) (blob.Bucket, error)

// fewAttempts is for calls that somebody waits for.
const fewAttempts = 2

// New makes a source. open is called once in each of Check, Discover and Read.
func New(s *Settings, open Opener) *Source {
	l := defaultLimits()
	if _, local := s.Local(); local {
		l.large = math.MaxInt64 // a disk reads ahead by itself
	}
	return &Source{settings: s, open: open, limits: l, now: time.Now, after: time.After}
}

// Check looks whether the bucket can be listed and read, and whether the configured streams are what there is.
func (s *Source) Check(ctx context.Context, _ string, bs []protocol.Binding) error {
	for _, b := range bs {
		if p := s.strange(b); p != nil {
			return p
		}
	}
	bucket, err := s.open(ctx, fewAttempts)
	if err != nil {
		return err
	}
	if err := blob.Check(ctx, bucket, s.settings.Prefix); err != nil {
		return err
	}
	_, err = s.firstPage(ctx, bucket)
	return err
}

// Discover tells the one stream.
func (s *Source) Discover(ctx context.Context) ([]protocol.Stream, error) {
	bucket, err := s.open(ctx, fewAttempts)
	if err != nil {
		return nil, err
	}
	schema := baseSchema()
	if s.settings.Advanced.Sample {
		if schema, err = s.sampled(ctx, bucket); err != nil {
			return nil, err
		}
	} else if err := blob.Check(ctx, bucket, s.settings.Prefix); err != nil {
		return nil, err
	}
	stream, err := s.settings.stream(schema)
	return []protocol.Stream{stream}, err
}

// Close does nothing: a bucket holds no connection that somebody waits for.
func (s *Source) Close() error { return nil }

// strange is what is wrong with a binding that is not the stream that there is.
func (s *Source) strange(b protocol.Binding) *protocol.Problem {
	if name := s.settings.StreamName(); b.Stream.Name != name {
		return configProblem("the configured bucket and prefix have no stream "+b.Stream.Name, "read the stream "+name)
	}
	return nil
}

// Read sweeps over the bucket: once, or for ever.
func (s *Source) Read(ctx context.Context, req source.Request, out *source.Out) error {
	out.ProjectsItself()
	mine := -1
	for i, b := range req.Bindings {
		p := s.strange(b)
		if p == nil && mine >= 0 {
			p = configProblem("the stream "+b.Stream.Name+" is configured twice", "configure it once")
		}
		if p == nil {
			mine = i
			continue
		}
		if err := out.Fail(i, p); err != nil {
			return err
		}
	}
	if mine < 0 {
		log.Info("no stream of this bucket is configured, so there is nothing to read")
		return nil
	}
	bucket, err := s.open(ctx, 0)
	if err != nil {
		return err
	}
	r, err := s.newReader(bucket, req, out, mine)
	if err != nil {
		return err
	}
	return r.run(ctx)
}
