package main

import (
	"errors"
	"fmt"

	"github.com/estuary/connectors/protocol"
)

// explain says what an error of making the client means. What S3 answers is explained where the requests are made, internal/blob/s3blob.
func (c *config) explain(err error) error {
	if _, told := errors.AsType[*protocol.Problem](err); told {
		return err
	}
	return fmt.Errorf("connecting to bucket %s: %w", c.Bucket, err)
}
