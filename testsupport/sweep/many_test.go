package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/watch"
	"github.com/estuary/connectors/testsupport/wire"
)

const (
	remembered = 45_000 // objects inside the window, of more the oldest are forgotten
	entryBytes = 66     // that a state takes for one, at most: below 3 MB in all
)

// However many objects are inside the window, the state stays below 3 MB, and the next sweep opens none of them.
func TestSweep_ManyObjectsInTheWindow(t *testing.T) {
	t.Parallel()
	n := 5000 // the engine's own tests have a hundred thousand, too
	if full() {
		n = 100_000
	}
	b := newBucket(t)
	b.mem.PageSize = 1000
	hour := b.now()
	for i := range n {
		b.clock = hour.Add(-time.Duration(i*7919%n) * time.Second) // in no order
		if _, err := b.put(fmt.Sprintf("%06d.json", i), &body{data: []byte("{}\n")}, false); err != nil {
			t.Fatal(err)
		}
	}
	b.clock = hour
	config, err := json.Marshal(b.config(map[string]any{"sample": false}))
	if err != nil {
		t.Fatal(err)
	}
	l := &life{binary: binary.Build(t, "source-s3"), config: config, store: b}
	l.catalog = catalog(t, l.binary, config)
	most := min(n, remembered) * entryBytes
	files, state := objects(t, l, most)
	if len(files) != n {
		t.Errorf("%d files have come, want %d", len(files), n)
	}
	for file, records := range files {
		if records != 1 {
			t.Errorf("%d records of %s, want 1", records, file)
		}
	}
	l.state = append(append([]byte{'['}, state...), ']')
	opened := b.opened()
	files, again := objects(t, l, most)
	if len(files) > 0 || b.opened() > opened {
		t.Errorf("the next sweep opens %d objects and reads %d", b.opened()-opened, len(files))
	}
	t.Logf("%d objects, a state of %d bytes, after the next sweep of %d", n, len(state), len(again))
	if least := most * 9 / 10; len(state) < least || len(again) < least {
		t.Errorf("the test does not bite: states of %d and %d bytes, want more than %d", len(state), len(again), least)
	}
}

// objects runs a sweep and counts the records of each file. No STATE may have many bytes more than most.
func objects(t *testing.T, l *life, most int) (files map[string]int, state json.RawMessage) {
	t.Helper()
	p, err := l.process(l.catalog, l.state)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]int{}
	timer := time.AfterFunc(10*watch.Patience, func() { _ = p.Kill() })
	defer timer.Stop()
	for {
		line, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := wire.Airbyte(line)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Record != nil:
			var d struct {
				Meta struct{ File string } `json:"_meta"`
			}
			if err := json.Unmarshal(m.Record.Data, &d); err != nil {
				t.Fatal(err)
			}
			files[d.Meta.File]++
		case m.State != nil:
			if state = m.State.Raw; len(m.State.Body) > most+500 {
				t.Errorf("a state of %d bytes, want %d and 500 at most", len(m.State.Body), most)
			}
		}
	}
	if exit, err := p.Wait(watch.Patience); err != nil || exit.Code != 0 {
		t.Fatalf("the sweep ended with code %d, %v: %s", exit.Code, err, watch.Last(exit.Stderr))
	}
	return files, state
}
