package parquet

import (
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// leaf is a column: what its values are and how they become JSON.
type leaf struct {
	path     string
	physical format.Type
	width    int // bytes of a value; 0: as many as the value says, which stand behind their count
	maxDef   int
	maxRep   int
	text     bool // its JSON is a string and its bytes are that string's

	kind  kind
	scale int           // of a decimal
	unit  time.Duration // of a time or timestamp
	utc   bool          // the timestamp is one of UTC, not of a place that is not told

	write  writer
	reason string // why write may refuse a value
}

// kind is a type as JSON sees it, the parameters apart.
type kind uint8

const (
	boolean kind = iota
	integer
	unsigned
	float16
	float32Kind
	float64Kind
	decimal
	date
	clock
	timestamp
	int96
	interval
	uuid
	text
	embedded // JSON
	opaque   // bytes
	null
)

// interpret sets kind, width and write from a schema element: from its logical type, else from the older converted type, else from the physical one.
func (l *leaf) interpret(e *format.SchemaElement) error {
	if err := l.setPhysical(e); err != nil {
		return err
	}
	what, err := l.annotation(e)
	if err != nil {
		return err
	}
	if what != nil {
		if !what.allows(l) {
			return corrupt("column %s is a %s of %s", l.path, what.name, l.physical)
		}
		l.kind = what.kind
	}
	l.setWriter()
	return nil
}

func (l *leaf) setPhysical(e *format.SchemaElement) error {
	switch l.physical {
	case format.Boolean:
		l.kind, l.width = boolean, 1
	case format.Int32:
		l.kind, l.width = integer, 4
	case format.Int64:
		l.kind, l.width = integer, 8
	case format.Int96:
		l.kind, l.width = int96, 12
	case format.Float:
		l.kind, l.width = float32Kind, 4
	case format.Double:
		l.kind, l.width = float64Kind, 8
	case format.ByteArray:
		l.kind = opaque
	case format.FixedLenByteArray:
		l.kind, l.width = opaque, int(e.TypeLength.V)
		if l.width <= 0 || l.width > 1<<20 {
			return corrupt("column %s has values of %d bytes", l.path, l.width)
		}
	default:
		return corrupt("column %s has the unknown type %d", l.path, l.physical)
	}
	return nil
}

// annotation is a logical type, and the physical types that may carry it.
type annotation struct {
	name   string
	kind   kind
	widths []int // of the values; 0: of any length
	types  []format.Type
}

func (a *annotation) allows(l *leaf) bool {
	for i, t := range a.types {
		if t == l.physical && (a.widths == nil || a.widths[i] == l.width) {
			return true
		}
	}
	return false
}

var (
	onBytes = []format.Type{format.ByteArray}
	onInt32 = []format.Type{format.Int32}
	onInt64 = []format.Type{format.Int64}
	onFixed = []format.Type{format.FixedLenByteArray}
	anyType = []format.Type{
		format.Boolean, format.Int32, format.Int64, format.Int96, format.Float, format.Double, format.ByteArray, format.FixedLenByteArray,
	}
	decimals = []format.Type{format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray}
)

// annotation reads the logical type of an element; nil: it has none.
func (l *leaf) annotation(e *format.SchemaElement) (*annotation, error) {
	switch t := e.LogicalType.Value.(type) {
	case nil:
		return l.converted(e)
	case *format.StringType:
		return &annotation{name: "STRING", kind: text, types: onBytes}, nil
	case *format.EnumType:
		return &annotation{name: "ENUM", kind: text, types: onBytes}, nil
	case *format.JsonType:
		return &annotation{name: "JSON", kind: embedded, types: onBytes}, nil
	case *format.BsonType:
		return &annotation{name: "BSON", kind: opaque, types: onBytes}, nil
	case *format.UUIDType:
		return &annotation{name: "UUID", kind: uuid, types: onFixed, widths: []int{16}}, nil
	case *format.Float16Type:
		return &annotation{name: "FLOAT16", kind: float16, types: onFixed, widths: []int{2}}, nil
	case *format.DateType:
		return &annotation{name: "DATE", kind: date, types: onInt32}, nil
	case *format.NullType:
		return &annotation{name: "UNKNOWN", kind: null, types: anyType}, nil
	case *format.DecimalType:
		return l.decimal(t.Scale, t.Precision)
	case *format.TimeType:
		return l.timeOf(clock, &t.Unit, true)
	case *format.TimestampType:
		return l.timeOf(timestamp, &t.Unit, t.IsAdjustedToUTC)
	case *format.IntType:
		return l.int(int(t.BitWidth), t.IsSigned)
	case *format.GeometryType, *format.GeographyType, *format.VariantType:
		return nil, unsupported("column %s is a %s", l.path, t)
	default:
		return nil, corrupt("column %s is a %s without fields", l.path, t)
	}
}

// converted reads the annotation of older writers. Their times are of UTC, because there was no other kind.
func (l *leaf) converted(e *format.SchemaElement) (*annotation, error) {
	if !e.ConvertedType.Valid {
		return nil, nil
	}
	millis, micros := &format.TimeUnit{Value: new(format.MilliSeconds)}, &format.TimeUnit{Value: new(format.MicroSeconds)}
	switch e.ConvertedType.V {
	case deprecated.UTF8:
		return &annotation{name: "UTF8", kind: text, types: onBytes}, nil
	case deprecated.Enum:
		return &annotation{name: "ENUM", kind: text, types: onBytes}, nil
	case deprecated.Json:
		return &annotation{name: "JSON", kind: embedded, types: onBytes}, nil
	case deprecated.Bson:
		return &annotation{name: "BSON", kind: opaque, types: onBytes}, nil
	case deprecated.Date:
		return &annotation{name: "DATE", kind: date, types: onInt32}, nil
	case deprecated.Decimal:
		return l.decimal(e.Scale.V, e.Precision.V)
	case deprecated.TimeMillis:
		return l.timeOf(clock, millis, true)
	case deprecated.TimeMicros:
		return l.timeOf(clock, micros, true)
	case deprecated.TimestampMillis:
		return l.timeOf(timestamp, millis, true)
	case deprecated.TimestampMicros:
		return l.timeOf(timestamp, micros, true)
	case deprecated.Uint8:
		return l.int(8, false)
	case deprecated.Uint16:
		return l.int(16, false)
	case deprecated.Uint32:
		return l.int(32, false)
	case deprecated.Uint64:
		return l.int(64, false)
	case deprecated.Int8:
		return l.int(8, true)
	case deprecated.Int16:
		return l.int(16, true)
	case deprecated.Int32:
		return l.int(32, true)
	case deprecated.Int64:
		return l.int(64, true)
	case deprecated.Interval:
		return &annotation{name: "INTERVAL", kind: interval, types: onFixed, widths: []int{12}}, nil
	default:
		return nil, corrupt("column %s has the converted type %d, which no column of values has", l.path, e.ConvertedType.V)
	}
}

// The greatest precision, and the longest bytes, that a decimal may have. DuckDB and Arrow stop at 38 and 76 digits.
const (
	maxPrecision    = 1000
	maxDecimalBytes = 512
)

func (l *leaf) decimal(scale, precision int32) (*annotation, error) {
	if scale < 0 || precision < 1 || scale > precision || precision > maxPrecision {
		return nil, corrupt("column %s is a DECIMAL(%d,%d)", l.path, precision, scale)
	}
	l.scale = int(scale)
	return &annotation{name: "DECIMAL", kind: decimal, types: decimals}, nil
}

func (l *leaf) timeOf(kind kind, unit *format.TimeUnit, utc bool) (*annotation, error) {
	if unit.Value == nil {
		return nil, corrupt("column %s is a time without a unit", l.path)
	}
	l.unit, l.utc = unit.Value.Duration(), utc
	types := onInt64
	if kind == clock && l.unit == time.Millisecond {
		types = onInt32
	}
	name := "TIMESTAMP"
	if kind == clock {
		name = "TIME"
	}
	return &annotation{name: name, kind: kind, types: types}, nil
}

func (l *leaf) int(bits int, signed bool) (*annotation, error) {
	kind, types := unsigned, onInt32
	if signed {
		kind = integer
	}
	switch bits {
	case 8, 16, 32:
	case 64:
		types = onInt64
	default:
		return nil, corrupt("column %s is an integer of %d bits", l.path, bits)
	}
	return &annotation{name: "INT", kind: kind, types: types}, nil
}
