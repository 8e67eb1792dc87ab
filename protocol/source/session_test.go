package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/command"
)

const (
	openHead = `{"open":{"capture":{"name":"acmeCo/cap","connectorType":"LOCAL","config":{"rows":3,` + password + `},"bindings":[` +
		`{"resourceConfig":{"namespace":"public","stream":"ones"},"resourcePath":["public","ones"],"collection":{"name":"acmeCo/ones","writeSchema":{"type":"object"},"key":["/n"],"uuidPtr":"/_meta/uuid","projections":[{"ptr":"/n","field":"n"},{"ptr":"/flow_id","field":"n","explicit":true}]},"stateKey":"public%2Fones.v1","backfill":1},` +
		`{"resourceConfig":{"stream":"twos"},"resourcePath":["twos"],"linkedCollection":0}],"intervalSeconds":300},"version":"v1","range":{"keyEnd":4294967295,"rClockEnd":4294967295}`
	openBatch = openHead + `,"state":{"shared":{"position":7},"bindings":{"public%2Fones.v1":{"n":2},"of another":{"n":1}}},"tail":false}}`
)

func TestSession_Golden(t *testing.T) {
	d := converse(t)
	for _, request := range []string{
		`{"spec":{"connectorType":"IMAGE","config":{}}}`,
		`{"discover":{"name":"acmeCo/cap","connectorType":"IMAGE","config":{` + password + `},"createdAt":"2026-08-01"}}`,
		`{"validate":{"name":"acmeCo/cap","config":{},"bindings":[{"resourceConfig":{"namespace":"public","stream":"ones"},"collection":{},"backfill":1},{"resourceConfig":{"stream":"twos"}}],"lastCapture":null}}`,
		``,
		`{"apply":{"capture":{},"version":"v","state":{}},"$internal":"x"}`,
	} {
		go d.send(request)
		if request != "" {
			d.expect("{")
		}
	}
	go d.send(openBatch)
	for range 3 {
		d.expect(`{"checkpoint":`)
	}
	go d.send(`{"acknowledge":{"checkpoints":3}}`)
	if rest, _ := d.end(0); rest != "" {
		t.Errorf("after the last acknowledgement came %s, want nothing", rest)
	}
	strictResponses(t, d.seen.String())
	compareGolden(t, "session.jsonl", d.seen.String())
	if !strings.Contains(d.log.String(), `"msg":"checking as ","task":"acmeCo/cap"`) {
		t.Errorf("the check was not told the capture's name: %s", d.log.String())
	}
	if !strings.Contains(d.log.String(), `"level":"info","msg":"reading as ***","tail":false,"task":"acmeCo/cap"`) {
		t.Errorf("no JSON log of the read on stderr: %s", d.log.String())
	}
}

func TestSession_Failures(t *testing.T) {
	for _, c := range []struct {
		name, stdin, want string
		exit              int
	}{
		{"no JSON lines", "\x00\x00\x00\x05", "stdin must hold Flow requests as JSON, one object a line", 2},
		{"no request", ``, "Usage:", 2},
		{"a torn line", `{"spec":{`, "reading a request", 1},
		{"an unknown request", `{"materialize":{}}`, "none of spec, discover, validate, apply and open", 1},
		{"acknowledge without open", `{"acknowledge":{"checkpoints":1}}`, "no capture is open", 1},
		{"a bad config", `{"discover":{"config":{"rowz":1}}}`, `did you mean \"rows\"?`, 1},
		{"validate finds problems", `{"validate":{"config":{"mood":"two problems"}}}`, `1. user counter may not count: grant it: GRANT COUNT ON ALL TO counter\n2. the server restarts`, 1},
		{"a bad resource", `{"validate":{"config":{},"bindings":[{"resourceConfig":{"strem":"ones","stream":"x"}}]}}`, `in the resource of binding 0, unknown key \"strem\"`, 1},
		{"a range that ends before it begins", `{"open":{"capture":{"config":{}},"range":{"keyBegin":5,"keyEnd":4}}}`, "begins at 00000005, after its end 00000004", 1},
		{"a foreign state", `{"open":{"capture":{"config":{}},"state":{"cursor":{"a":1}}}}`, "the state cannot be used", 1},
		{"discover panics", `{"discover":{"config":{"mood":"panic in new",` + password + `}}}`, "the connector met a bug: no way, says ***", 1},
		{"the read fails", strings.Replace(openBatch, `"rows":3`, `"rows":3,"mood":"transient"`, 1), `"cause":"cause ***","kind":"transient","level":"error","msg":"the counter lost ***"`, 1},
		{"another request while capturing", openBatch + "\n" + `{"spec":{}}`, "no acknowledgement", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := invoke(t, c.stdin)
			if exit != c.exit || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, stderr %s, want %d and %q", exit, stderr, c.exit, c.want)
			}
			strictResponses(t, stdout)
		})
	}
}

// strictResponses decodes as the strictest runner does, which refuses unknown members.
func strictResponses(t *testing.T, stdout string) {
	t.Helper()
	type response struct {
		Spec *struct {
			Protocol                           int
			ConfigSchema, ResourceConfigSchema json.RawMessage
			DocumentationURL                   string `json:"documentationUrl"`
			ResourcePathPointers               []string
		}
		Discovered *struct {
			Bindings []struct {
				RecommendedName                string
				ResourceConfig, DocumentSchema json.RawMessage
				Key, ResourcePath              []string
				Disable, IsFallbackKey         bool
			}
		}
		Validated *struct {
			Bindings []struct{ ResourcePath []string }
		}
		Applied       *struct{ ActionDescription string }
		Opened        *struct{ ExplicitAcknowledgements bool }
		Captured      *struct{ Binding, Doc json.RawMessage }
		SourcedSchema *struct {
			Binding        int
			DocumentSchema json.RawMessage
		}
		Checkpoint *struct {
			State struct {
				Updated    json.RawMessage
				MergePatch bool
			}
		}
	}
	for line := range strings.Lines(stdout) {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&response{}); err != nil {
			t.Errorf("the runner refuses %s: %v", line, err)
		}
	}
}

// dialogue is a runner that speaks with a capture in this process.
type dialogue struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	log  bytes.Buffer
	seen strings.Builder // what expect read
	exit chan int
}

func converse(t *testing.T) *dialogue {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	d := &dialogue{t: t, in: in, out: bufio.NewReader(out), exit: make(chan int, 1)}
	p := &command.Process{
		Stdin: stdin, Stdout: command.NewLines(stdout), Stderr: &d.log, Exit: func(int) { t.Error("exit is for signals") }, Now: newClock().read,
	}
	go func() {
		code := run(erase(counterConnector()), p)
		stdout.Close()
		d.exit <- code
	}()
	return d
}

func (d *dialogue) send(request string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, request+"\n"); err != nil {
		d.t.Error(err)
	}
}

// expect reads lines until one contains the text.
func (d *dialogue) expect(text string) {
	d.t.Helper()
	for {
		line, err := d.out.ReadString('\n')
		if err != nil {
			d.t.Fatalf("%v before %q", err, text)
		}
		d.seen.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
	}
}

// end waits for the exit code and returns what was printed last.
func (d *dialogue) end(want int) (rest, log string) {
	d.t.Helper()
	raw, err := io.ReadAll(d.out)
	if err != nil {
		d.t.Fatal(err)
	}
	if got := <-d.exit; got != want {
		d.t.Errorf("exit %d, want %d: %s", got, want, d.log.String())
	}
	return string(raw), d.log.String()
}

func TestCapture_AcknowledgementsBecomeMarks(t *testing.T) {
	d := converse(t)
	d.send(openHead + `}}`)
	d.expect(`{"opened":{"explicitAcknowledgements":true}}`)
	for range 4 { // 3 rows in chunks of 2, of two streams
		d.expect(`{"checkpoint":`)
	}
	d.send(`{"acknowledge":{}}`) // counts as one
	d.send(`{"acknowledge":{"checkpoints":3}}`)
	if err := d.in.Close(); err != nil { // the end of stdin stops the capture
		t.Fatal(err)
	}
	rest, log := d.end(0)
	if rest != "" {
		t.Errorf("after the last checkpoint came %s, want nothing", rest)
	}
	if strings.Contains(log, `"mark":5`) || strings.Contains(log, "error") {
		t.Errorf("the marks are wrong: %s", log)
	}
}

func TestCapture_RefusesAcknowledgementsOfNothing(t *testing.T) {
	d := converse(t)
	d.send(openHead + `}}`)
	for range 4 {
		d.expect(`{"checkpoint":`)
	}
	d.send(`{"acknowledge":{"checkpoints":5}}`)
	if _, log := d.end(1); !strings.Contains(log, "acknowledges 5 checkpoints, but only 4 were sent") {
		t.Errorf("the log does not say what is wrong: %s", log)
	}
}

// The last acknowledgement must arrive: a source that ends earlier leaves the log of its database standing until the next run.
func TestCapture_WithoutTailWaitsForTheLastAcknowledgement(t *testing.T) {
	d := converse(t)
	d.send(openHead + `,"tail":false}}`)
	for range 4 {
		d.expect(`{"checkpoint":`)
	}
	d.send(`{"acknowledge":{"checkpoints":3}}`)
	select {
	case code := <-d.exit:
		t.Fatalf("exit %d before the last acknowledgement: %s", code, d.log.String())
	case <-time.After(50 * time.Millisecond):
	}
	d.send(`{"acknowledge":{"checkpoints":1}}`)
	d.end(0)
}

func TestAcknowledgements_NewestMarkWins(t *testing.T) {
	out := NewOut(io.Discard, FlowWire(twoBindings()), twoBindings())
	for range 5 {
		b := out.NewBatch()
		b.Patch(0, []byte(`{}`))
		if _, err := out.Emit(b); err != nil {
			t.Fatal(err)
		}
	}
	a := &acknowledgements{out: out, durable: make(chan Mark, 1), changed: make(chan struct{}, 1), closed: make(chan struct{})}
	for _, n := range []uint64{1, 1, 2} {
		if err := a.add(n); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-a.durable; got != 4 {
		t.Errorf("the newest durable mark is %d, want 4", got)
	}
	if err := a.add(2); err == nil || !strings.Contains(err.Error(), "acknowledges 6 checkpoints, but only 5") {
		t.Errorf("got %v for an acknowledgement of what was not sent", err)
	}
}

func TestCapture_ResetOnlyWhereTheRunnerAsked(t *testing.T) {
	for _, honours := range []bool{false, true} {
		var got bytes.Buffer
		wire := FlowWire(twoBindings())
		if honours {
			wire = resettingWire{wire.(*flowWire)}
		}
		if err := NewOut(&got, wire, twoBindings()).Reset(1, "TRUNCATE"); err != nil {
			t.Fatal(err)
		}
		want := ""
		if honours {
			want = fmt.Sprintln(`{"reset":{"binding":1,"reason":"TRUNCATE"}}`)
		}
		if got.String() != want {
			t.Errorf("honours %v: got %q, want %q", honours, got.String(), want)
		}
	}
}
