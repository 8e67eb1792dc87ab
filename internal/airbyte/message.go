package airbyte

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/estuary/connectors/internal/rawjson"
)

// MessageType is the type of a message that a destination reads.
type MessageType string

// The types that mean something to a destination. It passes LOG and TRACE on.
const (
	RecordMessage MessageType = "RECORD"
	StateMessage  MessageType = "STATE"
	LogMessage    MessageType = "LOG"
	TraceMessage  MessageType = "TRACE"
)

// Message is a line that a source printed. Its slices are views of the line. What is null counts as absent, and of members with one name the last that is
// not null counts: some runners write a key twice.
type Message struct {
	Type MessageType
	// Of a RECORD. Data is its document, checked for being JSON; Stream is empty when the record names none.
	Stream, Namespace []byte // decoded
	Data              []byte
	// Of a STATE.
	State GivenMessage
	// Status of a stream, in a TRACE STREAM_STATUS; Stream and Namespace say which.
	Status Status
}

// StateKind is the type of a STATE.
type StateKind string

// The kinds of the protocol.
const (
	StreamKind StateKind = "STREAM"
	GlobalKind StateKind = "GLOBAL"
	LegacyKind StateKind = "LEGACY"
)

// GivenMessage is a STATE as it came.
type GivenMessage struct {
	Kind StateKind
	// Stream and Namespace of a STREAM state; StreamState is its content, nil: none.
	Stream, Namespace string
	StreamState       []byte
	Global            []byte // of a GLOBAL state
	Data              []byte // of a LEGACY state; with Merge a patch of what came before
	Merge             bool
}

// ErrNoMessage tells that a line is JSON, but no object with a type.
var ErrNoMessage = errors.New("the line is no message of the Airbyte protocol")

// IsTalk tells of a line that DecodeMessage refused with err whether it never was a message, as what libraries print between them. All else is a message that is
// not as the protocol has it, or a broken piece of one, and going on without it would lose what it said.
func IsTalk(line []byte, err error) bool {
	// Talk that a message follows on the same line, or a byte order mark.
	if i := bytes.Index(line, []byte(`{"type"`)); i > 0 && (bytes.Contains(line[i:], []byte(`"RECORD"`)) || bytes.Contains(line[i:], []byte(`"STATE"`))) {
		return false
	}
	if errors.Is(err, ErrNoMessage) {
		return true
	}
	if rawjson.Valid(line) == nil {
		return false
	}
	if !bytes.HasPrefix(line, []byte(`{"`)) {
		return true
	}
	for _, member := range []string{`"type"`, `"record"`, `"state"`} {
		if bytes.Contains(line, []byte(member)) {
			return false
		}
	}
	return true
}

// DecodeMessage reads a line, which is JSON without space around it.
func DecodeMessage(line []byte) (Message, error) {
	var m Message
	if len(line) == 0 || line[0] != '{' {
		return m, ErrNoMessage
	}
	var kind, record, state, trace []byte
	err := members(line, member{"type", &kind}, member{"record", &record}, member{"state", &state}, member{"trace", &trace})
	if err != nil {
		return m, err
	}
	if len(kind) < 2 || kind[0] != '"' {
		return m, ErrNoMessage
	}
	m.Type = MessageType(unquote(kind))
	switch m.Type {
	case RecordMessage:
		return m, m.decodeRecord(record)
	case StateMessage:
		return m, m.State.decode(state)
	case TraceMessage:
		return m, m.decodeTrace(trace)
	case LogMessage:
	}
	return m, nil
}

func (m *Message) decodeRecord(record []byte) error {
	var stream, namespace []byte
	if err := members(record, member{"stream", &stream}, member{"namespace", &namespace}, member{"data", &m.Data}); err != nil {
		return err
	}
	m.Stream, m.Namespace = unquote(stream), unquote(namespace)
	if m.Data == nil {
		return errors.New("a RECORD has no data")
	}
	return nil
}

func (m *Message) decodeTrace(trace []byte) error {
	var kind, status, descriptor, value, stream, namespace []byte
	if err := members(trace, member{"type", &kind}, member{"stream_status", &status}); err != nil {
		return err
	}
	if string(unquote(kind)) != "STREAM_STATUS" || status == nil {
		return nil
	}
	if err := members(status, member{"stream_descriptor", &descriptor}, member{"status", &value}); err != nil {
		return err
	}
	if err := members(descriptor, member{"name", &stream}, member{"namespace", &namespace}); err != nil {
		return err
	}
	m.Stream, m.Namespace, m.Status = unquote(stream), unquote(namespace), Status(unquote(value))
	return nil
}

func (g *GivenMessage) decode(state []byte) error {
	var kind, stream, global, alias, merge, old []byte
	err := members(state, member{"type", &kind}, member{"stream", &stream}, member{"global", &global}, member{"global_", &alias}, member{"data", &g.Data},
		member{"estuary.dev/merge", &merge}, member{"merge", &old})
	if err != nil {
		return err
	}
	if global == nil {
		global = alias // PyAirbyte's spelling
	}
	if merge == nil {
		merge = old
	}
	g.Merge = string(merge) == "true"
	switch g.Kind = StateKind(unquote(kind)); g.Kind {
	case "":
		g.Kind = LegacyKind
	case LegacyKind:
	case GlobalKind:
		if g.Global = global; global == nil {
			return errors.New("a GLOBAL state has no content")
		}
	case StreamKind:
		return g.decodeStream(stream)
	default:
		return errors.New("a STATE has the unknown type " + strconv.Quote(string(g.Kind)))
	}
	return nil
}

func (g *GivenMessage) decodeStream(stream []byte) error {
	var descriptor, name, namespace []byte
	if err := members(stream, member{"stream_descriptor", &descriptor}, member{"stream_state", &g.StreamState}); err != nil {
		return err
	}
	if err := members(descriptor, member{"name", &name}, member{"namespace", &namespace}); err != nil {
		return err
	}
	if g.Stream, g.Namespace = string(unquote(name)), string(unquote(namespace)); g.Stream == "" {
		return errors.New("a STREAM state names no stream")
	}
	return nil
}

type member struct {
	name string
	into *[]byte
}

// members finds members of an object; of several with one name the last that is not null. A nil object has none.
func members(object []byte, wanted ...member) error {
	if object == nil {
		return nil
	}
	return rawjson.Object(object, func(name, value []byte) error {
		if rawjson.IsNull(value) {
			return nil
		}
		for _, w := range wanted {
			if rawjson.NameIs(name, w.name) {
				*w.into = value
				return nil
			}
		}
		return nil
	})
}

// unquote returns what a JSON string spells; anything else is empty.
func unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	inside := value[1 : len(value)-1]
	for _, c := range inside {
		if c == '\\' {
			return rawjson.AppendUnquoted(nil, inside)
		}
	}
	return inside
}

// AppendEcho appends a STATE line as it came, with destinationStats.recordCount in it, and a newline.
func AppendEcho(dst, line []byte, records int64) []byte {
	state := viewOf(line, "state")
	if len(state) == 0 {
		return append(append(dst, line...), '\n')
	}
	stats := strconv.AppendInt([]byte(`{"recordCount":`), records, 10)
	stats = append(stats, ".0}"...) // a number; the protocol's own kit writes floats
	begin := cap(line) - cap(state)
	if given := viewOf(state, "destinationStats"); given != nil {
		at := cap(line) - cap(given)
		dst = append(append(dst, line[:at]...), stats...)
		return append(append(dst, line[at+len(given):]...), '\n')
	}
	end := begin + len(state) - 1 // before its closing brace
	dst = append(dst, line[:end]...)
	if empty := rawjson.Object(state, func([]byte, []byte) error { return errNotEmpty }) == nil; !empty {
		dst = append(dst, ',')
	}
	dst = append(append(dst, `"destinationStats":`...), stats...)
	return append(append(dst, line[end:]...), '\n')
}

var errNotEmpty = errors.New("it has members")

// viewOf returns the last member of a name, null or not.
func viewOf(object []byte, wanted string) (found []byte) {
	_ = rawjson.Object(object, func(name, value []byte) error { // what was decoded is an object
		if rawjson.NameIs(name, wanted) {
			found = value
		}
		return nil
	})
	return found
}
