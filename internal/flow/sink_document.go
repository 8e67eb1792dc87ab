package flow

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/estuary/connectors/internal/jsonkey"
	"github.com/estuary/connectors/internal/rawjson"
)

// Load asks for the document of a key.
type Load struct {
	Binding int
	Key     [][]byte // JSON values in the order of the selected keys
	Packed  []byte   // the key as a tuple
}

// Store hands over a document.
type Store struct {
	Binding        int
	Key            [][]byte // JSON values in the order of the selected keys
	Packed         []byte   // the key as a tuple
	Values         [][]byte // JSON values in the order of the selected values; nil: null
	Doc            []byte   // the root document; nil: none
	Exists, Delete bool
}

// SinkDecoder reads the lines that a sink is sent. The Load and Store that it returns, and their views, are valid until the next line is read, and as long as
// the line is.
type SinkDecoder struct {
	// Lengths says that the runner tells where values end. Its word is taken for it that they are JSON.
	Lengths bool

	load  Load
	store Store

	base64 []byte // decoded
	text   []byte // JSON of unpacked values
	packed []byte // of keys that come as JSON
}

var (
	storePrefix = []byte(`{"store":{`)
	loadPrefix  = []byte(`{"load":{`)
)

// Decode reads one line, without its newline. Loads and stores without spaces between their tokens, as everybody writes them, cost no allocation.
func (d *SinkDecoder) Decode(line []byte) (SinkRequest, error) {
	m := members{trusted: d.Lengths}
	switch {
	case bytes.HasPrefix(line, storePrefix):
		if !m.scan(line, len(storePrefix), &d.store.Key, &d.store.Values) {
			break
		}
		store, err := d.setStore(&m)
		return SinkRequest{Store: store}, err
	case bytes.HasPrefix(line, loadPrefix):
		if !m.scan(line, len(loadPrefix), &d.load.Key, nil) {
			break
		}
		load, err := d.setLoad(&m)
		return SinkRequest{Load: load}, err
	}
	return d.decodeSlowly(line)
}

// members are those of a load or store as they are written.
type members struct {
	binding                 int
	key, values             [][]byte
	keyGiven, valuesGiven   bool
	keyPacked, valuesPacked []byte // base64; nil: absent
	doc                     []byte
	exists, deleted         bool

	trusted bool   // lengths may be used
	lengths []byte // of the values that follow; nil: not told
}

// scan reads members from line[i] on, where a name must start, to the line's end. It reads each byte once, or
// jumps from value to value where lengths are told. Not ok: something is unusual, perhaps wrong, and
// another has to tell. values is nil where none may be.
func (m *members) scan(line []byte, i int, key, values *[][]byte) (ok bool) {
	if i < len(line) && line[i] == '}' {
		return string(line[i:]) == "}}"
	}
	for {
		nameEnd, err := rawjson.Skip(line, i)
		if err != nil || line[i] != '"' || nameEnd >= len(line) || line[nameEnd] != ':' {
			return false
		}
		name := line[i+1 : nameEnd-1]
		i = nameEnd + 1
		var end int
		switch string(name) {
		case "key":
			m.key, end = m.array(line, i, (*key)[:0])
			*key, m.keyGiven = m.key, true
		case "values":
			if values == nil {
				return false
			}
			m.values, end = m.array(line, i, (*values)[:0])
			*values, m.valuesGiven = m.values, true
		case "doc":
			if end = m.value(line, i); end == 0 || line[i] == 'n' {
				return false
			}
			m.doc = line[i:end]
		default:
			if end, err = rawjson.Skip(line, i); err != nil || !m.set(name, line[i:end]) {
				return false
			}
		}
		if end == 0 || end >= len(line) {
			return false
		}
		switch line[end] {
		case ',':
			i = end + 1
		case '}':
			return string(line[end:]) == "}}"
		default:
			return false
		}
	}
}

// set takes a member; false: it is written in an unusual way.
func (m *members) set(name, value []byte) bool {
	switch string(name) {
	case "binding":
		n := 0
		for _, c := range value {
			if c < '0' || c > '9' || n > 1<<20 {
				return false
			}
			n = n*10 + int(c-'0')
		}
		m.binding = n
	case "keyPacked":
		m.keyPacked = value
		return value[0] == '"'
	case "valuesPacked":
		m.valuesPacked = value
		return value[0] == '"'
	case "lengths":
		if value[0] != '"' {
			return false
		}
		if m.trusted {
			m.lengths = value[1 : len(value)-1]
		}
	case "exists":
		m.exists = value[0] == 't'
		return value[0] == 't' || value[0] == 'f'
	case "delete":
		m.deleted = value[0] == 't'
		return value[0] == 't' || value[0] == 'f'
	default:
		return false // an unknown one, or a known one in another spelling
	}
	return true
}

// value returns the end of the value that starts at line[i]; 0: something is unusual.
func (m *members) value(line []byte, i int) (end int) {
	var n int
	if n, m.lengths = rawjson.NextLength(m.lengths); n > 0 {
		if end = i + n; end < len(line) {
			return end
		}
		return 0
	}
	end, err := rawjson.Skip(line, i)
	if err != nil || end >= len(line) {
		return 0
	}
	return end
}

// array reads an array without spaces that starts at line[i], and returns its end; 0: there is none.
func (m *members) array(line []byte, i int, into [][]byte) (_ [][]byte, end int) {
	if i+1 >= len(line) || line[i] != '[' {
		return into, 0
	}
	if line[i+1] == ']' {
		return into, i + 2
	}
	for i++; ; i++ {
		end := m.value(line, i)
		if end == 0 {
			return into, 0
		}
		into = append(into, line[i:end:end])
		switch i = end; line[i] {
		case ',':
		case ']':
			return into, i + 1
		default:
			return into, 0
		}
	}
}

// setLoad makes the load of what was read. Key may be a buffer that m used.
func (d *SinkDecoder) setLoad(m *members) (*Load, error) {
	l := &d.load
	l.Binding = m.binding
	err := d.setKey(m, &l.Key, &l.Packed)
	return l, err
}

func (d *SinkDecoder) setStore(m *members) (*Store, error) {
	s := &d.store
	s.Binding, s.Doc, s.Exists, s.Delete = m.binding, m.doc, m.exists, m.deleted
	if err := d.setKey(m, &s.Key, &s.Packed); err != nil {
		return nil, err
	}
	switch {
	case m.valuesGiven:
		s.Values = m.values
	case m.valuesPacked != nil:
		packed, err := appendBase64(d.base64, m.valuesPacked)
		if err != nil {
			return nil, err
		}
		from := len(d.base64)
		d.base64 = packed
		if s.Values, d.text, err = jsonkey.AppendUnpacked(s.Values[:0], d.text, packed[from:]); err != nil {
			return nil, fmt.Errorf("reading a request: valuesPacked: %w", err)
		}
	default:
		s.Values = s.Values[:0]
	}
	for i, v := range s.Values {
		if len(v) > 0 && v[0] == 'n' {
			s.Values[i] = nil
		}
	}
	return s, nil
}

// setKey gives the key in both forms: the one that is missing is made of the other.
func (d *SinkDecoder) setKey(m *members, key *[][]byte, packed *[]byte) (err error) {
	d.base64, d.text = d.base64[:0], d.text[:0]
	if m.keyPacked != nil {
		if d.base64, err = appendBase64(d.base64, m.keyPacked); err != nil {
			return err
		}
		*packed = d.base64[:len(d.base64):len(d.base64)]
	}
	switch {
	case m.keyGiven && m.keyPacked != nil:
		*key = m.key
	case m.keyGiven:
		*key = m.key
		d.packed = d.packed[:0]
		for _, v := range m.key {
			if d.packed, err = jsonkey.AppendPacked(d.packed, v); err != nil {
				return fmt.Errorf("reading a request: key: %w", err)
			}
		}
		*packed = d.packed
	case m.keyPacked != nil:
		if *key, d.text, err = jsonkey.AppendUnpacked((*key)[:0], d.text, *packed); err != nil {
			return fmt.Errorf("reading a request: keyPacked: %w", err)
		}
	default:
		*key, *packed = (*key)[:0], nil
	}
	return nil
}

var errBase64 = errors.New("reading a request: a packed key or value is no base64")

// appendBase64 decodes a JSON string.
func appendBase64(dst, quoted []byte) ([]byte, error) {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		inside = rawjson.AppendUnquoted(nil, inside)
	}
	out, err := base64.StdEncoding.AppendDecode(dst, inside)
	if err != nil {
		return dst, errBase64
	}
	return out, nil
}

// wireStore is a load or a store in any spelling.
type wireStore struct {
	Binding      number          `json:"binding"`
	Key          json.RawMessage `json:"key"`
	KeyPacked    json.RawMessage `json:"keyPacked"`
	Values       json.RawMessage `json:"values"`
	ValuesPacked json.RawMessage `json:"valuesPacked"`
	Doc          json.RawMessage `json:"doc"`
	Exists       bool            `json:"exists"`
	Delete       bool            `json:"delete"`
}

func (d *SinkDecoder) givenLoad(w *wireStore) (*Load, error) {
	m, err := w.members()
	if err != nil {
		return nil, err
	}
	return d.setLoad(m)
}

func (d *SinkDecoder) givenStore(w *wireStore) (*Store, error) {
	m, err := w.members()
	if err != nil {
		return nil, err
	}
	return d.setStore(m)
}

func (w *wireStore) members() (*members, error) {
	m := &members{binding: int(w.Binding), doc: given(w.Doc), exists: w.Exists, deleted: w.Delete}
	for _, list := range []struct {
		name  string
		raw   json.RawMessage
		into  *[][]byte
		given *bool
	}{{"key", given(w.Key), &m.key, &m.keyGiven}, {"values", given(w.Values), &m.values, &m.valuesGiven}} {
		if list.raw == nil {
			continue
		}
		*list.given = true
		if err := rawjson.Array(list.raw, func(value []byte) error {
			*list.into = append(*list.into, value)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("reading a request: %s: %w", list.name, err)
		}
	}
	for _, packed := range []struct {
		raw  json.RawMessage
		into *[]byte
	}{{given(w.KeyPacked), &m.keyPacked}, {given(w.ValuesPacked), &m.valuesPacked}} {
		if packed.raw == nil {
			continue
		}
		if packed.raw[0] != '"' {
			return nil, errBase64
		}
		*packed.into = packed.raw
	}
	return m, nil
}
