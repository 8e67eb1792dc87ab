package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

type binding struct {
	Resource struct {
		Stream string `json:"stream"`
	} `json:"resourceConfig"`
}

type request struct {
	Spec     *object `json:"spec"`
	Discover *struct {
		Config config `json:"config"`
	} `json:"discover"`
	Validate *struct {
		Config   config    `json:"config"`
		Bindings []binding `json:"bindings"`
	} `json:"validate"`
	Apply *object `json:"apply"`
	Open  *struct {
		Capture struct {
			Config   config    `json:"config"`
			Bindings []binding `json:"bindings"`
		} `json:"capture"`
		State json.RawMessage `json:"state"`
		Tail  *bool           `json:"tail"`
		Reset bool            `json:"reset"`
	} `json:"open"`
	Acknowledge *struct {
		Checkpoints int64 `json:"checkpoints"`
	} `json:"acknowledge"`
}

func flow() {
	in := bufio.NewReader(os.Stdin)
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		var r request
		if err != nil || json.Unmarshal(line, &r) != nil {
			if first && !fault("silent on an empty stdin") {
				fmt.Fprintln(os.Stderr, "usage: faulty COMMAND, or Flow requests on stdin")
				os.Exit(2)
			}
			return
		}
		if r.Open != nil {
			capture(in, r)
			return
		}
		answer(r)
	}
}

func refuse(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func answer(r request) {
	switch {
	case r.Spec != nil:
		s := object{"protocol": 3032023, "configSchema": configSchema(), "resourceConfigSchema": object{"type": "object"}, "resourcePathPointers": []string{"/namespace", "/stream"}}
		if fault("unknown member in spec") {
			s["version"] = 1
		}
		say(object{"spec": s})
	case r.Discover != nil:
		var list []object
		for _, s := range all {
			key := []string{"/_meta/at"}
			if s.key != nil {
				key = nil
			}
			for _, name := range s.key {
				key = append(key, "/"+name)
			}
			list = append(list, object{
				"recommendedName": namespace + "/" + s.name, "resourceConfig": object{"namespace": namespace, "stream": s.name}, "resourcePath": []string{namespace, s.name},
				"documentSchema": s.schema(false), "key": key,
			})
		}
		say(object{"discovered": object{"bindings": list}})
	case r.Validate != nil:
		if err := r.Validate.Config.usable(); err != nil {
			refuse(err)
		}
		var list []object
		for _, b := range r.Validate.Bindings {
			path := []string{namespace, b.Resource.Stream}
			if fault("validated without namespaces") {
				path = path[1:]
			}
			list = append(list, object{"resourcePath": path})
		}
		say(object{"validated": object{"bindings": list}})
	case r.Apply != nil:
		a := object{}
		if fault("state in applied") {
			a["state"] = object{}
		}
		say(object{"applied": a})
	}
}

func capture(in *bufio.Reader, r request) {
	at := positions(r.Open.State)
	tail := r.Open.Tail == nil || *r.Open.Tail
	var acknowledged atomic.Int64
	ended := make(chan struct{})
	listen()
	go func() {
		defer close(ended)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				if !fault("deaf to the end of stdin") {
					stopping.Store(true)
				}
				return
			}
			var a request
			if json.Unmarshal(line, &a) == nil && a.Acknowledge != nil {
				n := a.Acknowledge.Checkpoints
				if n == 0 && !fault("takes no number for zero") {
					n = 1
				}
				acknowledged.Add(n)
			}
		}
	}()
	f := &flowCapture{at: at, reset: r.Open.Reset}
	if !fault("no opened") {
		say(object{"opened": object{"explicitAcknowledgements": true}})
	}
	for i, b := range r.Open.Capture.Bindings {
		s, _ := named(b.Resource.Stream)
		f.streams = append(f.streams, s)
		if !fault("no sourcedSchema") {
			say(object{"sourcedSchema": object{"binding": i, "documentSchema": s.schema(true)}})
		}
	}
	f.run(r.Open.Capture.Config.Log, tail)
	deadline := time.Now().Add(10 * time.Second)
	for !tail && acknowledged.Load() < f.checkpoints && time.Now().Before(deadline) {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

type flowCapture struct {
	streams     []stream
	at          map[string]int
	reset       bool
	checkpoints int64
}

func (f *flowCapture) run(path string, tail bool) {
	line := 1 << 30
	for _, s := range f.streams {
		line = min(line, f.at[s.name])
	}
	f.checkpoint(line)
	for !stopping.Load() {
		waiting := changes(path, line)
		if len(waiting) == 0 {
			if !tail {
				break
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		n := min(batch, len(waiting))
		if fault("checkpoint before its documents") {
			f.checkpoint(line + n)
		}
		for _, c := range waiting[:n] {
			f.emit(c, line)
			line++
		}
		f.checkpoint(line)
	}
	if fault("a document after the last checkpoint") {
		say(object{"captured": object{"doc": object{"id": 1, "text": "late", "_meta": object{"op": "u"}}}})
	}
}

func (f *flowCapture) emit(c change, line int) {
	for i, s := range f.streams {
		if s.name != c.Stream || line < f.at[s.name] && !fault("doubles after a resume") {
			continue
		}
		if c.Void {
			if f.reset && fault("reset in the middle of a checkpoint") {
				say(object{"captured": object{"binding": i, "doc": object{"id": 1, "text": "x", "_meta": object{"op": "u"}}}})
			} else {
				f.checkpoint(line)
			}
			if f.reset && !fault("no reset") || fault("reset for everybody") {
				say(object{"reset": object{"binding": i, "reason": "line " + strings.Repeat("I", line%5+1)}})
			}
			continue
		}
		captured := object{"binding": i, "doc": c.Doc}
		if fault("a document with an undeclared field") {
			captured["doc"] = object{"id": 1, "a": "", "b": "", "n": 1, "line": "", "extra": 1, "_meta": object{"op": "c"}}
		}
		if fault("unknown member in captured") {
			captured["uuid"] = "x"
		}
		say(object{"captured": captured})
	}
}

func (f *flowCapture) checkpoint(line int) {
	bindings := object{}
	for _, s := range f.streams {
		at := max(line, f.at[s.name])
		if fault("doubles after a resume") {
			at = max(at-1, 0)
		}
		bindings[s.stateKey()] = object{"at": at}
	}
	f.checkpoints++
	state := object{"updated": object{"shared": object{"lines": line}, "bindings": bindings}, "mergePatch": true}
	if fault("replaces its state by half of it") {
		state = object{"updated": object{"shared": object{"lines": line}}}
	}
	say(object{"checkpoint": object{"state": state}})
}
