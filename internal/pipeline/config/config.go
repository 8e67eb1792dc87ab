package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
)

// File is a pipeline as its YAML file describes it.
type File struct {
	Path  string // of the YAML file
	Name  string // of the pipeline
	State string // path of the store
	// Source and Sink are the two connectors.
	Source, Sink Connector
	Streams      []Stream
	// Secrets are the texts that came from the environment and from files.
	Secrets []string
}

// Connector says what to start.
type Connector struct {
	// Name is a program beside pipeline or on PATH, or a path.
	Name string
	// Config is a JSON object.
	Config json.RawMessage
	// Protocol of a source: "flow" or "airbyte"; empty: whichever it speaks.
	Protocol string
}

// Stream is an entry of the list of streams.
type Stream struct {
	// Pattern names a stream, or several with * and ?.
	Pattern string
	// Key holds JSON pointers; nil: the source's own.
	Key []string
	// RootDocument says whether the whole document is stored; nil: that depends on the source.
	RootDocument *bool
	// Projections maps a top-level field of the source to the JSON pointer where its value is put.
	Projections map[string]string
	// Schema replaces the one that the source announces; nil: none.
	Schema json.RawMessage
	// Resource holds the other members, in order: fields of the sink's resource.
	Resource []Member
}

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
	Line  int // of the file
}

// StatusPath is the file in which a running pipeline tells how it is.
func (f *File) StatusPath() string { return f.Path + ".status" }

// Read reads a pipeline's file. The error joins all problems.
func Read(path string) (*File, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

func readText(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		reason := err.Error()
		if pathErr, ok := errors.AsType[*os.PathError](err); ok {
			reason = pathErr.Err.Error()
		}
		return nil, &protocol.Problem{Kind: protocol.Config, Summary: "the file " + path + " cannot be read", Fix: reason, Err: err}
	}
	return text, nil
}

// ReadPlain reads a pipeline's file for those who need no configuration of its connectors: references to the environment and to files are left empty.
func ReadPlain(path string) (*File, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text, true)
}

// Parse reads the text of a pipeline's file. Paths in it are relative to the file's folder.
func Parse(path string, text []byte) (*File, error) { return parse(path, text, false) }

func parse(path string, text []byte, plain bool) (*File, error) {
	root, lines, err := tree(path, text)
	if err != nil {
		return nil, err
	}
	d := &decoder{file: &File{Path: path}, folder: filepath.Dir(path), plain: plain, lines: lines}
	d.root(root)
	if len(d.problems) > 0 {
		return nil, errors.Join(d.problems...)
	}
	return d.file, nil
}

type decoder struct {
	file     *File
	plain    bool // references are left empty
	folder   string
	lines    map[string]int // by place
	problems []error
}

// problem notes what is wrong at a place of the file, such as streams[0].key; empty: in the whole of it.
func (d *decoder) problem(at, summary, fix string) {
	d.problems = append(d.problems, &protocol.Problem{Kind: protocol.Config, Summary: d.where(at) + ": " + summary, Fix: fix})
}

// known are the keys of each level.
var known = map[string][]string{
	"the file": {"name", "source", "sink", "streams", "state"},
	"source":   {"connector", "config", "protocol"},
	"sink":     {"connector", "config"},
}

// StreamKeys are the keys of a stream's entry that are no fields of the sink's resource.
var StreamKeys = []string{"stream", "key", "root_document", "projections", "schema"}

func (d *decoder) root(root yaml.MapSlice) {
	f := d.file
	base := filepath.Base(f.Path)
	f.Name = strings.TrimSuffix(base, filepath.Ext(base))
	f.State = filepath.Join(d.folder, f.Name+".state")
	seen := map[string]bool{}
	for _, item := range root {
		name := fmt.Sprint(item.Key)
		seen[name] = true
		switch name {
		case "name":
			f.Name = d.text(item.Value, "name")
		case "state":
			if f.State = d.text(item.Value, "state"); !filepath.IsAbs(f.State) {
				f.State = filepath.Join(d.folder, f.State)
			}
		case "source":
			f.Source = d.connector(item.Value, "source")
		case "sink":
			f.Sink = d.connector(item.Value, "sink")
		case "streams":
			d.streams(item.Value)
		default:
			d.unknown(name, name, "the file")
		}
	}
	for _, name := range []string{"source", "sink", "streams"} {
		if !seen[name] {
			d.problem("", name+" is missing", map[string]string{
				"source": "say which connector reads, and its config", "sink": "say which connector writes, and its config", "streams": "list the streams to copy: `- stream: public.orders`",
			}[name])
		}
	}
	if strings.TrimSpace(f.Name) == "" {
		d.problem("name", "the name is empty", "give the pipeline a name: it stands in the destination's checkpoint")
	}
}

func (d *decoder) unknown(at, name, where string) {
	d.problem(at, fmt.Sprintf("unknown key %q in %s", name, where), Advise(name, known[where]))
}

// Advise says which of the known keys was probably meant.
func Advise(name string, names []string) string {
	nearest, distance := "", 1+max(2, len(name)/3)
	for _, n := range names {
		if by := command.Distance(strings.ToLower(strings.ReplaceAll(name, "-", "_")), n); by < distance {
			nearest, distance = n, by
		}
	}
	if nearest != "" {
		return fmt.Sprintf("did you mean %q?", nearest)
	}
	return "known are " + strings.Join(names, ", ")
}

func (d *decoder) mapping(value any, where string) yaml.MapSlice {
	m, ok := value.(yaml.MapSlice)
	if !ok {
		d.problem(where, where+" must be a mapping", "write `key: value` lines below it, indented")
	}
	return m
}

func (d *decoder) connector(value any, where string) Connector {
	c := Connector{Config: json.RawMessage("{}")}
	for _, item := range d.mapping(value, where) {
		switch name := fmt.Sprint(item.Key); {
		case name == "connector":
			c.Name = d.text(item.Value, where+".connector")
			if strings.HasPrefix(c.Name, ".") { // a path; the others are looked up
				c.Name = filepath.Join(d.folder, c.Name)
				if !strings.ContainsRune(c.Name, filepath.Separator) {
					c.Name = "." + string(filepath.Separator) + c.Name
				}
			}
		case name == "config":
			d.mapping(item.Value, where+".config")
			c.Config = d.json(nil, item.Value, where+".config")
		case name == "protocol" && where == "source":
			if c.Protocol = d.text(item.Value, "source.protocol"); c.Protocol != "flow" && c.Protocol != "airbyte" {
				d.problem("source.protocol", "source.protocol must be flow or airbyte", "leave it out to let the source be asked")
			}
		default:
			d.unknown(where+"."+name, name, where)
		}
	}
	if c.Name == "" {
		d.problem(where, where+".connector is missing", "name the program, such as source-postgres or materialize-postgres")
	}
	return c
}

func (d *decoder) streams(value any) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		d.problem("streams", "streams must be a list that is not empty", "write `- stream: public.orders` lines below it")
		return
	}
	for i, entry := range list {
		at := fmt.Sprintf("streams[%d]", i)
		if m, ok := entry.(yaml.MapSlice); ok {
			d.file.Streams = append(d.file.Streams, d.stream(m, at))
			continue
		}
		if name, ok := entry.(string); ok {
			d.file.Streams = append(d.file.Streams, Stream{Pattern: name})
			continue
		}
		d.problem(at, at+" must be a mapping", "write `- stream: public.orders`")
	}
	seen := map[string]bool{}
	for i, s := range d.file.Streams {
		if seen[s.Pattern] && s.Pattern != "" {
			d.problem(fmt.Sprintf("streams[%d]", i), fmt.Sprintf("streams names %q twice", s.Pattern), "leave one of the entries out: a stream goes into one table; a second pipeline, with a name of its own, fills a second one")
		}
		seen[s.Pattern] = true
	}
}

func (d *decoder) stream(m yaml.MapSlice, where string) Stream {
	var s Stream
	for _, item := range m {
		name := fmt.Sprint(item.Key)
		at := where + "." + name
		switch name {
		case "stream":
			s.Pattern = d.text(item.Value, at)
		case "key":
			s.Key = d.pointers(item.Value, at)
		case "root_document":
			if b, ok := item.Value.(bool); ok {
				s.RootDocument = &b
			} else {
				d.problem(at, at+" must be true or false", "")
			}
		case "projections":
			s.Projections = map[string]string{}
			for _, p := range d.mapping(item.Value, at) {
				field := fmt.Sprint(p.Key)
				s.Projections[field] = d.pointer(p.Value, at+"."+field)
			}
		case "schema":
			// A plain name is the sink's: that of the schema which the table is in.
			if text, ok := item.Value.(string); ok && !strings.ContainsAny(text, `/\`) && filepath.Ext(text) != ".json" {
				s.Resource = append(s.Resource, Member{"schema", d.json(nil, item.Value, at), d.lines[at]})
				continue
			}
			s.Schema = d.schema(item.Value, at)
		default:
			s.Resource = append(s.Resource, Member{name, d.json(nil, item.Value, at), d.lines[at]})
		}
	}
	if s.Pattern == "" {
		d.problem(where, where+".stream is missing", "name a stream, such as public.orders")
	}
	return s
}

func (d *decoder) pointers(value any, at string) []string {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		d.problem(at, at+" must be a list of JSON pointers", "such as [/id]")
		return nil
	}
	pointers := make([]string, len(list))
	for i, v := range list {
		pointers[i] = d.pointer(v, fmt.Sprintf("%s[%d]", at, i))
	}
	return pointers
}

func (d *decoder) pointer(value any, at string) string {
	text := d.text(value, at)
	if text != "" && text[0] != '/' {
		d.problem(at, fmt.Sprintf("%s is %q and no JSON pointer", at, text), "write /"+text)
	}
	return text
}

// schema is a JSON file's path, or the schema itself.
func (d *decoder) schema(value any, at string) json.RawMessage {
	if _, ok := value.(yaml.MapSlice); ok {
		raw := d.json(nil, value, at)
		if err := jsonschema.Check(raw); err != nil {
			d.problem(at, at+" is no JSON schema", err.Error())
		}
		return raw
	}
	path := d.text(value, at)
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.folder, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		d.problem(at, at+" cannot be read", err.Error())
		return nil
	}
	var object map[string]json.RawMessage
	err = json.Unmarshal(raw, &object)
	if err == nil {
		err = jsonschema.Check(raw)
	}
	if err != nil {
		d.problem(at, path+" is no JSON schema", err.Error())
		return nil
	}
	return raw
}

// text is a string of the file with its references replaced.
func (d *decoder) text(value any, at string) string {
	switch v := value.(type) {
	case string:
		return d.resolve(v, at)
	case nil, yaml.MapSlice, []any:
		d.problem(at, at+" must be a text", "")
		return ""
	default:
		return fmt.Sprint(v)
	}
}
