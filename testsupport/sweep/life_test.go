package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/estuary/connectors/testsupport/binary"
	"github.com/estuary/connectors/testsupport/watch"
	"github.com/estuary/connectors/testsupport/wire"
)

// size says how much a life is about, and what must have happened in it.
type size struct {
	files, big int // big ones among them
	huge       int // among the big ones
	inside     int // kills inside a file
	each       int // of them in each format
	kinds      map[kind]int
	halves     int // versions that were replaced or deleted when a part of them had come
	patience   time.Duration
}

// life is a runner's: processes that are killed and resumed, over files that are being changed. Whoever reads the output makes the changes, so that each
// stands at a line of the output; the process is some way ahead.
type life struct {
	size
	rng     *rand.Rand
	store   store
	ledger  *ledger
	binary  string
	config  []byte
	catalog []byte
	// everyState: each process dies at its first STATE. Otherwise at one of the first three, and the next one may resume from any of these.
	everyState bool

	state  []byte
	storm  int // runs with changes that are still to come before a sweep may come to its end
	runs   int
	made   int      // files
	at     *version // the one whose record was printed last
	coming []string // keys of files that are being put slowly
	begun  map[string]beginning
	ended  time.Time // when the last sweep was begun that has ended
	bites  bites
}

// beginning is of a file that is being put slowly.
type beginning struct {
	body *body
	at   time.Time
}

// bites counts what makes a life worth its time.
type bites struct {
	kills, inside int
	of            map[string]int // kills inside a file, by format
	sweeps        int            // that came to their end
	earlier       int            // resumes from another STATE than the last
	deleted       int
	under         int // versions that were replaced under a process that was reading them, and noticed it
}

// newLife makes the files. A seed stands for a course of changes, each at a line of the output; how far a process is ahead of it at that moment is its own.
func newLife(t *testing.T, path string, s store, z size, seed uint64, lookback string) *life {
	t.Helper()
	config, err := json.Marshal(s.config(map[string]any{"sample": false, "lookback": lookback}))
	if err != nil {
		t.Fatal(err)
	}
	l := &life{
		size: z, rng: rand.New(rand.NewPCG(seed, 1)), store: s, ledger: newLedger(), binary: path, config: config, begun: map[string]beginning{}, //nolint:gosec // repeatable on purpose
		storm: z.big, bites: bites{of: map[string]int{}},
	}
	if err := l.fill(); err != nil {
		t.Fatal(err)
	}
	l.catalog = catalog(t, path, config)
	return l
}

// catalog is what discover prints, to be read.
func catalog(t *testing.T, path string, config []byte) (last []byte) {
	t.Helper()
	lines, _ := watch.Start(t, binary.Command{Path: path, Args: []string{"discover", "--configured"}, Config: config}, func(line []byte) error {
		last = line
		return nil
	}, nil)
	if exit := lines.Finished(); exit.Code != 0 || !strings.Contains(string(last), `"streams"`) {
		t.Fatalf("discover ended with code %d: %s %s", exit.Code, last, exit.Stderr)
	}
	return last
}

// live lets processes read, die and resume until enough has happened, and then what is left.
func (l *life) live() error {
	for began := time.Now(); !l.enough() && time.Since(began) < l.patience; {
		if _, err := l.run(true); err != nil {
			return fmt.Errorf("run %d: %w", l.runs, err)
		}
		if err := l.between(); err != nil {
			return err
		}
	}
	return l.rest()
}

// rest reads to the end: the third run at the latest prints no record and opens no file.
func (l *life) rest() error {
	for range 3 {
		before := l.store.opened()
		records, err := l.run(false)
		if err != nil {
			return fmt.Errorf("run %d, the last changes being made: %w", l.runs, err)
		}
		if records == 0 && l.store.opened() == before {
			return l.ledger.settle(l.runs + 1)
		}
	}
	return wrongf("with no more changes, the third run in a row still reads something")
}

// enough tells whether what is to happen has happened.
func (l *life) enough() bool { return l.lacks() == "" }

func (l *life) lacks() string {
	var list []string
	lack := func(what string, have, want int) {
		if have < want {
			list = append(list, fmt.Sprintf("%s: %d, want %d", what, have, want))
		}
	}
	lack("kills inside a file", l.bites.inside, l.inside)
	for _, f := range forms {
		lack("kills inside a file of "+f.name, l.bites.of[f.name], l.each)
	}
	for how, want := range l.kinds {
		have := l.ledger.came[how]
		if how == deleted {
			have = l.bites.deleted
		}
		lack(string(how), have, want)
	}
	lack("versions that went when a part of them had come", l.ledger.halves, l.halves)
	return strings.Join(list, "; ")
}

// process starts the connector from a state.
func (l *life) process(catalog, state []byte) (*binary.Process, error) {
	return binary.Start(binary.Command{Path: l.binary, Args: []string{"read"}, Config: l.config, Catalog: catalog, State: state})
}

// run is one process. With kills it dies at a STATE, unless that ends a sweep and no other begins; files are changed while it prints.
func (l *life) run(kills bool) (records int, err error) {
	began := l.store.now()
	p, err := l.process(l.catalog, l.state)
	if err != nil {
		return 0, err
	}
	l.runs++
	out, die := l.ledger.output(), 1
	var changes []int // at how many bytes
	if kills {
		changes = l.schedule()
		if !l.everyState {
			die += l.rng.IntN(3)
		}
	}
	how, err := l.read(p, out, func(printed int) error {
		for ; len(changes) > 0 && changes[0] <= printed; changes = changes[1:] {
			if err := l.change(); err != nil {
				return err
			}
		}
		return nil
	}, func(s *wire.State) bool {
		return kills && len(out.marks) >= die && (strings.Contains(string(s.Body), `"started"`) || l.rng.IntN(2) == 0)
	})
	if err != nil {
		return 0, err
	}
	for range changes {
		if err := l.change(); err != nil {
			return 0, err
		}
	}
	if how == itself {
		return out.records, l.end(out, began)
	}
	return out.records, l.died(out, how)
}

// schedule says at how many printed bytes there will be changes: mostly before the next STATE. Now and then there are none until a sweep has ended.
func (l *life) schedule() []int {
	if l.storm--; l.storm < 0 {
		return nil
	}
	const most = 4 << 20
	list := []int{l.rng.IntN(most), l.rng.IntN(most), l.rng.IntN(most)}[:l.rng.IntN(4)]
	slices.Sort(list)
	return list
}

// end is how a run ended.
type end int

const (
	itself end = iota // having printed everything
	killed
	tooLate // at a STATE, but its process had ended before
)

// read reads what a process prints, until it ends or is to be killed.
func (l *life) read(p *binary.Process, out *output, each func(printed int) error, kill func(*wire.State) bool) (how end, err error) {
	timer := time.AfterFunc(10*watch.Patience, func() { _ = p.Kill() }) // a process that hangs is found by the signal that ended it
	defer timer.Stop()
	defer func() {
		_ = p.Kill()
		exit, waitErr := p.Wait(watch.Patience)
		err = errors.Join(err, waitErr, p.Close())
		switch {
		case err != nil:
		case how == killed && exit.Signal != syscall.SIGKILL:
			how = tooLate
		case how == itself && (exit.Signal != 0 || exit.Code != 0):
			err = fmt.Errorf("the process ended with code %d, signal %d: %s", exit.Code, exit.Signal, watch.Last(exit.Stderr))
		}
	}()
	printed := 0
	for {
		line, err := p.Next()
		if errors.Is(err, io.EOF) {
			return itself, nil
		}
		if err != nil {
			return itself, err
		}
		if data, ok := recordOf(line); ok {
			if l.at, err = out.document(data); err != nil {
				return itself, err
			}
			printed += len(line)
			if err := each(printed); err != nil {
				return itself, err
			}
			continue
		}
		m, err := wire.Airbyte(line)
		if err != nil {
			return itself, err
		}
		switch {
		case m.Record != nil:
			return itself, fmt.Errorf("a record that does not look like the others: %s", line)
		case m.State != nil:
			out.marks = append(out.marks, mark{out.records, m.State})
			if kill(m.State) {
				return killed, nil
			}
		case m.Log != nil && strings.HasPrefix(m.Log.Message, "the file was replaced while it was to be read"):
			l.bites.under++
		case m.Trace != nil && m.Trace.Message != "":
			return itself, fmt.Errorf("the process says: %s", m.Trace.Message)
		}
	}
}

// recordOf cuts the document out of a record as this connector writes it. Its every byte is compared, so it needs no decoding.
func recordOf(line []byte) (data []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"RECORD","record":{"stream":"`+bucketName+`","data":`))
	end := bytes.LastIndex(rest, []byte(`,"emitted_at":`))
	if !ok || end < 0 {
		return nil, false
	}
	return rest[:end], true
}

// died lets count what one of the STATEs covers, and resumes from it.
func (l *life) died(out *output, how end) error {
	n := len(out.marks) - 1
	if n > 0 && !l.everyState && l.rng.IntN(3) == 0 {
		n = l.rng.IntN(n)
		l.bites.earlier++
	}
	if err := l.resume(out, out.marks[n]); err != nil {
		return err
	}
	if how == killed {
		l.bites.kills++
		if last := l.ledger.last; last != nil && !last.whole() && out.marks[n].records > 0 {
			l.bites.inside++
			l.bites.of[last.body.form.name]++
		}
	}
	return nil
}

// end lets count all that a process printed which ended by itself: it has gone over the whole store.
func (l *life) end(out *output, began time.Time) error {
	if len(out.marks) == 0 || out.marks[len(out.marks)-1].records != out.records {
		return wrongf("of %d records not all are covered by one of %d STATEs", out.records, len(out.marks))
	}
	if err := l.resume(out, out.marks[len(out.marks)-1]); err != nil {
		return err
	}
	l.bites.sweeps++
	l.ended = began
	l.storm = 2 + l.rng.IntN(2+l.big/2)
	if last := l.ledger.last; last != nil && !last.whole() && !last.gone {
		return wrongf("the sweep ended with row %d of %d of %s %s, which is still there", last.kept, last.body.rows, last.key, last.version)
	}
	return l.ledger.settle(l.runs)
}

// resume is where the next process begins.
func (l *life) resume(out *output, m mark) error {
	l.state = append(append([]byte{'['}, m.state.Raw...), ']')
	return out.keep(m)
}

// String tells what has happened.
func (l *life) String() string {
	var of, kinds []string
	for _, f := range forms {
		of = append(of, fmt.Sprintf("%s %d", f.name, l.bites.of[f.name]))
	}
	for _, how := range slices.Sorted(maps.Keys(l.ledger.came)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", how, l.ledger.came[how]))
	}
	return fmt.Sprintf("%d runs, %d killed at a STATE, %d of them inside a file (%s), %d ended by themselves, %d resumed from an earlier STATE than the last; "+
		"came whole: %s; deleted: %d; went when a part had come: %d, noticed by the process that was reading: %d; %d files are there",
		l.runs, l.bites.kills, l.bites.inside, strings.Join(of, ", "), l.bites.sweeps, l.bites.earlier, strings.Join(kinds, ", "), l.bites.deleted, l.ledger.halves, l.bites.under, len(l.ledger.there))
}
