package proto

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// Message is a message type, compiled into a plan of its fields.
type Message struct {
	plan *plan
}

// Fields are the names of the fields, in the order of their declaration.
func (m *Message) Fields() []string {
	names := make([]string, len(m.plan.fields))
	for i := range m.plan.fields {
		names[i] = m.plan.fields[i].name
	}
	return names
}

// plan says how the fields of a message are found and written. Plans of messages that hold themselves are circles.
type plan struct {
	name   protoreflect.FullName
	fields []field
	small  []int32 // number → index of the field, -1 for none, of numbers that are not large
	large  []numbered
	oneofs int
	write  wellKnown // how it is written if it is one of google.protobuf that has its own form
}

type numbered struct {
	number protoreflect.FieldNumber
	index  int32
}

// field is one field of a message.
type field struct {
	name     string
	member   []byte // the name as JSON, with a colon
	number   protoreflect.FieldNumber
	kind     protoreflect.Kind
	list     bool
	dict     bool // a map: message is that of its entries
	presence bool // whether it was set can be told; if not, it is written with its default
	required bool
	oneof    int32 // index among those of the message; -1: none
	message  *plan
	enum     *enum
}

// enum names numbers. Of several names the first counts.
type enum struct {
	null   bool // google.protobuf.NullValue
	values []enumValue
}

type enumValue struct {
	number int32
	json   []byte
}

func newMessage(d protoreflect.MessageDescriptor) *Message {
	p := planner{plans: map[protoreflect.FullName]*plan{}, enums: map[protoreflect.FullName]*enum{}}
	return &Message{plan: p.message(d)}
}

// planner makes each plan once.
type planner struct {
	plans map[protoreflect.FullName]*plan
	enums map[protoreflect.FullName]*enum
}

// Numbers up to this are looked up in an array.
const smallNumber = 1 << 10

func (p *planner) message(d protoreflect.MessageDescriptor) *plan {
	if known := p.plans[d.FullName()]; known != nil {
		return known
	}
	m := &plan{name: d.FullName(), oneofs: d.Oneofs().Len()}
	p.plans[d.FullName()] = m
	m.write = wellKnownOf(d.FullName())
	fields := d.Fields()
	m.fields = make([]field, fields.Len())
	for i := range m.fields {
		p.field(&m.fields[i], fields.Get(i))
		number := m.fields[i].number
		if number > smallNumber {
			m.large = append(m.large, numbered{number, int32(i)})
			continue
		}
		for len(m.small) <= int(number) {
			m.small = append(m.small, -1)
		}
		m.small[number] = int32(i)
	}
	slices.SortFunc(m.large, func(a, b numbered) int { return int(a.number) - int(b.number) })
	return m
}

func (p *planner) field(f *field, d protoreflect.FieldDescriptor) {
	f.name, f.number, f.kind = string(d.Name()), d.Number(), d.Kind()
	f.member = append(jsontext.AppendString(nil, []byte(f.name)), ':')
	f.list, f.dict = d.IsList(), d.IsMap()
	f.presence, f.required, f.oneof = d.HasPresence(), d.Cardinality() == protoreflect.Required, -1
	if o := d.ContainingOneof(); o != nil {
		f.oneof = int32(o.Index())
	}
	if m := d.Message(); m != nil {
		f.message = p.message(m)
	}
	if e := d.Enum(); e != nil {
		f.enum = p.enum(e)
	}
}

func (p *planner) enum(d protoreflect.EnumDescriptor) *enum {
	if known := p.enums[d.FullName()]; known != nil {
		return known
	}
	e := &enum{null: d.FullName() == "google.protobuf.NullValue"}
	p.enums[d.FullName()] = e
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		number := int32(v.Number())
		if !slices.ContainsFunc(e.values, func(other enumValue) bool { return other.number == number }) {
			e.values = append(e.values, enumValue{number, jsontext.AppendString(nil, []byte(v.Name()))})
		}
	}
	slices.SortFunc(e.values, func(a, b enumValue) int { return int(int64(a.number) - int64(b.number)) })
	return e
}

// index finds a field by its number; -1: there is none.
func (m *plan) index(number protoreflect.FieldNumber) int32 {
	if int(number) < len(m.small) {
		return m.small[number]
	}
	if i, ok := slices.BinarySearchFunc(m.large, number, func(n numbered, to protoreflect.FieldNumber) int { return int(n.number) - int(to) }); ok {
		return m.large[i].index
	}
	return -1
}

// name is the JSON of a number's name; nil: it has none.
func (e *enum) name(number int32) []byte {
	// Most enums count from 0 without a gap.
	if i := int(number); i >= 0 && i < len(e.values) && e.values[i].number == number {
		return e.values[i].json
	}
	i, ok := slices.BinarySearchFunc(e.values, number, func(v enumValue, to int32) int { return int(int64(v.number) - int64(to)) })
	if !ok {
		return nil
	}
	return e.values[i].json
}
