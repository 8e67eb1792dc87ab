// Command sink is a materialization in miniature, which keeps its tables in a file that it replaces at each commit. It holds the runner to the order of the
// protocol. With "staged" the checkpoint is the runner's, and what a transaction does is described in the state and done when it is acknowledged.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/estuary/connectors/internal/pipeline/runner/testdata/crash"
)

type object = map[string]any

type config struct {
	Path     string       `json:"path"`
	Staged   bool         `json:"staged"`
	Fail     string       `json:"fail"`
	Password string       `json:"password"`
	Crash    *crash.Point `json:"crash"`
}

type field struct {
	Pointer string `json:"ptr"`
	Field   string `json:"field"`
}

type binding struct {
	Resource struct {
		Table string `json:"table"`
		Delta bool   `json:"delta"`
	} `json:"resourceConfig"`
	Collection struct {
		Projections []field `json:"projections"`
	} `json:"collection"`
	Fields struct {
		Keys     []string `json:"keys"`
		Values   []string `json:"values"`
		Document string   `json:"document"`
	} `json:"fieldSelection"`
	Delta    bool   `json:"deltaUpdates"`
	Backfill int    `json:"backfill"`
	StateKey string `json:"stateKey"`
}

type task struct {
	Name     string    `json:"name"`
	Config   config    `json:"config"`
	Bindings []binding `json:"bindings"`
	Inactive []binding `json:"inactiveBindings"`
}

type request struct {
	Spec     *struct{} `json:"spec"`
	Validate *task     `json:"validate"`
	Apply    *struct {
		Task task  `json:"materialization"`
		Last *task `json:"lastMaterialization"`
	} `json:"apply"`
	Open *struct {
		Task  task            `json:"materialization"`
		State json.RawMessage `json:"state"`
	} `json:"open"`
	Load *struct {
		Binding int               `json:"binding"`
		Key     []json.RawMessage `json:"key"`
	} `json:"load"`
	Flush *struct{} `json:"flush"`
	Store *struct {
		Binding int               `json:"binding"`
		Key     []json.RawMessage `json:"key"`
		Values  []json.RawMessage `json:"values"`
		Doc     json.RawMessage   `json:"doc"`
		Exists  bool              `json:"exists"`
		Delete  bool              `json:"delete"`
	} `json:"store"`
	StartCommit *struct {
		Checkpoint json.RawMessage `json:"runtimeCheckpoint"`
	} `json:"startCommit"`
	Acknowledge *struct{} `json:"acknowledge"`
}

// table is what the file holds of one.
type table struct {
	Columns []string                              `json:"columns"`
	Rows    map[string]map[string]json.RawMessage `json:"rows,omitempty"` // by key
	Log     []map[string]json.RawMessage          `json:"log,omitempty"`  // of a delta table
	Emptied int                                   `json:"emptied"`
}

type database struct {
	Checkpoints map[string]json.RawMessage `json:"checkpoints"`
	Tables      map[string]*table          `json:"tables"`
	Txns        int                        `json:"txns"`
	Loads       int                        `json:"loads"`
	Last        string                     `json:"last"` // id of the last staged transaction that was done
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

func load(path string) *database {
	db := &database{Checkpoints: map[string]json.RawMessage{}, Tables: map[string]*table{}}
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return db
	}
	if err == nil {
		err = json.Unmarshal(raw, db)
	}
	if err != nil {
		fail(err.Error())
	}
	return db
}

func (db *database) save(path string) {
	raw, err := json.Marshal(db)
	if err == nil {
		err = os.WriteFile(path+".next", raw, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".next", path)
	}
	if err != nil {
		fail(err.Error())
	}
}

func (db *database) table(b binding) *table {
	t := db.Tables[b.Resource.Table]
	if t == nil {
		fail("there is no table " + b.Resource.Table)
	}
	if t.Rows == nil {
		t.Rows = map[string]map[string]json.RawMessage{}
	}
	return t
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fail(err.Error() + " in " + string(line))
		}
		switch {
		case r.Spec != nil:
			say(object{"spec": object{
				"protocol": 3032023, "configSchema": object{"type": "object", "properties": object{"password": object{"type": "string", "secret": true}}},
				"resourceConfigSchema": object{"type": "object", "properties": object{
					"table": object{"type": "string", "x-collection-name": true}, "delta": object{"type": "boolean", "x-delta-updates": true},
				}},
			}})
		case r.Validate != nil:
			validate(r.Validate)
		case r.Apply != nil:
			apply(&r.Apply.Task, r.Apply.Last)
		case r.Open != nil:
			s := &session{in: in, task: r.Open.Task}
			s.run(r.Open.State)
			return
		default:
			fail("a transaction without open: " + string(line))
		}
	}
}

func validate(t *task) {
	if t.Config.Fail != "" {
		fail(t.Config.Fail + " " + t.Config.Password)
	}
	list := []object{}
	for _, b := range t.Bindings {
		constraints := object{}
		for _, p := range b.Collection.Projections {
			kind := "LOCATION_RECOMMENDED"
			if p.Pointer == "" {
				kind = "FIELD_OPTIONAL"
			}
			constraints[p.Field] = object{"type": kind, "reason": "a toy takes everything"}
		}
		list = append(list, object{"resourcePath": []string{b.Resource.Table}, "deltaUpdates": b.Resource.Delta, "constraints": constraints})
	}
	say(object{"validated": object{"bindings": list}})
}

func apply(t, last *task) {
	db := load(t.Config.Path)
	var done []string
	for _, b := range t.Bindings {
		crash.StartedOver = crash.StartedOver || b.Backfill > 0
		tb := db.Tables[b.Resource.Table]
		if tb == nil {
			tb = &table{Rows: map[string]map[string]json.RawMessage{}}
			db.Tables[b.Resource.Table] = tb
			done = append(done, "create "+b.Resource.Table)
		}
		if last != nil {
			for _, l := range append(last.Bindings[:len(last.Bindings):len(last.Bindings)], last.Inactive...) {
				if l.Resource.Table == b.Resource.Table && l.Backfill != b.Backfill {
					tb.Rows, tb.Log = map[string]map[string]json.RawMessage{}, nil
					tb.Emptied++
					done = append(done, "empty "+b.Resource.Table)
				}
			}
		}
		for _, column := range append(append([]string{}, b.Fields.Keys...), b.Fields.Values...) {
			if !contains(tb.Columns, column) {
				tb.Columns = append(tb.Columns, column)
				done = append(done, "add "+column)
			}
		}
	}
	t.Config.Crash.At("applying")
	db.save(t.Config.Path)
	t.Config.Crash.At("applied")
	say(object{"applied": object{"actionDescription": strings.Join(done, "; ")}})
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
