// Command airbyte is an Airbyte source in miniature, which reads the same kind of file as the Flow one: {"stream":…,"doc":…} lines. After each commit every
// stream with new records gets a STATE. Without arguments it knows nothing to do, as sources written in Python.
package main

import (
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
	Password string       `json:"password"`
	Says     []string     `json:"says"`   // lines that are printed before the records
	Pause    int          `json:"pause"`  // milliseconds after each commit
	Kind     string       `json:"kind"`   // of STATEs: STREAM unless given; UNTYPED: LEGACY that does not say so; none: statuses only
	Opaque   bool         `json:"opaque"` // LEGACY: one line for all streams, and no member for each
	Crash    *crash.Point `json:"crash"`
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

func input(name string, into any) {
	for i, arg := range os.Args {
		if arg == "--"+name {
			raw, err := os.ReadFile(os.Args[i+1])
			if err == nil {
				err = json.Unmarshal(raw, into)
			}
			if err != nil {
				fail(err.Error())
			}
		}
	}
}

func fail(text string) {
	say(object{"type": "TRACE", "trace": object{"type": "ERROR", "emitted_at": 1.0, "error": object{"message": text, "failure_type": "config_error"}}})
	os.Exit(1)
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: airbyte [-h] {spec,check,discover,read}")
		os.Exit(2)
	}
	var c config
	input("config", &c)
	switch os.Args[1] {
	case "spec":
		say(object{"type": "LOG", "log": object{"level": "INFO", "message": "starting"}})
		say(object{"type": "SPEC", "spec": object{"connectionSpecification": object{"type": "object", "properties": object{"password": object{"type": "string", "airbyte_secret": true}}}}})
	case "check":
		say(object{"type": "CONNECTION_STATUS", "connectionStatus": object{"status": "SUCCEEDED", "message": nil}})
	case "discover":
		list := []object{}
		for _, stream := range c.Streams {
			s := object{
				"name": stream, "namespace": nil, "supported_sync_modes": []string{"full_refresh", "incremental"}, "source_defined_cursor": true,
				"json_schema": object{"type": "object", "properties": object{"id": object{"type": "integer"}, "name": object{"type": []string{"null", "string"}}}},
			}
			if stream != "events" {
				s["source_defined_primary_key"] = [][]string{{"id"}}
			}
			list = append(list, s)
		}
		say(object{"type": "CATALOG", "catalog": object{"streams": list}})
	case "read":
		read(c)
	}
}

type state struct {
	Line int `json:"line"`
}

func (c config) legacy() bool { return c.Kind == "LEGACY" || c.Kind == "UNTYPED" }

// restoreLegacy reads a state file that holds what was in the data of a STATE, with a member for each stream, or one line for all.
func (c config) restoreLegacy(at map[string]int) {
	raw := json.RawMessage{}
	input("state", &raw)
	if len(raw) > 0 && raw[0] == '[' { // none yet
		return
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(raw, &data); err != nil {
		fail("the state is no object: " + string(raw))
	}
	for name := range at {
		member := name
		if c.Opaque {
			member = "line"
		}
		line := at[name]
		if data[member] != nil && json.Unmarshal(data[member], &line) != nil {
			fail("the state of " + member + " is no number")
		}
		at[name] = line
	}
}

func (c config) sayLegacy(at map[string]int, line int) {
	data := object{"data": at}
	if c.Opaque {
		data["data"] = object{"line": line}
	}
	if c.Kind == "LEGACY" {
		data["type"] = c.Kind
	}
	say(object{"type": "STATE", "state": data})
}

func read(c config) {
	var catalog struct {
		Streams []struct {
			Stream struct {
				Name string `json:"name"`
			} `json:"stream"`
		} `json:"streams"`
	}
	input("catalog", &catalog)
	var states []struct {
		Stream struct {
			Descriptor struct {
				Name string `json:"name"`
			} `json:"stream_descriptor"`
			State state `json:"stream_state"`
		} `json:"stream"`
		Global struct {
			Shared state `json:"shared_state"`
		} `json:"global"`
	}
	at := map[string]int{}
	for _, s := range catalog.Streams {
		at[s.Stream.Name] = 0
	}
	if c.legacy() {
		c.restoreLegacy(at)
	} else {
		input("state", &states)
	}
	for _, s := range states {
		if c.Kind == "GLOBAL" {
			for name := range at {
				at[name] = s.Global.Shared.Line
			}
			continue
		}
		at[s.Stream.Descriptor.Name] = s.Stream.State.Line
	}
	raw, err := os.ReadFile(c.Log)
	if err != nil {
		fail("the log " + c.Log + " cannot be read")
	}
	fmt.Println("reading, says a library")
	for _, line := range c.Says {
		fmt.Println(line)
	}
	fresh := map[string]bool{}
	for line, text := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		var e struct {
			Stream string          `json:"stream"`
			Doc    json.RawMessage `json:"doc"`
			Commit bool            `json:"commit"`
		}
		if err := json.Unmarshal(text, &e); err != nil {
			continue
		}
		if from, bound := at[e.Stream]; bound && e.Doc != nil && line >= from {
			c.Crash.At("document")
			say(object{"type": "RECORD", "record": object{"stream": e.Stream, "namespace": nil, "data": e.Doc, "emitted_at": time.Now().Unix(), "meta": nil}})
			fresh[e.Stream] = true
		}
		if !e.Commit {
			continue
		}
		for name := range fresh {
			at[name] = max(at[name], line+1)
		}
		if c.legacy() && len(fresh) > 0 {
			clear(fresh)
			c.sayLegacy(at, line+1)
			c.Crash.At("state")
		}
		for _, s := range catalog.Streams {
			if !fresh[s.Stream.Name] || c.Kind == "none" {
				continue
			}
			body := object{"type": "STREAM", "stream": object{"stream_descriptor": object{"name": s.Stream.Name, "namespace": nil}, "stream_state": state{line + 1}}, "data": nil}
			if c.Kind == "GLOBAL" {
				body = object{"type": "GLOBAL", "global": object{"shared_state": state{line + 1}, "stream_states": []object{}}}
			}
			delete(fresh, s.Stream.Name)
			say(object{"type": "STATE", "state": body})
			c.Crash.At("state")
		}
		time.Sleep(time.Duration(c.Pause) * time.Millisecond)
	}
	if c.Kind == "none" {
		for _, s := range catalog.Streams {
			say(object{"type": "TRACE", "trace": object{"type": "STREAM_STATUS", "emitted_at": 1.0, "stream_status": object{"stream_descriptor": object{"name": s.Stream.Name}, "status": "COMPLETE"}}})
		}
	}
}
