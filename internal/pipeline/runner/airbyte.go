package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
)

// airbyteSource is a source that is not ours: it is spoken to by its command line, and its STATEs are the position. It hears no acknowledgements.
type airbyteSource struct {
	p       *pipe
	dir     string // of its input files; removed at the end
	streams []rawStream
	run     *child // of read; nil: it does not run
	feed    *feed

	bound  map[airbyte.Descriptor]int
	states airbyteState
	said   string // its last TRACE ERROR
}

// rawStream is what a source says of a stream.
type rawStream struct {
	raw  json.RawMessage
	wire struct {
		Name      string          `json:"name"`
		Namespace string          `json:"namespace"`
		Schema    json.RawMessage `json:"json_schema"`
		Modes     []string        `json:"supported_sync_modes"`
		OwnCursor bool            `json:"source_defined_cursor"`
		Cursor    []string        `json:"default_cursor_field"`
		Key       [][]string      `json:"source_defined_primary_key"`
	}
}

// openAirbyte prepares a source that speaks the Airbyte protocol, whose spec says what in its configuration is secret.
func (p *pipe) openAirbyte(ctx context.Context) (*airbyteSource, error) {
	dir, err := os.MkdirTemp("", "pipeline-source-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the source's inputs: %w", err)
	}
	s := &airbyteSource{p: p, dir: dir, bound: map[airbyte.Descriptor]int{}}
	var answer struct {
		Spec struct {
			Schema json.RawMessage `json:"connectionSpecification"`
		} `json:"spec"`
	}
	if err = s.command(ctx, "SPEC", &answer, "spec"); err == nil {
		err = p.learnSecrets(answer.Spec.Schema, p.file.Source.Config)
	}
	if err == nil {
		err = s.input("config", p.file.Source.Config)
	}
	if err != nil {
		s.end(0)
		return nil, err
	}
	return s, nil
}

func (s *airbyteSource) input(name string, content []byte) error {
	if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
		return fmt.Errorf("writing an input of the source: %w", err)
	}
	return nil
}

func (s *airbyteSource) path(name string) string { return filepath.Join(s.dir, name+".json") }

// command runs one of the source's commands until it has given the message that is wanted.
func (s *airbyteSource) command(ctx context.Context, wanted string, into any, args ...string) error {
	c, err := start(s.p.file.Source.Name, args, &relay{side: sourceSide})
	if err != nil {
		return err
	}
	l := &link{child: c, feed: newFeed(c.stdout)}
	c.closeStdin()
	defer l.end(0)
	for {
		line, err := l.line(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			if c.wait(endWait) && s.said != "" {
				return errors.New("the source said: " + s.said)
			}
			return l.failure(fmt.Errorf("its %s gives no %s: %w", args[0], wanted, err))
		}
		if s.pass(line) == wanted {
			if err := json.Unmarshal(line, into); err != nil {
				return fmt.Errorf("reading the %s of the source: %w", wanted, err)
			}
			return nil
		}
	}
}

// pass hands what the source logs on, and returns the type of a message; empty: it is none.
func (s *airbyteSource) pass(line []byte) string {
	var m struct {
		Type string `json:"type"`
		Log  struct {
			Level   string `json:"level"`
			Message string `json:"message"`
		} `json:"log"`
		Trace struct {
			Type  string `json:"type"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"trace"`
	}
	log := logrus.WithField("side", sourceSide)
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		log.Debug(string(line))
	case m.Type == "LOG":
		level, err := logrus.ParseLevel(m.Log.Level)
		if err != nil {
			level = logrus.InfoLevel
		}
		log.Log(max(level, logrus.ErrorLevel), m.Log.Message)
	case m.Type == "TRACE" && m.Trace.Type == "ERROR":
		s.said = m.Trace.Error.Message
		log.Error(s.said)
	}
	return m.Type
}

func (s *airbyteSource) offer(ctx context.Context) ([]offered, error) {
	var answer struct {
		Catalog struct {
			Streams []json.RawMessage `json:"streams"`
		} `json:"catalog"`
	}
	if err := s.command(ctx, "CATALOG", &answer, "discover", "--config", s.path("config")); err != nil {
		return nil, err
	}
	var list []offered
	s.streams = nil
	for _, raw := range answer.Catalog.Streams {
		r := rawStream{raw: raw}
		if err := json.Unmarshal(raw, &r.wire); err != nil {
			return nil, fmt.Errorf("reading the catalog of the source: %w", err)
		}
		o := offered{name: r.wire.Name, namespace: r.wire.Namespace, schema: r.wire.Schema, path: []string{r.wire.Name}}
		if o.namespace != "" {
			o.path = []string{o.namespace, o.name}
		}
		for _, path := range r.wire.Key {
			pointer := ""
			for _, name := range path {
				pointer += "/" + protocol.EscapePointer(name)
			}
			if pointer != "" {
				o.key = append(o.key, pointer)
			}
		}
		list, s.streams = append(list, o), append(s.streams, r)
	}
	return list, nil
}

func (s *airbyteSource) validate(ctx context.Context) error {
	var answer struct {
		Status struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"connectionStatus"`
	}
	if err := s.command(ctx, "CONNECTION_STATUS", &answer, "check", "--config", s.path("config")); err != nil {
		return err
	}
	if answer.Status.Status != "SUCCEEDED" {
		return &protocol.Problem{Kind: protocol.Config, Summary: "the source's check failed", Fix: answer.Status.Message}
	}
	return nil
}

func (s *airbyteSource) open(context.Context) (*feed, error) {
	catalog, err := s.catalog()
	if err != nil {
		return nil, err
	}
	state, err := s.stateFile()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.input("catalog", catalog), s.input("state", state)); err != nil {
		return nil, err
	}
	c, err := start(s.p.file.Source.Name, []string{"read", "--config", s.path("config"), "--catalog", s.path("catalog"), "--state", s.path("state")}, &relay{side: sourceSide})
	if err != nil {
		return nil, err
	}
	c.closeStdin()
	s.run, s.feed = c, newFeed(c.stdout)
	return s.feed, nil
}

// catalog is the configured catalog of the routes.
func (s *airbyteSource) catalog() ([]byte, error) {
	type configured struct {
		Stream      json.RawMessage `json:"stream"`
		Mode        string          `json:"sync_mode"`
		Destination string          `json:"destination_sync_mode"`
		Cursor      []string        `json:"cursor_field,omitempty"`
		Key         [][]string      `json:"primary_key,omitempty"`
	}
	var list []configured
	for _, route := range s.p.routes {
		i := slices.IndexFunc(s.streams, func(r rawStream) bool { return r.wire.Name == route.name && r.wire.Namespace == route.namespace })
		r := s.streams[i] // a route is of an offered stream
		c := configured{Stream: r.raw, Mode: "full_refresh", Destination: "append_dedup", Cursor: r.wire.Cursor}
		if slices.Contains(r.wire.Modes, "incremental") {
			c.Mode = "incremental"
		}
		if route.sink.DeltaUpdates {
			c.Destination = "append"
		}
		for _, pointer := range route.key() {
			c.Key = append(c.Key, strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
		}
		list = append(list, c)
	}
	return json.Marshal(struct {
		Streams []configured `json:"streams"`
	}{list})
}

func (s *airbyteSource) line(c *collector, line []byte) error {
	line = bytes.TrimLeft(line, " \t") // JSON may be indented: a record that was taken for talk would be lost
	m, err := airbyte.DecodeMessage(line)
	switch {
	case err == nil:
	case airbyte.IsTalk(line, err):
		logrus.WithField("side", sourceSide).Info(string(line))
		return nil
	default:
		return fmt.Errorf("the source printed a line that is broken, or not as the protocol has it; it starts with %.80q: %w", line, err)
	}
	switch m.Type {
	case airbyte.RecordMessage:
		i, err := s.binding(string(m.Stream), string(m.Namespace))
		if err != nil {
			return err
		}
		return c.add(i, m.Data, nil)
	case airbyte.StateMessage:
		return s.state(c, &m.State)
	case airbyte.TraceMessage:
		s.pass(line)
		if m.Status != airbyte.Complete {
			return nil
		}
		i, err := s.binding(string(m.Stream), string(m.Namespace))
		if err != nil {
			return err
		}
		return s.seal(c, []int{i}) // a full refresh has no position; what it has read is whole now
	case airbyte.LogMessage:
	}
	s.pass(line)
	return nil
}

// binding finds the stream of a message. One without a namespace is the only one of its name.
func (s *airbyteSource) binding(name, namespace string) (int, error) {
	if i, ok := s.bound[airbyte.Descriptor{Name: name, Namespace: namespace}]; ok {
		return i, nil
	}
	found := -1
	for d, i := range s.bound {
		if namespace == "" && d.Name == name && found < 0 {
			found = i
		} else if namespace == "" && d.Name == name {
			return 0, fmt.Errorf("the source names the stream %s without its namespace, and there are several of that name", name)
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("the source sent something of the stream %s, which was not asked for", airbyte.Descriptor{Name: name, Namespace: namespace})
	}
	return found, nil
}

func (*airbyteSource) acknowledge(uint32) {}

func (s *airbyteSource) stop() {
	if s.run != nil {
		_ = s.run.cmd.Process.Signal(syscall.SIGTERM) // that it has ended already is no error
	}
}

// ended commits what came after the last STATE of a source that ended well: not all sources tell that a stream is complete.
func (s *airbyteSource) ended(c *collector, stopped bool) error {
	if !s.run.wait(endWait) {
		return errors.New("the source has closed its output and goes on running")
	}
	err := s.run.ending()
	switch {
	case err != nil && s.said != "":
		return errors.New("the source ended: " + s.said)
	case err != nil || stopped:
		return err
	}
	return s.seal(c, nil)
}

func (s *airbyteSource) end(time.Duration) {
	if s.run != nil {
		s.run.kill()
		s.feed.close()
		s.run.end(0)
		s.run = nil
	}
	_ = os.RemoveAll(s.dir) // only input files
}
