package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/wire"
)

// settings are the connector's configuration.
type settings struct {
	Address  string   `json:"address"`
	User     string   `json:"user"`
	Password string   `json:"password"`
	Database string   `json:"database"`
	Advanced advanced `json:"advanced"`
}

type advanced struct {
	SlotName        string `json:"slotName"`
	PublicationName string `json:"publicationName"`
	ChunkSize       int    `json:"backfill_chunk_size"`
	SSLMode         string `json:"sslmode"`
}

func sourceSettings(b *bench, database, slot string) settings {
	return settings{
		Address: b.cluster.Addr(), User: pgtest.User, Password: pgtest.Password, Database: database,
		Advanced: advanced{SlotName: slot, PublicationName: publication, ChunkSize: b.chunk, SSLMode: "disable"},
	}
}

// subject is source-postgres on one database, with its input files.
type subject struct {
	b        *bench
	database string
	dir      string
	state    string // file of the state to read from; "": from the start
}

// newSubject writes the connector's files; the caller must remove them by close.
func (b *bench) newSubject(ctx context.Context, database string) (s *subject, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the connector's inputs: %w", err)
	}
	s = &subject{b: b, database: database, dir: dir}
	config, err := json.Marshal(sourceSettings(b, database, slot))
	if err == nil {
		err = os.WriteFile(s.file("config"), config, 0o600)
	}
	if err == nil {
		err = s.discover(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the connector: %w", err), s.close())
	}
	return s, nil
}

func (s *subject) close() error { return os.RemoveAll(s.dir) }

func (s *subject) file(name string) string { return filepath.Join(s.dir, name+".json") }

func (s *subject) discover(ctx context.Context) error {
	var catalog []byte
	lines := &splitter{line: func(line []byte) error {
		var c struct{ Streams []json.RawMessage }
		if json.Unmarshal(line, &c) == nil && len(c.Streams) > 0 { // log lines may be there, too
			catalog = append([]byte(nil), line...)
		}
		return nil
	}}
	if _, err := execute(ctx, s.b.built.source, []string{"discover", "--configured", "--config", s.file("config")}, nil, lines); err != nil {
		return err
	}
	if catalog == nil {
		return errors.New("discovering the table: no catalog was printed")
	}
	return os.WriteFile(s.file("catalog"), catalog, 0o600)
}

// read runs the connector to its end.
func (s *subject) read(ctx context.Context, sink io.Writer) (usage, error) {
	args := []string{"read", "--config", s.file("config"), "--catalog", s.file("catalog")}
	if s.state != "" {
		args = append(args, "--state", s.state)
	}
	return execute(ctx, s.b.built.source, args, nil, sink)
}

// keepState makes the last STATE of a run the one that the next runs read from.
func (s *subject) keepState(last *wire.State) error {
	if last == nil {
		return errors.New("keeping the last STATE: none was printed")
	}
	file := append(append([]byte("["), last.Raw...), ']')
	if err := os.WriteFile(s.file("state"), file, 0o600); err != nil {
		return fmt.Errorf("keeping the last STATE: %w", err)
	}
	s.state = s.file("state")
	return nil
}
