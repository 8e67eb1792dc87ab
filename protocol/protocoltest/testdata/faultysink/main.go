// Command faultysink is a whole materialization in miniature, with which the suites are tried: it is right, unless the variable FAULT names one thing that it
// does wrong. Its tables are a file of JSON, replaced at each commit.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

type object = map[string]any

type config struct {
	Path     string `json:"path"`
	Staged   bool   `json:"staged"`
	Password string `json:"password"`
}

const password = "open-sesame"

// say prints one line.
func say(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(0)
	}
}

// fail ends the process as the Flow protocol has it.
func fail(format string, args ...any) {
	line, _ := json.Marshal(object{"level": "error", "msg": fmt.Sprintf(format, args...)}) // strings
	fmt.Fprintln(os.Stderr, string(line))
	if fault("exit code 0 after an error") {
		os.Exit(0)
	}
	os.Exit(1)
}

func main() {
	if len(os.Args) == 1 {
		session()
		return
	}
	flags := map[string]string{}
	for _, arg := range os.Args[2:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		flags[name] = value
	}
	for i, arg := range os.Args {
		if arg == "--config" && i+1 < len(os.Args) {
			flags["config"] = os.Args[i+1]
		}
	}
	switch os.Args[1] {
	case "spec":
		modes := []string{"append", "append_dedup", "overwrite"}
		if fault("no destination modes") {
			modes = nil
		}
		say(object{"type": "SPEC", "spec": object{"connectionSpecification": configSchema("airbyte_secret"), "supported_destination_sync_modes": modes}})
	case "check":
		status := object{"status": "SUCCEEDED"}
		var c config
		text, err := os.ReadFile(flags["config"])
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err == nil {
			err = c.usable()
		}
		if err != nil {
			status = object{"status": "FAILED", "message": "the config cannot be used: " + strings.ReplaceAll(err.Error(), c.Password, "***")}
		}
		say(object{"type": "CONNECTION_STATUS", "connectionStatus": status})
	}
}

func (c config) usable() error {
	if c.Password != password && !fault("takes any password") {
		return fmt.Errorf("the password is wrong")
	}
	return nil
}

func configSchema(secret string) object {
	p := object{"type": "string", "title": "Password", "description": "Shown nowhere.", secret: true, "order": 2}
	s := object{
		"type": "object", "required": []string{"path"}, "properties": object{
			"path":     object{"type": "string", "title": "Path", "description": "The file.", "order": 0},
			"staged":   object{"type": "boolean", "title": "Staged", "description": "Leave the checkpoint to the runner.", "default": false, "order": 1},
			"password": p,
		},
	}
	switch {
	case secret == "secret" && fault("no title in a schema"):
		delete(p, "title")
	case secret == "secret" && fault("secret not marked"):
		delete(p, secret)
	case secret == "secret" && fault("unknown keyword in a schema"):
		p["airbyte_hidden"] = true
	case secret == "secret" && fault("boolean as a string"):
		p["advanced"] = "true"
	}
	return s
}

func resourceSchema() object {
	table := object{"type": "string", "title": "Table", "description": "Its name.", "x-collection-name": true, "order": 0}
	required := []string{"table"}
	switch {
	case fault("collection name not required"):
		required = []string{}
	case fault("collection name not marked"):
		delete(table, "x-collection-name")
	}
	return object{"type": "object", "required": required, "properties": object{
		"table": table,
		"delta": object{"type": "boolean", "title": "Delta updates", "description": "Only add rows.", "x-delta-updates": true, "default": false, "order": 1},
	}}
}

type collection struct {
	Name        string
	Projections []struct {
		Ptr, Field   string
		IsPrimaryKey bool
	}
}

type binding struct {
	ResourceConfig struct {
		Table string
		Delta bool
	}
	Collection     collection
	FieldSelection struct {
		Keys, Values []string
		Document     string
	}
	Backfill int
}

type materialization struct {
	Config   config
	Bindings []binding
}

type request struct {
	Spec     *object
	Validate *struct {
		Config   config
		Bindings []binding
	}
	Apply *struct {
		Materialization     materialization
		LastMaterialization *materialization
	}
	Open *struct {
		Materialization materialization
		State           json.RawMessage
	}
	Load, Store *document
	Flush       *object
	StartCommit *struct{ RuntimeCheckpoint json.RawMessage }
	Acknowledge *object
}

type document struct {
	Binding                 int
	Key, Values             []any
	KeyPacked, ValuesPacked string
	Doc                     json.RawMessage
	Exists, Delete          bool
}

// lines reads stdin.
type lines struct{ in *bufio.Reader }

// next returns the next request; nil: there is none.
func (l lines) next() *request {
	line, err := l.in.ReadString('\n')
	if fault("lines of 64 KiB at most") && len(line) > 64<<10 {
		fail("a line is too long")
	}
	if err != nil {
		return nil
	}
	r := &request{}
	d := json.NewDecoder(strings.NewReader(line))
	if !fault("numbers as floats") {
		d.UseNumber()
	}
	if err := d.Decode(r); err != nil {
		fail("a request cannot be read")
	}
	return r
}

// session answers requests.
func session() {
	in := lines{bufio.NewReaderSize(os.Stdin, 1<<20)}
	if first, err := in.in.Peek(1); err != nil || first[0] != '{' {
		if !fault("silent on an empty stdin") {
			fmt.Fprintln(os.Stderr, "usage: faultysink COMMAND, or Flow requests on stdin")
			os.Exit(2)
		}
		return
	}
	for r := in.next(); r != nil; r = in.next() {
		switch {
		case r.Spec != nil:
			s := object{"protocol": 3032023, "configSchema": configSchema("secret"), "resourceConfigSchema": resourceSchema(), "documentationUrl": "https://example.com"}
			if fault("unknown member in spec") {
				s["version"] = 1
			}
			say(object{"spec": s})
		case r.Validate != nil:
			validate(r)
		case r.Apply != nil:
			apply(r)
		case r.Open != nil:
			(&sink{in: in, bindings: r.Open.Materialization.Bindings, config: r.Open.Materialization.Config}).run(r.Open.State)
			return
		default:
			fail("nothing is open")
		}
	}
}

func validate(r *request) {
	if err := r.Validate.Config.usable(); err != nil {
		fail("%v", err)
	}
	list := []object{}
	for _, b := range r.Validate.Bindings {
		constraints := object{}
		for _, p := range b.Collection.Projections {
			kind := "FIELD_OPTIONAL"
			if p.IsPrimaryKey {
				kind = "LOCATION_REQUIRED"
			}
			if fault("constraint of an unknown type") {
				kind = "FIELD_WANTED"
			}
			constraints[p.Field] = object{"type": kind, "reason": "fits"}
		}
		if fault("no constraint for a field") {
			delete(constraints, "text")
		}
		v := object{"constraints": constraints, "resourcePath": []string{b.ResourceConfig.Table}, "deltaUpdates": b.ResourceConfig.Delta}
		switch {
		case fault("constraints as a list"):
			v["projectionConstraints"] = []object{}
		case fault("no deltaUpdates"):
			delete(v, "deltaUpdates")
		}
		list = append(list, v)
	}
	say(object{"validated": object{"bindings": list}})
}

// apply makes tables, and empties those that start over.
func apply(r *request) {
	w := read(r.Apply.Materialization.Config.Path)
	before := map[string]int{}
	if last := r.Apply.LastMaterialization; last != nil {
		for _, b := range last.Bindings {
			before[b.ResourceConfig.Table] = b.Backfill
		}
	}
	done := ""
	for _, b := range r.Apply.Materialization.Bindings {
		table := b.ResourceConfig.Table
		backfill, known := before[table]
		again := known && backfill != b.Backfill
		if w.Tables[table] != nil && !again {
			continue
		}
		if !again || !fault("keeps rows after a backfill") {
			w.Tables[table] = map[string]object{}
		}
		done += "make " + table + "\n"
	}
	if fault("apply does the same again") {
		done = "make everything"
	}
	w.write(r.Apply.Materialization.Config.Path)
	say(object{"applied": object{"actionDescription": done}})
}
