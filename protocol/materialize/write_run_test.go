package materialize

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
)

// A pipe into the sink, with a hand on each end.
type pipe struct {
	*vault
	in   *io.PipeWriter
	exit chan int
}

func (v *vault) start(t *testing.T, catalog string, signals <-chan os.Signal) *pipe {
	t.Helper()
	r, w := io.Pipe()
	p := &pipe{v, w, make(chan int, 1)}
	var ended atomic.Bool // what watches the signals outlives the run
	forced := func(int) {
		if !ended.Load() {
			t.Error("the end is forced")
		}
	}
	process := &command.Process{
		Args:  []string{"write", "--config", v.config(t), "--catalog", file(t, catalog)},
		Stdin: r, Stdout: command.NewLines(v), Stderr: io.Discard, Exit: forced, Now: time.Now, Signals: signals,
	}
	if signals != nil {
		go process.Watch()
	}
	go func() {
		exit := run(erase(vaultConnector()), process)
		ended.Store(true)
		p.exit <- exit
	}()
	t.Cleanup(func() { w.Close() })
	return p
}

func (p *pipe) send(t *testing.T, lines ...string) {
	t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
}

// await waits for a condition, for as long as a test may take.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", what)
		}
	}
}

func TestWrite_CommitsWhileTheSourceRuns(t *testing.T) {
	v := newVault(t)
	p := v.start(t, catalogOf(stream("orders", "null", "append", "")), nil)
	begun := time.Now()
	p.send(t, record("orders", `{"id":1}`), stateOf("orders", "1"))
	await(t, "the first STATE", func() bool { return len(v.printed(`"stream_state":1}`)) == 1 })
	if took := time.Since(begun); took < 500*time.Millisecond {
		t.Errorf("the first commit came after %s, and should wait for more records", took)
	}
	p.send(t, record("orders", `{"id":2}`))
	p.send(t, stateOf("orders", "2"), record("orders", `{"id":3}`))
	await(t, "the second STATE", func() bool { return len(v.printed(`"stream_state":2}`)) == 1 })
	v.expectRows(t, "main.orders", `{"id":1} {"id":2}`)
	p.in.Close()
	if exit := <-p.exit; exit != 1 {
		t.Errorf("exit %d, although a record had no STATE", exit)
	}
	if n := v.commits(); n != 2 {
		t.Errorf("%d commits", n)
	}
}

func TestWrite_LaterTransactionsSeeEarlierOnes(t *testing.T) {
	v := newVault(t)
	p := v.start(t, merging(catalogOf(stream("orders", "null", "append_dedup", "id"))), nil)
	p.send(t, record("orders", `{"id":1,"v":1}`), record("orders", `{"id":2,"v":1}`), stateOf("orders", "1"))
	await(t, "the first commit", func() bool { return v.commits() == 1 })
	p.send(t, record("orders", `{"id":2,"w":2}`), record("orders", `{"id":3}`), stateOf("orders", "2"))
	await(t, "the second commit", func() bool { return v.commits() == 2 })
	p.in.Close()
	if exit := <-p.exit; exit != 0 || v.loads != 1 {
		t.Errorf("exit %d; %d keys are loaded, and the table has one of them", exit, v.loads)
	}
	v.expectRows(t, "main.orders", `{"id":1,"v":1} {"id":2,"v":1,"w":2} {"id":3}`)
}

func TestWrite_CommitsLargeTransactionsEarly(t *testing.T) {
	v := newVault(t)
	p := v.start(t, catalogOf(stream("orders", "null", "append", "")), nil)
	doc := fmt.Sprintf(`{"id":1,"v":%q}`, strings.Repeat("x", 1<<20))
	begun := time.Now()
	for range 70 {
		p.send(t, record("orders", doc))
	}
	if v.commits() != 0 {
		t.Error("records are committed without a STATE")
	}
	took := time.Since(begun)
	p.send(t, stateOf("orders", "1"))
	await(t, "the STATE", func() bool { return len(v.printed(`"STATE"`)) == 1 })
	if took < commitEvery && time.Since(begun) > took+commitEvery {
		t.Logf("committed after %s; a slow machine tells nothing about why", time.Since(begun))
	}
	p.in.Close()
	if exit := <-p.exit; exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

func TestWrite_OverwrittenTablesNeedNoStateToLeaveTheMemory(t *testing.T) {
	v := newVault(t)
	p := v.start(t, catalogOf(stream("orders", "null", "overwrite", "")), nil)
	doc := fmt.Sprintf(`{"id":1,"v":%q}`, strings.Repeat("x", 1<<20))
	for range 70 {
		p.send(t, record("orders", doc))
	}
	await(t, "a commit", func() bool { return v.commits() > 0 })
	v.expectRows(t, "main.orders", "")
	p.send(t, statusOf("orders", "COMPLETE"))
	await(t, "the table", func() bool { return strings.Count(v.rows("main.orders"), `"id"`) == 70 })
	p.in.Close()
	if exit := <-p.exit; exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

func TestWrite_TwoIntoOneTable(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""))
	older := v.start(t, c, nil)
	older.send(t, record("orders", `{"id":1}`), stateOf("orders", "1"))
	await(t, "the older one's commit", func() bool { return v.commits() == 1 })
	newer := v.start(t, c, nil)
	newer.send(t, record("orders", `{"id":2}`), stateOf("orders", "2"))
	await(t, "the newer one's commit", func() bool { return v.commits() == 2 })
	older.send(t, record("orders", `{"id":3}`), stateOf("orders", "3"))
	if exit := <-older.exit; exit != 1 {
		t.Errorf("the older one ends with %d", exit)
	}
	if errs := v.printed(`"ERROR"`); len(errs) != 1 || !strings.Contains(errs[0], "a newer session writes to this destination, started at 2023-11-14T22:13:20Z on host elsewhere") {
		t.Errorf("errors %q", errs)
	}
	newer.in.Close()
	if exit := <-newer.exit; exit != 0 {
		t.Errorf("the newer one ends with %d", exit)
	}
	v.expectRows(t, "main.orders", `{"id":1} {"id":2}`)
}

func TestWrite_TwoIntoTwoTables(t *testing.T) {
	v := newVault(t)
	a, b := v.start(t, catalogOf(stream("orders", "null", "append", "")), nil), v.start(t, catalogOf(stream("visits", "null", "append", "")), nil)
	a.send(t, record("orders", `{"id":1}`), stateOf("orders", "1"))
	b.send(t, record("visits", `{"id":2}`), stateOf("visits", "2"))
	for _, p := range []*pipe{a, b} {
		p.in.Close()
		if exit := <-p.exit; exit != 0 {
			t.Errorf("exit %d", exit)
		}
	}
	v.expectRows(t, "main.orders", `{"id":1}`)
	v.expectRows(t, "main.visits", `{"id":2}`)
}

func TestWrite_StateEndsWritesThatStillRun(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""))
	p := v.start(t, c, nil)
	p.send(t, record("orders", `{"id":1}`), stateOf("orders", "1"))
	await(t, "a commit", func() bool { return v.commits() == 1 })
	if got := v.state(t, c); !strings.Contains(got, `"stream_state":1`) {
		t.Errorf("got %s", got)
	}
	p.send(t, record("orders", `{"id":2}`), stateOf("orders", "2"))
	if exit := <-p.exit; exit != 1 {
		t.Errorf("the write ends with %d, and its source would be repeated", exit)
	}
	v.expectRows(t, "main.orders", `{"id":1}`)
}

func TestWrite_SigtermEndsAtTheLastState(t *testing.T) {
	v := newVault(t)
	signals := make(chan os.Signal, 1)
	p := v.start(t, catalogOf(stream("orders", "null", "append", "")), signals)
	p.send(t, record("orders", `{"id":1}`), stateOf("orders", "1"))
	p.send(t, record("orders", `{"id":2}`))
	p.send(t, `{"type":"LOG","log":{"level":"INFO","message":"here"}}`)
	await(t, "the LOG that shows where the writer is", func() bool { return len(v.printed(`"here"`)) == 1 })
	signals <- os.Interrupt
	if exit := <-p.exit; exit != 0 {
		t.Errorf("exit %d", exit)
	}
	v.expectRows(t, "main.orders", `{"id":1}`)
	if len(v.printed(`"STATE"`)) != 1 {
		t.Errorf("printed %q", v.printed(`"STATE"`))
	}
}
