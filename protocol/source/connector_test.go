package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
)

// TestMain lets a test start this binary as a connector: only a process shows signals, pipes and exit codes.
func TestMain(m *testing.M) {
	if os.Getenv("BE_A_CONNECTOR") == "1" {
		Main(counterConnector())
	}
	os.Exit(m.Run())
}

// counterConfig is the config of a source that counts.
type counterConfig struct {
	Rows     int    `json:"rows" title:"Rows" doc:"How far each stream counts." default:"5"`
	Chunk    int    `json:"chunk" title:"Chunk" doc:"Records between checkpoints." default:"2"`
	Password string `json:"password,omitempty" title:"Password" doc:"Shown nowhere." secret:"true"`
	Mood     string `json:"mood" title:"Mood" doc:"What goes wrong." default:"good" enum:"good,panic,panic in new,transient,refused,two problems,unsure,flood,deaf"`
}

type counterResource struct {
	Namespace string `json:"namespace,omitempty" title:"Namespace" doc:"Group of the stream."`
	Stream    string `json:"stream" title:"Stream" doc:"Name of the stream."`
}

func counterConnector() Connector[counterConfig, counterResource] {
	return Connector[counterConfig, counterResource]{
		Name: "source-counter", Title: "a counter", Version: "1.2.3", DocsURL: "https://example.com/counter",
		ResourcePath: []string{"/namespace", "/stream"}, MemoryBytes: 256 << 20,
		New: func(c counterConfig) (Source, error) {
			if c.Mood == "panic in new" {
				panic("no way, says " + c.Password)
			}
			return &counter{c}, nil
		},
	}
}

type counter struct{ config counterConfig }

func (c *counter) Close() error { return nil }

func (c *counter) Check(_ context.Context, task string, bs []protocol.Binding) error {
	log := logrus.WithField("bindings", len(bs))
	if task != "" {
		log = log.WithField("task", task)
	}
	log.Info("checking as " + c.config.Password)
	switch c.config.Mood {
	case "panic":
		panic("no way")
	case "deaf":
		select {}
	case "refused":
		return &protocol.Problem{Kind: protocol.Config, Summary: "password " + c.config.Password + " is wrong", Fix: "ask for another"}
	case "two problems":
		return errors.Join(
			&protocol.Problem{Kind: protocol.Config, Summary: "user counter may not count", Fix: "grant it", SQL: "GRANT COUNT ON ALL TO counter"},
			&protocol.Problem{Kind: protocol.Transient, Summary: "the server restarts"},
		)
	case "unsure":
		return fmt.Errorf("asking %s: it does not answer", c.config.Password)
	}
	return nil
}

func (c *counter) Discover(context.Context) ([]protocol.Stream, error) {
	if c.config.Mood == "transient" {
		return nil, &protocol.Problem{Kind: protocol.Transient, Summary: "the server restarts, says " + c.config.Password}
	}
	var list []protocol.Stream
	for _, name := range []string{"ones", "twos"} {
		s := protocol.Stream{
			Name: name, Namespace: "public", RecommendedName: "public/" + name, Incremental: true,
			Resource: json.RawMessage(`{"namespace":"public","stream":"` + name + `"}`),
			Schema: protocol.Schema{Types: []string{"object"}, Reduce: "merge", Deletes: true, Properties: []protocol.Property{
				{Name: "n", Schema: protocol.Schema{Types: []string{"integer"}}, Required: true},
			}},
		}
		if name == "ones" {
			s.Key = []string{"/n"}
		} else {
			s.FallbackKey = []string{"/_meta/at"}
		}
		list = append(list, s)
	}
	return list, nil
}

// Read counts each stream from where its state left off, and again for ever when it floods.
func (c *counter) Read(ctx context.Context, req Request, out *Out) error {
	logrus.WithFields(logrus.Fields{"task": req.Task, "begin": req.Range.Begin, "end": req.Range.End, "tail": req.Tail}).Info("reading as " + c.config.Password)
	for i, b := range req.Bindings {
		if b.Stream.Name == "threes" {
			if err := out.Fail(i, &protocol.Problem{Kind: protocol.Config, Summary: "stream threes is not there for " + c.config.Password}); err != nil {
				return err
			}
			continue
		}
		if err := c.count(req, out, i, b); err != nil {
			return err
		}
	}
	switch c.config.Mood {
	case "panic":
		panic("cannot count further, says " + c.config.Password)
	case "transient":
		return &protocol.Problem{Kind: protocol.Transient, Summary: "the counter lost " + c.config.Password, Err: errors.New("cause " + c.config.Password)}
	case "deaf":
		<-ctx.Done()
		return ctx.Err()
	}
	for req.Tail {
		select {
		case m := <-req.Durable:
			logrus.WithField("mark", uint64(m)).Info("durable")
		case <-req.Stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
			return errors.New("nobody stopped the read")
		}
	}
	return nil
}

func (c *counter) count(req Request, out *Out, i int, b protocol.Binding) error {
	var state struct{ N int }
	if b.State != nil {
		if err := json.Unmarshal(b.State, &state); err != nil {
			return err
		}
	}
	for n := state.N; n < c.config.Rows || c.config.Mood == "flood"; {
		batch := out.NewBatch()
		for end := n + c.config.Chunk; n < end && (n < c.config.Rows || c.config.Mood == "flood"); n++ {
			batch.End(fmt.Appendf(batch.Begin(i), `{"n":%d}`, n+1))
		}
		batch.Patch(i, fmt.Appendf(nil, `{"n":%d}`, n))
		batch.PatchShared(fmt.Appendf(nil, `{"position":%d}`, n))
		if _, err := out.Emit(batch); err != nil {
			return err
		}
		select {
		case <-req.Stop:
			return nil
		default:
		}
	}
	return nil
}
