package filesourcetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/blob/servetest"
)

// Store is what differs between the connectors whose reading from a service is tested.
type Store struct {
	Binary string
	// Serve starts a fake of the service over a bucket named trips. Its test ends it.
	Serve func(*memblob.Bucket, Access) *servetest.Server
	// Login makes the members of a configuration that log in at an endpoint. Secrets are parts of it that no output may hold.
	Login   func(endpoint string) string
	Secrets []string
	// Machine is the environment that every run has: credentials that nobody asked for, and that no request may bear.
	Machine []string
	Wrong   []Wrong
	// Archives: there are classes of objects that have to be restored before they can be read. NoClass is one that looks like it, and is read as any other.
	Archives bool
	NoClass  string
}

// Access says who may read. Whoever logs in may always.
type Access struct {
	Public  bool // without credentials, too
	Pays    bool // only who pays
	Refuses bool // nobody who logs in
}

// Wrong is a login that the service refuses.
type Wrong struct {
	Name   string
	Access Access
	Login  string
	Cure   string // part of the sentence that says what to do
}

// service is a running fake and the connector before it.
type service struct {
	*testing.T
	Store
	memory *memblob.Bucket
	server *servetest.Server
}

// serve starts the fake. script may be nil; it is asked about each request before the object is looked at.
func (s Store) serve(t *testing.T, a Access, script func(*memblob.Bucket, servetest.Request) servetest.Answer) *service {
	t.Helper()
	v := &service{T: t, Store: s, memory: memblob.New(bucket)}
	v.memory.PageSize = 3
	v.server = s.Serve(v.memory, a)
	if script != nil {
		v.server.Script = func(r servetest.Request) servetest.Answer { return script(v.memory, r) }
	}
	t.Cleanup(v.server.Close)
	return v
}

const bucket = "trips"

// put writes rows of JSON.
func (v *service) put(key string, rows ...string) {
	v.memory.Put(memblob.Entry{Key: key, Data: ndjson(rows...)})
}

func ndjson(rows ...string) []byte {
	var text bytes.Buffer
	for _, row := range rows {
		fmt.Fprintf(&text, `{"n":%q}`+"\n", row)
	}
	return text.Bytes()
}

// config logs in; members are added to advanced.
func (v *service) config(advanced string) []byte {
	return v.configAs(v.Login(v.server.Endpoint()), advanced)
}

// configAs is config with another login; empty: none.
func (v *service) configAs(login, advanced string) []byte {
	if login != "" {
		login += ","
	}
	if advanced != "" {
		advanced = "," + advanced
	}
	return fmt.Appendf(nil, `{"bucket":%q,%s"advanced":{"endpoint":%q,"pollInterval":"1s"%s}}`, bucket, login, v.server.Endpoint(), advanced)
}

// message is a line of output, as far as these tests look at it.
type message struct {
	Type   string
	Record struct{ Data json.RawMessage }
	State  json.RawMessage
	Log    struct{ Level, Message string }
	Trace  struct {
		Type  string
		Error struct {
			Message     string
			FailureType string `json:"failure_type"`
		}
	}
	ConnectionStatus struct{ Status, Message string }
	Catalog          struct {
		Streams []struct {
			Name   string
			Schema json.RawMessage `json:"json_schema"`
		}
	}
}

// output is what a run printed.
type output struct {
	records []string // documents
	states  []cut
	logs    []string // with their fields
	errors  []string // of traces, after their kind
	status  string
	schema  string
	code    int
}

// cut is a state, and how many records came before it.
type cut struct {
	records int
	state   json.RawMessage
}

// take adds a line.
func (o *output) take(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("%w: %.200q", err, line)
	}
	switch m.Type {
	case "RECORD":
		o.records = append(o.records, string(m.Record.Data))
	case "STATE":
		o.states = append(o.states, cut{len(o.records), m.State})
	case "LOG":
		o.logs = append(o.logs, m.Log.Level+": "+m.Log.Message)
	case "TRACE":
		if m.Trace.Type == "ERROR" {
			o.errors = append(o.errors, m.Trace.Error.FailureType+": "+m.Trace.Error.Message)
		}
	case "CONNECTION_STATUS":
		o.status = m.ConnectionStatus.Status + ": " + m.ConnectionStatus.Message
	case "CATALOG":
		for _, s := range m.Catalog.Streams {
			o.schema += string(s.Schema)
		}
	}
	return nil
}

// last is the file of the state at the end.
func (o *output) last() []byte {
	if len(o.states) == 0 {
		return nil
	}
	return o.states[len(o.states)-1].file()
}

func (c cut) file() []byte { return append(append([]byte{'['}, c.state...), ']') }

// ids names records by what they come from.
func ids(records []string) (list []string) {
	for _, r := range records {
		var d struct {
			Meta struct {
				File   string
				Offset int
			} `json:"_meta"`
			N string
		}
		if err := json.Unmarshal([]byte(r), &d); err != nil {
			return []string{err.Error()}
		}
		list = append(list, fmt.Sprintf("%s %d %s", strings.TrimPrefix(d.Meta.File, bucket+"/"), d.Meta.Offset, d.N))
	}
	return list
}

// says tells whether one of some lines holds all of some parts.
func says(lines []string, parts ...string) bool {
	for _, line := range lines {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			return true
		}
	}
	return false
}

// patience bounds a run: it ends long before, unless it hangs.
const patience = 5 * time.Minute
