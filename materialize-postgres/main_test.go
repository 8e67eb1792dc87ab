package main

import (
	"testing"

	"github.com/estuary/connectors/internal/pgtest"
)

// servers are the PostgreSQL clusters of this package's tests: one per version.
var servers pgtest.Shared

func TestMain(m *testing.M) { servers.Run(m) }
