package pipes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/pipeline"
)

// writer is a `write` whose lines the test types itself.
type writer struct {
	t       *testing.T
	process *binary.Process
	table   string
}

func newWriter(t *testing.T, config []byte, table string) *writer {
	t.Helper()
	catalog := fmt.Sprintf(`{"streams":[{"stream":{"name":%q,"namespace":"public","json_schema":{"type":"object","properties":{"id":{"type":"integer"},"word":{"type":"string"}}},
		"supported_sync_modes":["incremental"]},"sync_mode":"incremental","destination_sync_mode":"append_dedup","primary_key":[["id"]]}]}`, table)
	return startWriter(t, config, []byte(catalog), table)
}

// startWriter starts a writer into a table, which is killed at the test's end.
func startWriter(t *testing.T, config, catalog []byte, table string) *writer {
	t.Helper()
	p, err := binary.Start(binary.Command{Path: binary.Build(t, "materialize-postgres"), Args: []string{"write"}, Config: config, Catalog: catalog, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill() // a test that failed has left it
		_, _ = p.Wait(patience)
	})
	return &writer{t, p, table}
}

// send sends a record and a STATE.
func (w *writer) send(id int) {
	w.t.Helper()
	for _, line := range []string{
		fmt.Sprintf(`{"type":"RECORD","record":{"stream":%q,"namespace":"public","data":{"id":%d,"word":"w%[2]d"},"emitted_at":1}}`, w.table, id),
		fmt.Sprintf(`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":%q,"namespace":"public"},"stream_state":{"at":%d}}}}`, w.table, id),
	} {
		if err := w.process.Send([]byte(line)); err != nil {
			said, _ := w.process.Drain()
			w.t.Fatalf("the writer of %s takes no more: %v: %s%s", w.table, err, bytes.Join(said, []byte("\n")), w.process.Stderr())
		}
	}
}

// echoed waits for the STATE's echo; false: the output has ended, and said is what came instead.
func (w *writer) echoed(id int) (ok bool, said string) {
	w.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = w.process.Kill() })
	defer timer.Stop()
	for {
		line, err := w.process.Next()
		if errors.Is(err, io.EOF) {
			return false, said
		}
		if err != nil {
			w.t.Fatal(err)
		}
		said += string(line) + "\n"
		if strings.Contains(string(line), `"type":"STATE"`) && strings.Contains(string(line), fmt.Sprintf(`{"at":%d}`, id)) {
			return true, said
		}
	}
}

// complete ends the stream and the input.
func (w *writer) complete() binary.Exit {
	w.t.Helper()
	line := fmt.Sprintf(`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1,"stream_status":{"stream_descriptor":{"name":%q,"namespace":"public"},"status":"COMPLETE"}}}`, w.table)
	if err := errors.Join(w.process.Send([]byte(line)), w.process.CloseInput()); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.process.Drain(); err != nil {
		w.t.Fatal(err)
	}
	exit, err := w.process.Wait(patience)
	if err != nil {
		w.t.Fatal(err)
	}
	return exit
}

func TestPipes_TwoIntoOneTableTheOlderEnds(t *testing.T) {
	c := servers.Cluster(t, pgtest.DefaultVersion)
	database := c.NewDatabase(t)
	config := encode(t, pipeline.Materialize(c, "", database))
	older := newWriter(t, config, "t")
	older.send(1)
	if ok, said := older.echoed(1); !ok {
		t.Fatalf("the first writer ended: %s%s", said, older.process.Stderr())
	}
	began := time.Now().UTC().Truncate(time.Second)
	newer := newWriter(t, config, "t")
	newer.send(2)
	if ok, said := newer.echoed(2); !ok {
		t.Fatalf("the second writer ended: %s%s", said, newer.process.Stderr())
	}
	older.send(3)
	ok, said := older.echoed(3)
	exit, err := older.process.Wait(patience)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	said += exit.Stderr
	if ok || exit.Code != 1 || !strings.Contains(said, "on host "+host) {
		t.Errorf("the older ended with code %d, its STATE echoed: %v; it said %s", exit.Code, ok, said)
	}
	_, rest, _ := strings.Cut(said, "started at ")
	text, _, _ := strings.Cut(rest, " ")
	if at, err := time.Parse(time.RFC3339, text); err != nil || at.Before(began) || at.After(time.Now()) {
		t.Errorf("the newer started at %q, want a time after %s: %v", text, began, err)
	}
	if exit := newer.complete(); exit.Code != 0 {
		t.Errorf("the newer ended with code %d: %s", exit.Code, exit.Stderr)
	}
	rows, err := c.Query(database, "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t")
	if err != nil || rows[0][0] != "1 2" {
		t.Errorf("the table has %v, %v", rows, err)
	}
}

func TestPipes_TwoIntoTwoTablesBothFinish(t *testing.T) {
	c := servers.Cluster(t, pgtest.DefaultVersion)
	database := c.NewDatabase(t)
	config := encode(t, pipeline.Materialize(c, "", database))
	writers := []*writer{newWriter(t, config, "a"), newWriter(t, config, "b")}
	for id := 1; id <= 3; id++ {
		for _, w := range writers {
			w.send(id)
			if ok, said := w.echoed(id); !ok {
				t.Fatalf("the writer of %s ended: %s%s", w.table, said, w.process.Stderr())
			}
		}
	}
	for _, w := range writers {
		if exit := w.complete(); exit.Code != 0 {
			t.Errorf("the writer of %s ended with code %d: %s", w.table, exit.Code, exit.Stderr)
		}
		rows, err := c.Query(database, "SELECT string_agg(id || word, ' ' ORDER BY id) FROM "+w.table)
		if err != nil || rows[0][0] != "1w1 2w2 3w3" {
			t.Errorf("table %s has %v, %v", w.table, rows, err)
		}
	}
}
