package avro

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linkedin/goavro/v2"
)

// goavro, of which nothing is used elsewhere, reads the same files: its values, brought into our forms here, are our documents.
func TestFile_AgreesWithGoavro(t *testing.T) {
	for _, codec := range []string{"null", "deflate", "snappy"} { // it knows no others
		for _, name := range []string{"plain-" + codec, "logical-" + codec} {
			text := readFile(t, name+".avro")
			theirs, err := goavro.NewOCFReader(bytes.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ours, err := NewFile(bytes.NewReader(text), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for ; theirs.Scan(); n++ {
				value, readErr := theirs.Read()
				text, writeErr := []byte(nil), ours.Next()
				if writeErr == nil {
					text, writeErr = document(nil, ours)
				}
				if err := errors.Join(readErr, writeErr); err != nil {
					t.Fatal(err)
				}
				var got any
				decoder := json.NewDecoder(bytes.NewReader(text))
				decoder.UseNumber()
				if err := decoder.Decode(&got); err != nil {
					t.Fatal(err)
				}
				if want := theirForm(ours.schema.root, value); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, record %d: %s", name, n, firstDifference(fmt.Sprint(got), fmt.Sprint(want)))
				}
			}
			if n != 12 || ours.Next() == nil {
				t.Errorf("%s: %d records", name, n)
			}
			if strings.HasPrefix(name, "logical") {
				continue // goavro's canonical form keeps attributes of decimals, which the specification strips
			}
			codec, err := goavro.NewCodec(string(ours.header.schema))
			if err != nil {
				t.Fatal(err)
			}
			if codec.Rabin != ours.Schema().Fingerprint() {
				t.Errorf("%s: the fingerprint is %016x, by goavro %016x", name, ours.Schema().Fingerprint(), codec.Rabin)
			}
		}
	}
}

// theirForm brings a value of goavro into the form of ours, decoded.
func theirForm(n *node, value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case bool:
		return v
	case int32:
		return json.Number(fmt.Sprint(v))
	case int64:
		return theirInteger(n, v)
	case float32:
		return theirFloat(float64(v), v)
	case float64:
		return theirFloat(v, v)
	case string:
		return v
	case []byte:
		return theirBytes(n, v)
	case *big.Rat:
		return v.FloatString(n.scale)
	case time.Time:
		if n.logical == date {
			return v.Format("2006-01-02")
		}
		return v.Format("2006-01-02T15:04:05.999999999Z")
	case time.Duration:
		return time.Time{}.Add(v).Format("15:04:05.999999999")
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, theirForm(n.item, item))
		}
		return out
	case map[string]any:
		return theirMap(n, v)
	}
	return fmt.Sprintf("a value of goavro's that is not expected: %T", value)
}

func theirMap(n *node, v map[string]any) any {
	out := map[string]any{}
	switch n.kind {
	case kindUnion:
		for name, inner := range v {
			for _, b := range n.branches {
				if name == b.name || b.name == "" && strings.HasPrefix(name, strings.TrimPrefix(strings.TrimPrefix(b.describe(), "a "), "an ")) {
					return theirForm(b, inner)
				}
			}
			return "no branch " + name
		}
	case kindMap:
		for key, inner := range v {
			out[key] = theirForm(n.item, inner)
		}
	case kindRecord:
		for _, f := range n.fields {
			out[f.name] = theirForm(f.node, v[f.name])
		}
	default:
	}
	return out
}

// theirInteger gives the types that goavro leaves as numbers: what they mean is computed by the standard library.
func theirInteger(n *node, v int64) any {
	const local = "2006-01-02T15:04:05.999999999"
	switch n.logical {
	case timestampNanos:
		return time.Unix(0, v).UTC().Format(local + "Z")
	case localNanos:
		return time.Unix(0, v).UTC().Format(local)
	case localMicros:
		return time.UnixMicro(v).UTC().Format(local)
	case localMillis:
		return time.UnixMilli(v).UTC().Format(local)
	default:
		return json.Number(fmt.Sprint(v))
	}
}

func theirFloat(v float64, text any) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	out, err := json.Marshal(text)
	if err != nil {
		return err.Error()
	}
	if i := bytes.Index(out, []byte("e-")); i >= 0 && len(out) == i+3 {
		out = slices.Insert(out, i+2, '0') // one digit is written as two
	}
	return json.Number(out)
}

func theirBytes(n *node, v []byte) any {
	switch n.logical {
	case duration:
		part := func(unit string, v float64) string {
			if v == 0 {
				return ""
			}
			return strconv.FormatFloat(v, 'f', -1, 64) + unit
		}
		word := func(i int) float64 { return float64(binary.LittleEndian.Uint32(v[i:])) }
		text := "P" + part("M", word(0)) + part("D", word(4))
		if seconds := part("S", word(8)/1000); seconds != "" || text == "P" {
			text += "T" + cmp.Or(seconds, "0S")
		}
		return text
	case uuid:
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
	default:
		return base64.StdEncoding.EncodeToString(v)
	}
}
