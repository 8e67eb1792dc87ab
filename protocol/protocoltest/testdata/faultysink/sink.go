package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// change is one row of a transaction; a nil row is removed.
type change struct {
	Table, Key string
	Row        object
}

// sink is an open session. It reads and writes by turns, which is all that a miniature needs.
type sink struct {
	in       lines
	config   config
	bindings []binding
	world    *world
	fence    int
	added    int      // rows of delta tables
	pending  []change // staged, and committed by the runner
}

func (s *sink) run(state json.RawMessage) {
	if fault("deaf to SIGTERM") {
		signal.Ignore(syscall.SIGTERM)
	}
	if fault("deaf to the end of stdin") {
		defer func() { select {} }()
	}
	if !fault("deaf to SIGTERM") {
		stopped := make(chan os.Signal, 1)
		signal.Notify(stopped, syscall.SIGTERM)
		go func() {
			<-stopped
			if fault("exit code 143 after SIGTERM") {
				os.Exit(143)
			}
			os.Exit(0)
		}()
	}
	s.open(state)
	for s.transaction() {
	}
}

func (s *sink) open(state json.RawMessage) {
	s.world = read(s.config.Path)
	s.world.Fence++
	s.fence = s.world.Fence
	if fault("counts its bindings") && s.world.Bindings != 0 && s.world.Bindings != len(s.bindings) {
		fail("index out of range")
	}
	s.world.Bindings = len(s.bindings)
	s.world.write(s.config.Path)
	answer := object{}
	switch {
	case s.config.Staged:
		var staged struct{ Staged string }
		if err := json.Unmarshal(state, &staged); err != nil {
			fail("the state cannot be read")
		}
		if staged.Staged != "" && !fault("forgets what is staged") {
			d := json.NewDecoder(strings.NewReader(staged.Staged))
			d.UseNumber()
			if err := d.Decode(&s.pending); err != nil {
				fail("the state cannot be read")
			}
		}
		if fault("empty checkpoint for none") {
			answer["runtimeCheckpoint"] = object{}
		}
	case s.world.Checkpoint == nil:
		answer["runtimeCheckpoint"] = object{}
		if fault("no checkpoint for an empty one") {
			delete(answer, "runtimeCheckpoint")
		}
	case fault("checkpoint written anew"):
		var v object
		if err := json.Unmarshal(s.world.Checkpoint, &v); err != nil {
			fail("the checkpoint cannot be read")
		}
		answer["runtimeCheckpoint"] = v
	default:
		answer["runtimeCheckpoint"] = s.world.Checkpoint
	}
	say(object{"opened": answer})
}

// transaction runs one; false: stdin has ended.
func (s *sink) transaction() bool {
	var loads []*document
	acknowledged := false
	for {
		r := s.in.next()
		switch {
		case r == nil:
			if len(loads) > 0 {
				fail("the runner ended in the middle of a transaction")
			}
			if fault("exit code 1 at a boundary") {
				os.Exit(1)
			}
			return false
		case r.Acknowledge != nil && !acknowledged:
			acknowledged = true
			s.acknowledge()
			if fault("forgets loads before acknowledge") {
				loads = nil
			}
		case r.Load != nil:
			s.check(r.Load)
			loads = append(loads, r.Load)
		case r.Flush != nil && (acknowledged || fault("takes any order")):
			s.load(loads)
			return s.store()
		default:
			if !fault("takes any order") {
				fail("a request in the wrong place")
			}
		}
	}
}

func (s *sink) acknowledge() {
	answer := object{}
	if s.pending != nil {
		s.world = read(s.config.Path)
		s.put(s.pending)
		s.world.write(s.config.Path)
		s.pending = nil
		answer["state"] = object{"updated": object{"Staged": nil}, "mergePatch": true}
	}
	if fault("state without mergePatch") {
		answer["state"] = object{"updated": object{}}
	}
	if !fault("no acknowledged") {
		say(object{"acknowledged": answer})
	}
}

// check fills in the key of a load or store.
func (s *sink) check(d *document) {
	if d.Binding >= len(s.bindings) {
		fail("a request of a binding that is not open")
	}
	if d.Key == nil && d.KeyPacked != "" && !fault("JSON keys only") {
		d.Key = unpack(d.KeyPacked)
	} else if fault("packed keys only") {
		d.Key = unpack(d.KeyPacked)
	}
	if len(d.Key) != len(s.bindings[d.Binding].FieldSelection.Keys) && !fault("takes any order") {
		fail("a key of the wrong length")
	}
}

func keyText(key []any) string { return fmt.Sprint(key...) }

func (s *sink) load(loads []*document) {
	if len(loads) == 0 && fault("trips over a transaction without loads") {
		fail("an empty query")
	}
	for _, l := range loads {
		b := s.bindings[l.Binding]
		row, there := s.world.Tables[b.ResourceConfig.Table][keyText(l.Key)]
		if !there {
			if fault("loads what is not there") {
				say(object{"loaded": object{"binding": l.Binding, "doc": object{b.FieldSelection.Keys[0]: l.Key[0]}}})
			}
			continue
		}
		var doc any = row["flow_document"]
		if b.FieldSelection.Document == "" {
			doc = row
		}
		answer := object{"binding": l.Binding, "doc": doc}
		if fault("unknown member in loaded") {
			answer["key"] = 1
		}
		if fault("loads all but one") && l == loads[0] {
			continue
		}
		if fault("loaded after flushed") && l == loads[0] {
			defer say(object{"loaded": answer})
			continue
		}
		say(object{"loaded": answer})
		if fault("loads twice") {
			say(object{"loaded": answer})
		}
	}
	if fault("banner") {
		fmt.Println("flushing")
	}
	if fault("secret in a log") {
		fmt.Fprintln(os.Stderr, "flushing with "+s.config.Password)
	}
	say(object{"flushed": object{}})
}

// store reads documents and commits them; false: stdin has ended.
func (s *sink) store() bool {
	var list []change
	last := map[int]string{}
	for {
		r := s.in.next()
		switch {
		case r == nil:
			if fault("commits at the end of stdin") && !s.config.Staged {
				s.world = read(s.config.Path)
				s.put(list)
				s.world.write(s.config.Path)
			}
			fail("the runner ended in the middle of a transaction")
		case r.Store != nil:
			s.check(r.Store)
			c := s.change(r.Store)
			if raw := packedText(r.Store.Key); !s.bindings[r.Store.Binding].ResourceConfig.Delta && !fault("takes any order") {
				if before, ok := last[r.Store.Binding]; ok && raw <= before {
					fail("keys out of order")
				}
				last[r.Store.Binding] = raw
			}
			if c.Row == nil && fault("keeps what is deleted") {
				continue
			}
			list = append(list, c)
			if fault("writes while it stores") {
				s.put([]change{c})
				s.world.write(s.config.Path)
			}
			if fault("speaks among stores") {
				say(object{"stored": object{}})
			}
		case r.StartCommit != nil:
			if len(list) == 0 && fault("trips over a transaction without stores") {
				fail("no last binding")
			}
			s.commit(list, r.StartCommit.RuntimeCheckpoint)
			return true
		default:
			if !fault("takes any order") {
				fail("a request in the wrong place")
			}
		}
	}
}

func (s *sink) change(d *document) change {
	b := s.bindings[d.Binding]
	c := change{Table: b.ResourceConfig.Table, Key: keyText(d.Key)}
	if b.ResourceConfig.Delta && !fault("one row of a key in a delta table") {
		s.added++
		c.Key = fmt.Sprint(os.Getpid(), ".", s.added)
	}
	if d.Delete {
		return c
	}
	if d.Values == nil {
		d.Values = unpack(d.ValuesPacked)
	}
	c.Row = object{}
	for i, name := range b.FieldSelection.Keys {
		if i < len(d.Key) {
			c.Row[name] = d.Key[i]
		}
	}
	for i, name := range b.FieldSelection.Values {
		if i < len(d.Values) {
			c.Row[name] = d.Values[i]
		}
	}
	if b.FieldSelection.Document != "" {
		c.Row["flow_document"] = d.Doc
	}
	if fault("drops a column") {
		delete(c.Row, "customer")
	}
	if fault("inserts only what does not exist") && d.Exists {
		c.Row = s.world.Tables[c.Table][c.Key]
	}
	return c
}

func (s *sink) put(list []change) {
	for i, c := range list {
		if strings.Contains(c.Key, ".") && fault("adds what is staged again") {
			c.Key = fmt.Sprint(os.Getpid(), ".again.", i)
		}
		if s.world.Tables[c.Table] == nil {
			s.world.Tables[c.Table] = map[string]object{}
		}
		if c.Row == nil {
			delete(s.world.Tables[c.Table], c.Key)
		} else {
			s.world.Tables[c.Table][c.Key] = maps.Clone(c.Row)
		}
	}
}

func (s *sink) commit(list []change, checkpoint json.RawMessage) {
	now := read(s.config.Path)
	if now.Fence != s.fence && !s.config.Staged && !fault("no fence") {
		fail("a newer session has taken over")
	}
	answer := object{}
	if s.config.Staged {
		text, err := json.Marshal(list)
		if err != nil {
			fail("the rows cannot be written")
		}
		s.pending = list
		answer["state"] = object{"updated": object{"Staged": string(text)}, "mergePatch": true}
	} else if !fault("answers before it commits") {
		s.save(now, list, checkpoint)
	}
	say(object{"startedCommit": answer})
	if fault("answers before it commits") {
		if r := s.in.next(); r == nil || r.Acknowledge == nil {
			os.Exit(0)
		}
		s.save(now, list, checkpoint)
		say(object{"acknowledged": object{}})
		for r := s.in.next(); r != nil && r.Flush == nil; r = s.in.next() {
		}
		os.Exit(0)
	}
}

func (s *sink) save(now *world, list []change, checkpoint json.RawMessage) {
	s.world = now
	s.put(list)
	if s.world.Checkpoint == nil || !fault("an older checkpoint") {
		s.world.Checkpoint = checkpoint
	}
	s.world.write(s.config.Path)
}
