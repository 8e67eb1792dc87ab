package main

import (
	"encoding/json"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type configured struct {
	Stream struct {
		Name string `json:"name"`
	} `json:"stream"`
	Mode        string            `json:"sync_mode"`
	Projections map[string]string `json:"estuary.dev/projections"`
}

type catalog struct {
	Streams []configured `json:"streams"`
	Tail    bool         `json:"estuary.dev/tail"`
	Range   *keyRange    `json:"estuary.dev/range"`
	Bare    *keyRange    `json:"range"`
}

type keyRange struct {
	Begin string `json:"begin"`
	End   string `json:"end"`
}

func (r *keyRange) owns(at uint32) bool {
	if r == nil || fault("deaf to ranges") {
		return true
	}
	begin, _ := strconv.ParseUint(r.Begin, 16, 32)
	end, _ := strconv.ParseUint(r.End, 16, 32)
	if fault("exclusive range") {
		return uint64(at) > begin+0x10000000 && uint64(at) < end
	}
	return uint64(at) >= begin && uint64(at) <= end
}

// stopping is set by SIGTERM.
var stopping atomic.Bool

func listen() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		stopping.Store(true)
		if fault("waits for its reader after SIGTERM") {
			return
		}
		time.Sleep(3 * time.Second)
		os.Exit(0)
	}()
}

// batch is how many lines of the log make a checkpoint.
const batch = 5

func read() {
	c := loadConfig()
	var cat catalog
	if err := json.Unmarshal(input("catalog"), &cat); err != nil {
		fail("the catalog is no JSON object")
	}
	r := cat.Range
	if r == nil {
		r = cat.Bare
	}
	at := positions(input("state"))
	listen()
	p := &plain{at: at, extended: cat.Range != nil || cat.Bare != nil || cat.Tail, since: map[string]int{}, running: map[string]bool{}}
	var missing []string
	for _, s := range cat.Streams {
		if s.Mode != "incremental" && s.Mode != "full_refresh" && !fault("takes any mode") {
			fail("the mode is neither incremental nor full_refresh")
		}
		known, ok := named(s.Stream.Name)
		if !ok && !fault("passes over unknown streams") {
			missing = append(missing, s.Stream.Name)
		}
		if !fault("no STARTED") {
			status(known, "STARTED")
		}
		if ok {
			p.streams = append(p.streams, known)
			if r.owns(known.at) {
				p.owned = append(p.owned, known)
			}
			p.projections = append(p.projections, s.Projections)
		}
	}
	if len(missing) > 0 && fault("one unknown stream stops all") {
		fail("a stream is unknown")
	}
	p.run(c.Log, cat.Tail)
	for _, name := range missing {
		status(stream{name: name}, "INCOMPLETE")
	}
	if fault("half a line at the end") {
		_, _ = os.Stdout.WriteString(`{"type":"LOG","log":{"le`)
	}
	if len(missing) > 0 {
		fail("the stream " + missing[0] + " is not there: take it out of the catalog")
	}
	if fault("exit code 3 after a read") {
		os.Exit(3)
	}
}

// positions reads a state: a list of STREAM states, or the document of a runner with our extensions, bare or wrapped.
func positions(raw []byte) map[string]int {
	at := map[string]int{}
	if len(raw) == 0 || fault("forgets its state") {
		return at
	}
	type own struct {
		At int `json:"at"`
	}
	var list []struct {
		Type   string          `json:"type"`
		Global json.RawMessage `json:"global_"`
		Data   json.RawMessage `json:"data"`
		Stream struct {
			Descriptor struct {
				Name      string          `json:"name"`
				Namespace json.RawMessage `json:"namespace"`
			} `json:"stream_descriptor"`
			State own `json:"stream_state"`
		} `json:"stream"`
	}
	if err := json.Unmarshal(raw, &list); err == nil {
		for _, s := range list {
			if fault("trips over null in a state") && s.Global != nil {
				fail("global_ is no object")
			}
			at[s.Stream.Descriptor.Name] = s.Stream.State.At
		}
		return at
	}
	var document struct {
		Bindings map[string]own  `json:"bindings"`
		Data     json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		fail("the state is no JSON")
	}
	if document.Data != nil {
		return positions(document.Data)
	}
	for _, s := range all {
		at[s.name] = document.Bindings[s.stateKey()].At
	}
	return at
}

// plain is a read under the Airbyte commands.
type plain struct {
	streams, owned []stream
	projections    []map[string]string
	at             map[string]int // lines of the log that are behind, by stream
	since          map[string]int // records since the last STATE
	running        map[string]bool
	extended       bool
	start          int // the first line of this run
}

// oldest is where the log is read from: what is behind one stream may be ahead of another.
func (p *plain) oldest() int {
	var at []int
	for _, s := range p.streams {
		at = append(at, p.at[s.name])
	}
	sort.Ints(at)
	if len(at) == 0 {
		return 0
	}
	if fault("starts at the newest position") {
		return at[len(at)-1]
	}
	return at[0]
}

func (p *plain) run(path string, tail bool) {
	line := p.oldest()
	p.start = line
	for !stopping.Load() {
		waiting := changes(path, line)
		for len(waiting) > 0 && !stopping.Load() {
			n := min(batch, len(waiting))
			for _, c := range waiting[:n] {
				p.emit(c, line)
				line++
			}
			waiting = waiting[n:]
			p.checkpoint(line, false)
		}
		if !tail {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if stopping.Load() && fault("a RECORD after SIGTERM") {
		p.record(all[0], json.RawMessage(`{"id":1,"text":"late","_meta":{"op":"u"}}`))
	} else {
		p.checkpoint(line, true)
	}
	if fault("a RECORD after the last STATE") {
		p.record(all[0], json.RawMessage(`{"id":1,"text":"late","_meta":{"op":"u"}}`))
	}
	for _, s := range p.streams {
		if fault("no last status") {
			continue
		}
		if !p.running[s.name] {
			status(s, "RUNNING")
		}
		if stopping.Load() {
			status(s, "INCOMPLETE")
		} else {
			status(s, "COMPLETE")
		}
	}
}

func (p *plain) emit(c change, line int) {
	for i, s := range p.owned {
		if s.name != c.Stream || c.Void || line < p.at[s.name] && !fault("starts at the newest position") {
			continue
		}
		if fault("loses a line after a resume") && line > 0 && line == p.start {
			continue
		}
		doc := c.Doc
		if fault("brings a line twice after a resume") && p.start > 0 {
			p.record(s, doc)
		}
		if p.extended && len(p.projections[i]) > 0 && !fault("deaf to projections") {
			doc = project(doc, p.projections[i])
		}
		p.record(s, doc)
	}
}

// project moves the fields that the suites move: below one other.
func project(doc json.RawMessage, to map[string]string) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc, &fields); err != nil {
		panic(err)
	}
	for name, pointer := range to {
		parent, _, nested := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		if value, there := fields[name]; nested && there {
			below, _ := json.Marshal(map[string]json.RawMessage{name: value})
			delete(fields, name)
			fields[strings.ReplaceAll(parent, "~1", "/")] = below
		}
	}
	out, _ := json.Marshal(fields)
	return out
}

func (p *plain) record(s stream, doc json.RawMessage) {
	if !p.running[s.name] && !fault("no RUNNING") {
		status(s, "RUNNING")
	}
	p.running[s.name] = true
	p.since[s.name]++
	r := object{"stream": s.name, "namespace": namespace, "data": doc, "emitted_at": millis()}
	switch {
	case fault("a RECORD of another stream"):
		r["stream"] = "strangers"
	case fault("no namespace in RECORDs"):
		delete(r, "namespace")
	case fault("a value of another type") && s.name == "items":
		r["data"] = object{"id": "one", "text": nil, "_meta": object{"op": "c"}}
	case fault("an undeclared field"):
		r["data"] = object{"id": 1, "a": "", "b": "", "n": 1, "line": "", "extra": 1, "_meta": object{"op": "c"}}
	case fault("a null key") && s.name == "pairs":
		r["data"] = object{"a": nil, "b": "x", "n": 1, "_meta": object{"op": "c"}}
	case fault("one time for all"):
		r["emitted_at"] = int64(1700000000000)
	}
	say(object{"type": "RECORD", "record": r})
}

func status(s stream, to string) {
	d := s.descriptor()
	say(object{"type": "TRACE", "trace": object{"type": "STREAM_STATUS", "emitted_at": millis(), "stream_status": object{"stream_descriptor": d, "status": to}}})
}

// checkpoint says that all lines before this one are behind.
func (p *plain) checkpoint(line int, last bool) {
	patch := object{"shared": object{"lines": line}}
	bindings := object{}
	patch["bindings"] = bindings
	var due []stream
	for _, s := range p.owned {
		if p.since[s.name] > 0 || last {
			due = append(due, s)
			p.at[s.name] = max(line, p.at[s.name])
			bindings[s.stateKey()] = object{"at": p.at[s.name]}
		}
	}
	for _, s := range due {
		p.state(s, line, patch)
		patch = object{}
	}
}

func (p *plain) state(s stream, line int, patch object) {
	n := p.since[s.name]
	p.since[s.name] = 0
	if fault("counts one too many") {
		n++
	}
	own := object{"~shared": object{"lines": line}, "at": p.at[s.name]}
	st := object{"type": "STREAM", "stream": object{"stream_descriptor": s.descriptor(), "stream_state": own}, "sourceStats": object{"recordCount": n}}
	if p.extended && !fault("no patch in a STATE") || fault("a patch for a plain runner") {
		st["data"], st["estuary.dev/merge"] = patch, true
	}
	if fault("half a patch") {
		delete(patch, "shared")
	}
	switch {
	case fault("data beside a STREAM state"):
		st["data"] = object{"at": line}
	case fault("LEGACY states"):
		st = object{"type": "LEGACY", "data": own}
	case fault("no count"):
		delete(st, "sourceStats")
	case fault("no STATE of notes") && s.name == "notes":
		return
	}
	say(object{"type": "STATE", "state": st})
}
