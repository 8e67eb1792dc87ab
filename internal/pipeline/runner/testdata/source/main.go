// Command source is a Flow capture in miniature. It captures a file of JSON lines, each {"stream":…} with a doc, a schema that the stream has from there on,
// or a reset; stream "" with "commit":true ends a transaction.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/estuary/connectors/internal/pipeline/runner/testdata/crash"
)

type object = map[string]any

type config struct {
	Log      string       `json:"log"`
	Streams  []string     `json:"streams"`
	Open     bool         `json:"openSchemas"`
	Password string       `json:"password"`
	Fail     string       `json:"fail"`
	Every    int          `json:"every"` // checkpoints come after so many documents; 0: at commits
	Pause    int          `json:"pause"` // milliseconds after each checkpoint
	Crash    *crash.Point `json:"crash"`
}

type entry struct {
	Stream string          `json:"stream"`
	Doc    json.RawMessage `json:"doc"`
	Schema json.RawMessage `json:"schema"`
	Reset  string          `json:"reset"`
	Commit bool            `json:"commit"`
}

type binding struct {
	Resource struct {
		Namespace string `json:"namespace"`
		Stream    string `json:"stream"`
	} `json:"resourceConfig"`
	StateKey string `json:"stateKey"`
}

type request struct {
	Spec     *struct{} `json:"spec"`
	Apply    *struct{} `json:"apply"`
	Discover *struct {
		Config config `json:"config"`
	} `json:"discover"`
	Validate *struct {
		Config   config    `json:"config"`
		Bindings []binding `json:"bindings"`
	} `json:"validate"`
	Open *struct {
		Capture struct {
			Config   config    `json:"config"`
			Bindings []binding `json:"bindings"`
		} `json:"capture"`
		State struct {
			Bindings map[string]position `json:"bindings"`
		} `json:"state"`
		Tail  *bool `json:"tail"`
		Reset bool  `json:"reset"`
	} `json:"open"`
	Acknowledge *struct {
		Checkpoints int `json:"checkpoints"`
	} `json:"acknowledge"`
}

// position is the state of a stream: the next line of the file, and a reset that has to be told (again).
type position struct {
	Line  int    `json:"line"`
	Reset string `json:"reset,omitempty"`
}

func say(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(0)
	}
}

func fail(text string) {
	line, _ := json.Marshal(object{"level": "error", "msg": text})
	fmt.Fprintln(os.Stderr, string(line))
	os.Exit(1)
}

func read(path string) []entry {
	raw, err := os.ReadFile(path)
	if err != nil {
		fail("the log " + path + " cannot be read: name a file that exists")
	}
	var list []entry
	for _, line := range bytes.SplitAfter(raw, []byte("\n")) {
		if len(line) == 0 || line[len(line)-1] != '\n' {
			break
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			fail(err.Error())
		}
		list = append(list, e)
	}
	return list
}

// schema is the last one that the log has for a stream.
func schema(log []entry, stream string) json.RawMessage {
	last := json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)
	for _, e := range log {
		if e.Stream == stream && e.Schema != nil {
			last = e.Schema
		}
	}
	return last
}

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fail(err.Error())
		}
		switch {
		case r.Spec != nil:
			say(object{"spec": object{
				"protocol": 3032023, "resourcePathPointers": []string{"/namespace", "/stream"}, "resourceConfigSchema": object{"type": "object"},
				"configSchema": object{"type": "object", "properties": object{"password": object{"type": "string", "secret": true}}},
			}})
		case r.Discover != nil:
			discover(r.Discover.Config)
		case r.Validate != nil:
			if r.Validate.Config.Fail != "" {
				fail(r.Validate.Config.Fail + " " + r.Validate.Config.Password)
			}
			list := []object{}
			for _, b := range r.Validate.Bindings {
				list = append(list, object{"resourcePath": []string{b.Resource.Namespace, b.Resource.Stream}})
			}
			say(object{"validated": object{"bindings": list}})
		case r.Apply != nil:
			say(object{"applied": object{}})
		case r.Open != nil:
			capture(in, r)
			return
		}
	}
}

func discover(c config) {
	log := read(c.Log)
	list := []object{}
	for _, stream := range c.Streams {
		var s map[string]json.RawMessage
		if err := json.Unmarshal(schema(log, stream), &s); err != nil {
			fail(err.Error())
		}
		if c.Open {
			s["x-infer-schema"] = json.RawMessage("true")
		}
		list = append(list, object{
			"recommendedName": "toy/" + stream, "resourceConfig": object{"namespace": "toy", "stream": stream}, "resourcePath": []string{"toy", stream},
			"documentSchema": s, "key": []string{"/id"}, "isFallbackKey": stream == "events",
		})
	}
	say(object{"discovered": object{"bindings": list}})
}

// session is an open capture.
type session struct {
	c         config
	bindings  map[string]int // by stream
	keys      []string
	at        []position
	sent      int
	acks      chan int
	acked     int
	untold    int // documents after the last checkpoint
	noWaiting bool
}

func capture(in *bufio.Reader, r request) {
	s := &session{c: r.Open.Capture.Config, bindings: map[string]int{}, acks: make(chan int, 1000)}
	for i, b := range r.Open.Capture.Bindings {
		s.bindings[b.Resource.Stream] = i
		s.keys = append(s.keys, b.StateKey)
		s.at = append(s.at, r.Open.State.Bindings[b.StateKey])
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var r request
			if json.Unmarshal(line, &r) == nil && r.Acknowledge != nil {
				s.c.Crash.At("acknowledged")
				s.acks <- r.Acknowledge.Checkpoints
			}
		}
	}()
	s.c.Crash.At("opening")
	say(object{"opened": object{"explicitAcknowledgements": true}})
	for i, at := range s.at {
		if at.Reset != "" {
			s.checkpoint()
			say(object{"reset": object{"binding": i, "reason": at.Reset}})
			s.at[i].Reset = ""
		}
	}
	from := 0
	if len(s.at) > 0 {
		from = s.at[0].Line
	}
	for _, at := range s.at {
		from = min(from, at.Line)
	}
	tail := r.Open.Tail == nil || *r.Open.Tail
	for {
		log := read(s.c.Log)
		for ; from < len(log); from++ {
			s.entry(from, log[from])
			select {
			case <-gone:
				return
			default:
			}
		}
		if s.untold > 0 || !tail || s.sent == 0 {
			s.checkpoint()
		}
		if !tail {
			break
		}
		select {
		case <-gone:
			return
		case n := <-s.acks:
			s.acked += n
		case <-time.After(10 * time.Millisecond):
		}
	}
	deadline := time.After(10 * time.Second)
	for s.acked < s.sent {
		select {
		case n := <-s.acks:
			s.acked += n
		case <-gone:
			return
		case <-deadline:
			return
		}
	}
}

func (s *session) entry(line int, e entry) {
	i, bound := s.bindings[e.Stream]
	if e.Commit {
		s.move(line)
		if s.c.Every == 0 {
			s.checkpoint()
		}
		return
	}
	if !bound || line < s.at[i].Line {
		return
	}
	switch {
	case e.Schema != nil:
		var closed map[string]json.RawMessage
		if err := json.Unmarshal(e.Schema, &closed); err != nil {
			fail(err.Error())
		}
		closed["additionalProperties"] = json.RawMessage("false")
		say(object{"sourcedSchema": object{"binding": i, "documentSchema": closed}})
		s.untold++
	case e.Reset != "":
		s.move(line)
		s.at[i].Reset = e.Reset
		s.checkpoint()
		s.c.Crash.At("reset")
		say(object{"reset": object{"binding": i, "reason": e.Reset}})
		s.at[i].Reset = ""
	default:
		s.c.Crash.At("document")
		say(object{"captured": object{"binding": i, "doc": e.Doc}})
		s.untold++
		if s.c.Every > 0 && s.untold >= s.c.Every {
			s.move(line)
			s.checkpoint()
		}
	}
}

// move notes that everything up to a line was sent.
func (s *session) move(line int) {
	for i := range s.at {
		s.at[i].Line = max(s.at[i].Line, line+1)
	}
}

func (s *session) checkpoint() {
	states := object{}
	for i, at := range s.at {
		state := object{"line": at.Line, "reset": nil}
		if at.Reset != "" {
			state["reset"] = at.Reset
		}
		states[s.keys[i]] = state
	}
	s.untold = 0
	s.sent++
	say(object{"checkpoint": object{"state": object{"updated": object{"bindings": states}, "mergePatch": true}}})
	s.c.Crash.At("checkpoint")
	time.Sleep(time.Duration(s.c.Pause) * time.Millisecond)
}
