package filesource

import (
	"context"
	"errors"
	"io"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
)

// What discovery looks at. A schema from samples is a hint for those who make columns of it: reading never depends on it.
const (
	sampleFiles     = 10
	samplePage      = 1000 // objects among which they are spread
	sampleBytes     = 1 << 20
	sampleDocuments = 1000
	sampleTime      = 10 * time.Second
)

// sampled is the schema of the documents in a few files.
func (s *Source) sampled(ctx context.Context, bucket blob.Bucket) (protocol.Schema, error) {
	limited, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	objects, err := s.firstPage(ctx, bucket)
	if err != nil {
		return protocol.Schema{}, err
	}
	seen := newShape()
	for i := range min(sampleFiles, len(objects)) {
		o := objects[i*len(objects)/min(sampleFiles, len(objects))]
		if err := s.sample(limited, bucket, o, seen); err != nil && ctx.Err() != nil {
			return protocol.Schema{}, err
		} else if err != nil {
			log.WithField("file", s.settings.name(o.Key)).Warnf("the sample of this file ends early: %v", err)
		}
	}
	schema := baseSchema()
	for _, p := range seen.schema().Properties {
		if p.Name != "_meta" {
			schema.Properties = append(schema.Properties, p)
		}
	}
	return schema, nil
}

// firstPage lists objects that could be read, and warns when it is clear that there are none: that is seldom meant.
func (s *Source) firstPage(ctx context.Context, bucket blob.Bucket) (objects []blob.Object, err error) {
	listed := 0
	for o, err := range bucket.List(ctx, s.settings.Prefix, "") {
		if err != nil {
			return nil, err
		}
		if o.Size > 0 && !o.Archived && !o.Modified.Before(s.settings.earliest) && s.settings.wanted(o.Key) {
			objects = append(objects, o)
		}
		if listed++; listed >= samplePage {
			break
		}
	}
	switch {
	case listed == 0 && s.settings.Prefix != "":
		log.Warnf("there is nothing to read yet: no object's key begins with the prefix %q", s.settings.Prefix)
	case listed == 0:
		log.Warn("there is nothing to read yet: the bucket is empty")
	case len(objects) == 0 && listed < samplePage:
		log.Warnf("there is nothing to read yet: all %d objects are empty, archived, or left out by matchKeys, advanced.exclude or advanced.minimumModified", listed)
	}
	return objects, nil
}

// errEnough ends a sample.
var errEnough = errors.New("enough of the file was read")

func (s *Source) sample(ctx context.Context, bucket blob.Bucket, o blob.Object, seen *shape) error {
	info, err := bucket.Stat(ctx, o.Key)
	if err != nil {
		return err
	}
	config := s.settings.Parser
	left := int64(sampleBytes)
	p, err := parser.Open(ctx, &config, parser.Input{
		Name: s.settings.name(o.Key), ContentType: info.ContentType, ContentEncoding: info.ContentEncoding, Size: o.Size,
		Open: func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
			body, _, openErr := bucket.Open(ctx, o.Key, o.Version, off, n)
			if openErr != nil {
				return nil, openErr
			}
			return &rationed{ReadCloser: body, left: &left}, nil
		},
	}, parser.Cursor{})
	var doc []byte
	for n := 0; err == nil && n < sampleDocuments; n++ {
		if doc, err = p.Next(doc[:0]); err == nil {
			seen.add(doc, 0)
		}
	}
	if p != nil {
		_ = p.Close() // a sample is not read to its end
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// rationed ends with errEnough when all the openings of a file together have read their ration.
type rationed struct {
	io.ReadCloser
	left *int64
}

func (r *rationed) Read(p []byte) (int, error) {
	if *r.left <= 0 {
		return 0, errEnough
	}
	n, err := r.ReadCloser.Read(p[:min(int64(len(p)), *r.left)])
	*r.left -= int64(n)
	return n, err
}
