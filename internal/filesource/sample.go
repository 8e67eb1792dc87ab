package filesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/jsonschema"
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

// sampled is the schema of the documents in a few files: the union of what each of them declares, or shows.
func (s *Source) sampled(ctx context.Context, bucket blob.Bucket) (protocol.Schema, error) {
	objects, err := s.firstPage(ctx, bucket)
	if err != nil {
		return protocol.Schema{}, err
	}
	limited, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	seen := newShape()
	files := min(sampleFiles, len(objects))
	for i := range files {
		o := objects[i*len(objects)/files]
		err := s.sample(limited, bucket, o, seen)
		switch {
		case ctx.Err() != nil:
			return protocol.Schema{}, ctx.Err()
		case limited.Err() != nil:
			log.Warnf("after %s discovery has looked into %d of %d files; advanced.sample turns this off", sampleTime, i, files)
		case err != nil:
			log.WithField("file", s.settings.name(o.Key)).Warnf("discovery passes over the rest of this file: %v", err)
		}
		if limited.Err() != nil {
			break
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

// sample takes one file into account: by what it declares of its records, as Avro, Parquet and Protobuf do, of which no record is read; else by its first
// documents.
func (s *Source) sample(ctx context.Context, bucket blob.Bucket, o blob.Object, seen *shape) error {
	info, err := bucket.Stat(ctx, o.Key)
	if err != nil {
		return err
	}
	config := s.settings.Parser
	var left atomic.Int64
	left.Store(sampleBytes)
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
	if err != nil {
		return withoutRation(err)
	}
	defer func() { _ = p.Close() }() // a sample is not read to its end
	if declared := p.JSONSchema(); declared != nil {
		var schema *jsonschema.Node
		if schema, err = jsonschema.Parse(declared); err == nil {
			seen.declare(schema)
		}
		return err
	}
	var doc []byte
	for range sampleDocuments {
		if doc, err = p.Next(doc[:0]); err != nil {
			break
		}
		seen.add(doc, 0)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, errEnough) && p.Stats().Documents > 0 {
		return nil
	}
	return withoutRation(err)
}

// withoutRation explains an end that came before anything was known of a file.
func withoutRation(err error) error {
	if errors.Is(err, errEnough) {
		return fmt.Errorf("neither a schema nor a document ends within %d bytes of it", sampleBytes)
	}
	return err
}

// rationed ends with errEnough when all the openings of a file together have read their ration.
type rationed struct {
	io.ReadCloser
	left *atomic.Int64 // decompression reads ahead in a goroutine of its own
}

func (r *rationed) Read(p []byte) (int, error) {
	left := r.left.Load()
	if left <= 0 {
		return 0, errEnough
	}
	n, err := r.ReadCloser.Read(p[:min(int64(len(p)), left)])
	r.left.Add(-int64(n))
	return n, err
}
