package main

import (
	"context"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/fileblob"
	"github.com/estuary/connectors/internal/blob/s3blob"
	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/protocol/source"
)

func newSource(c config) (source.Source, error) {
	settings, err := filesource.NewSettings(c.Place, c.Reading)
	if err != nil {
		return nil, err
	}
	return filesource.New(settings, func(ctx context.Context, attempts int) (blob.Bucket, error) {
		if dir, ok := settings.Local(); ok {
			return fileblob.Open(dir, log.NewEntry(log.StandardLogger()))
		}
		bucket, err := s3blob.Open(ctx, s3blob.Config{
			Bucket: settings.Bucket, Region: c.Region, Endpoint: settings.Advanced.Endpoint, Credentials: c.login(), RequesterPays: settings.Advanced.RequesterPays, Attempts: attempts,
		})
		if err != nil {
			return nil, c.explain(err)
		}
		return bucket, nil
	}), nil
}
