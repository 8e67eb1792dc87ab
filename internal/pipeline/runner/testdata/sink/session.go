package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// session runs transactions.
type session struct {
	in     *bufio.Reader
	task   task
	db     *database
	loaded []request
	stores []request
	staged string // the file of a transaction that waits to be acknowledged
	id     string
}

type state struct {
	File string `json:"file,omitempty"`
	ID   string `json:"id,omitempty"`
}

func (s *session) next() (request, bool) {
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		return request{}, false
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		fail(err.Error() + " in " + string(line))
	}
	return r, true
}

func (s *session) run(raw json.RawMessage) {
	c := s.task.Config
	var given state
	if err := json.Unmarshal(raw, &given); err != nil {
		fail(err.Error())
	}
	s.staged, s.id = given.File, given.ID
	s.db = load(c.Path)
	opened := object{}
	if !c.Staged {
		opened["runtimeCheckpoint"] = object{}
		if cp := s.db.Checkpoints[s.task.Name]; cp != nil {
			opened["runtimeCheckpoint"] = cp
		}
	}
	c.Crash.At("opening")
	say(object{"opened": opened})
	c.Crash.At("opened")
	for {
		r, ok := s.next()
		if !ok {
			return
		}
		if r.Acknowledge == nil {
			fail("acknowledge has to come first")
		}
		s.acknowledge()
		for {
			if r, ok = s.next(); !ok {
				c.Crash.At("ending")
				return
			}
			if r.Flush != nil {
				break
			}
			if r.Load == nil {
				fail("only load and flush may come before flush")
			}
			c.Crash.At("load")
			s.answer(r)
		}
		c.Crash.At("flush")
		say(object{"flushed": object{}})
		s.stores = nil
		for {
			if r, ok = s.next(); !ok {
				return
			}
			if r.StartCommit != nil {
				break
			}
			if r.Store == nil {
				fail("only store and startCommit may come after flush")
			}
			c.Crash.At("store")
			s.stores = append(s.stores, r)
		}
		c.Crash.At("startCommit")
		s.commit(r.StartCommit.Checkpoint)
		c.Crash.At("committed")
	}
}

func (s *session) answer(r request) {
	b := s.task.Bindings[r.Load.Binding]
	if b.Delta {
		fail("a load of a delta table")
	}
	s.db.Loads++
	row, ok := s.db.table(b).Rows[keyOf(r.Load.Key)]
	if !ok {
		return
	}
	say(object{"loaded": object{"binding": r.Load.Binding, "doc": row}})
}

func keyOf(key []json.RawMessage) string {
	raw, _ := json.Marshal(key)
	return string(raw)
}

// effect is a store as a staged transaction describes it.
type effect struct {
	Binding int                        `json:"binding"`
	Key     string                     `json:"key"`
	Row     map[string]json.RawMessage `json:"row"`
	Delete  bool                       `json:"delete"`
	Delta   bool                       `json:"delta"`
}

func (s *session) effects() (list []effect) {
	for _, r := range s.stores {
		b := s.task.Bindings[r.Store.Binding]
		if len(r.Store.Values) != len(b.Fields.Values) || len(r.Store.Key) != len(b.Fields.Keys) {
			fail(fmt.Sprintf("table %s: %d keys and %d values were stored, the selection has %d and %d", b.Resource.Table, len(r.Store.Key), len(r.Store.Values), len(b.Fields.Keys), len(b.Fields.Values)))
		}
		row := map[string]json.RawMessage{}
		for i, name := range b.Fields.Keys {
			row[name] = r.Store.Key[i]
		}
		for i, name := range b.Fields.Values {
			row[name] = r.Store.Values[i]
		}
		if b.Fields.Document != "" {
			row[b.Fields.Document] = r.Store.Doc
		}
		e := effect{r.Store.Binding, keyOf(r.Store.Key), row, r.Store.Delete, b.Delta}
		if _, there := s.db.table(b).Rows[e.Key]; !b.Delta && there != r.Store.Exists {
			fail(fmt.Sprintf("table %s: exists is %v for key %s, the truth is %v", b.Resource.Table, r.Store.Exists, e.Key, there))
		}
		list = append(list, e)
	}
	return list
}

func (s *session) do(list []effect) {
	for _, e := range list {
		t := s.db.table(s.task.Bindings[e.Binding])
		switch {
		case e.Delta:
			t.Log = append(t.Log, e.Row)
		case e.Delete:
			delete(t.Rows, e.Key)
		default:
			t.Rows[e.Key] = e.Row
		}
	}
	if len(list) > 0 {
		s.db.Txns++
	}
}

func (s *session) commit(checkpoint json.RawMessage) {
	c := s.task.Config
	list := s.effects()
	if !c.Staged {
		s.do(list)
		s.db.Checkpoints[s.task.Name] = checkpoint
		c.Crash.At("commit")
		s.db.save(c.Path)
		c.Crash.At("saved")
		say(object{"startedCommit": object{}})
		return
	}
	raw, err := json.Marshal(list)
	if err != nil {
		fail(err.Error())
	}
	f, err := os.CreateTemp(filepath.Dir(c.Path), "staged-*.json")
	if err != nil {
		fail(err.Error())
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err != nil {
		fail(err.Error())
	}
	s.staged, s.id = f.Name(), filepath.Base(f.Name())
	c.Crash.At("saved")
	say(object{"startedCommit": object{"state": object{"mergePatch": true, "updated": state{s.staged, s.id}}}})
}

func (s *session) acknowledge() {
	c := s.task.Config
	if !c.Staged {
		c.Crash.At("acknowledge")
		say(object{"acknowledged": object{}})
		return
	}
	if s.staged == "" {
		say(object{"acknowledged": object{}})
		return
	}
	c.Crash.At("acknowledge")
	if s.db.Last != s.id {
		raw, err := os.ReadFile(s.staged)
		if err != nil {
			fail(err.Error())
		}
		var list []effect
		if err := json.Unmarshal(raw, &list); err != nil {
			fail(err.Error())
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].Binding < list[j].Binding })
		s.do(list)
		s.db.Last = s.id
		s.db.save(c.Path)
	}
	c.Crash.At("effects")
	_ = os.Remove(s.staged)
	s.staged = ""
	say(object{"acknowledged": object{"state": object{"mergePatch": true, "updated": object{"file": nil, "id": nil}}}})
}
