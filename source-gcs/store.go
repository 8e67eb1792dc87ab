package main

import (
	"context"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/fileblob"
	"github.com/estuary/connectors/internal/blob/gcsblob"
	"github.com/estuary/connectors/internal/filesource"
	"github.com/estuary/connectors/protocol/source"
)

func newSource(c config) (source.Source, error) {
	settings, err := filesource.NewSettings(c.Place, c.Reading)
	if err != nil {
		return nil, err
	}
	credentials, err := c.login()
	if err != nil {
		return nil, err
	}
	return filesource.New(settings, func(ctx context.Context, attempts int) (blob.Bucket, error) {
		if dir, ok := settings.Local(); ok {
			return fileblob.Open(dir, log.NewEntry(log.StandardLogger()))
		}
		bucket, err := gcsblob.Open(ctx, gcsblob.Config{
			Bucket: settings.Bucket, Endpoint: settings.Advanced.Endpoint, Credentials: credentials, RequesterPays: settings.Advanced.RequesterPays, Attempts: attempts,
		})
		if err != nil {
			return nil, c.explain(err)
		}
		return bucket, nil
	}), nil
}
