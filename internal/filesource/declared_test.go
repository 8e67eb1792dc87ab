package filesource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linkedin/goavro/v2"
	"github.com/parquet-go/parquet-go"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/internal/jsonschema"
	"github.com/estuary/connectors/protocol"
)

// discovered is the schema of the stream of a bucket.
func discovered(t *testing.T, bucket blob.Bucket, parser string) protocol.Schema {
	t.Helper()
	c := newCapture(t, bucket)
	c.reading.Advanced.Sample = true
	if err := json.Unmarshal([]byte(parser), &c.reading.Parser); err != nil {
		t.Fatal(err)
	}
	streams, err := c.source().Discover(t.Context())
	if err != nil || len(streams) != 1 {
		t.Fatal(streams, err)
	}
	return streams[0].Schema
}

// properties renders what a schema says besides _meta.
func properties(t *testing.T, s protocol.Schema) string {
	t.Helper()
	var root struct{ Properties json.RawMessage }
	if err := json.Unmarshal(jsonschema.Flow(s), &root); err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(root.Properties, []byte(`"required":["file","version","offset"],"additionalProperties":{}}`))
	if !ok {
		t.Fatalf("without _meta: %s", root.Properties)
	}
	return strings.TrimPrefix(strings.TrimSuffix(string(rest), "}"), ",")
}

// isNumber is the format of strings that are numbers; validators do not know it.
func isNumber(v any) error {
	if s, ok := v.(string); ok {
		if _, ok := new(big.Rat).SetString(s); !ok {
			return fmt.Errorf("%q is no number", s)
		}
	}
	return nil
}

func compile(t *testing.T, schema []byte) *validator.Schema {
	t.Helper()
	text, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	for _, name := range []string{"number", "integer"} {
		c.RegisterFormat(&validator.Format{Name: name, Validate: isNumber})
	}
	if err := c.AddResource("stream.json", text); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("stream.json")
	if err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	return compiled
}

// foreign are files of formats that declare schemas, as fastavro, pyarrow and DuckDB wrote them.
func foreign(t *testing.T) (names []string, all map[string][]byte) {
	t.Helper()
	all = map[string][]byte{}
	for _, pattern := range []string{"../../parser/avro/testdata/*.avro", "../../parser/parquet/testdata/files/*.parquet"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%d files match %s: %v", len(files), pattern, err)
		}
		for _, path := range files {
			name := filepath.Base(path)
			if strings.HasPrefix(name, "encrypted") || strings.HasSuffix(name, "variant.parquet") {
				continue // refused
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			all[name] = data
		}
	}
	return names, all
}

// held validates documents by the schemas of their streams, each pair of both once: many files differ in their compression only.
type held struct {
	done               map[string]bool
	documents, refused int
}

// bucket discovers and reads a bucket. All documents must be valid by the stream's schema in both renderings, and values of other types than the declared ones
// must not.
func (h *held) bucket(t *testing.T, what string, memory *memblob.Bucket) {
	t.Helper()
	schema := discovered(t, memory, "{}")
	c := newCapture(t, memory)
	c.change = nil
	out := c.read()
	for _, rendering := range [][]byte{jsonschema.Airbyte(schema), jsonschema.Flow(schema)} {
		compiled := compile(t, rendering)
		for _, d := range out.documents {
			h.documents++
			body, meta, _ := strings.Cut(d.raw, `,"_meta":{"file":`)
			if key := string(rendering) + body; !h.done[key] {
				h.done[key] = true
				if err := compiled.Validate(parsed(t, body+`,"_meta":{"file":`+meta)); err != nil {
					t.Fatalf("%s: %v: %.300s", what, err, d.raw)
				}
			}
		}
		for _, p := range schema.Properties[1:] {
			wrong := parsed(t, `{"_meta":{"file":"bkt/a","version":"1","offset":0}}`).(map[string]any)
			wrong[p.Name] = []any{[]any{map[string]any{}}}
			switch err := compiled.Validate(wrong); {
			case err != nil:
				h.refused++
			case len(p.Schema.Types) > 0:
				t.Errorf("%s: %s is said to be %v, and may be a list of lists of objects", what, p.Name, p.Schema.Types)
			}
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	value, err := validator.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return value
}

func TestDiscover_DeclaredSchemasHoldForEveryRecord(t *testing.T) {
	names, all := foreign(t)
	h := held{done: map[string]bool{}}
	for i := range few(len(names)) {
		name := names[i*len(names)/few(len(names))]
		memory, _ := store()
		put(memory, map[string][]byte{name: all[name]})
		h.bucket(t, name, memory)
	}
	documents := 40_000
	if raced {
		documents = 6000 // files differ in how many they have: a quarter of the files need not have a quarter of them
	}
	if h.documents < documents || h.refused < few(1000) {
		t.Errorf("%d documents were valid, %d values of other types refused: too few to tell anything", h.documents, h.refused)
	}
	t.Logf("%d files, %d documents in two renderings, %d values refused", len(names), h.documents, h.refused)
	for batch := range slices.Chunk(names[:few(len(names))], sampleFiles) { // as many as are looked into
		memory, _ := store()
		for _, name := range batch {
			put(memory, map[string][]byte{name: all[name]})
		}
		h.bucket(t, fmt.Sprint(batch), memory)
	}
}

func avroFile(t *testing.T, schema string, records ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := goavro.NewOCFWriter(goavro.OCFConfig{W: &b, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(records); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func parquetFile[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What a record cannot show is known all the same, and what it shows by chance is not believed: the type of a null, of an empty list, of a number without
// a fraction.
func TestDiscover_DeclaredTypesNotValues(t *testing.T) {
	const schema = `{"type":"record","name":"r","fields":[{"name":"id","type":"long","doc":"its number"},{"name":"v","type":"double"},{"name":"gone","type":["null","string"]},
		{"name":"list","type":{"type":"array","items":["int","null"]}},{"name":"m","type":{"type":"map","values":"boolean"}},{"name":"day","type":{"type":"int","logicalType":"date"}},
		{"name":"raw","type":"bytes"},{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
		{"name":"either","type":["int","string"]},{"name":"e","type":{"type":"enum","name":"e","symbols":["A"]}},
		{"name":"inner","type":{"type":"record","name":"i","fields":[{"name":"next","type":["null","i"]},{"name":"x","type":"boolean"}]}},{"name":"_meta","type":"string"}]}`
	memory, _ := store()
	put(memory, map[string][]byte{"a.avro": avroFile(t, schema, map[string]any{
		"id": 1, "v": 2.0, "gone": nil, "list": []any{}, "m": map[string]any{}, "day": time.Unix(0, 0), "raw": []byte("abc"), "price": big.NewRat(1, 2),
		"either": goavro.Union("int", 1), "e": "A", "inner": map[string]any{"next": nil, "x": true}, "_meta": "mine",
	})})
	const want = `"id":{"type":"integer","description":"its number"},"v":{"type":["number","string"]},"gone":{"type":["string","null"]},` +
		`"list":{"type":"array","items":{"type":["integer","null"]}},"m":{"type":"object","additionalProperties":{"type":"boolean"}},"day":{"type":"string","format":"date"},` +
		`"raw":{"type":"string","contentEncoding":"base64"},"price":{"type":"string","format":"number"},"either":{"type":["integer","string"]},"e":{"type":"string"},` +
		`"inner":{"type":"object","properties":{"next":{},"x":{"type":"boolean"}},"additionalProperties":{}}`
	if got := properties(t, discovered(t, memory, "{}")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDiscover_UnionOverFiles(t *testing.T) {
	type nested struct {
		A int32 `parquet:"a"`
		B bool  `parquet:"b,optional"`
	}
	type row struct {
		ID    string            `parquet:"id"`
		Score float32           `parquet:"score,optional"`
		When  time.Time         `parquet:"when,timestamp(millisecond)"`
		Tags  []string          `parquet:"tags,list"`
		In    nested            `parquet:"in"`
		Map   map[string]int64  `parquet:"map"`
		Odd   map[string]string `parquet:"odd"`
	}
	memory, _ := store()
	put(memory, map[string][]byte{
		"a.parquet": parquetFile(t, row{}),
		"b.avro": avroFile(t, `{"type":"record","name":"r","fields":[{"name":"id","type":"long"},{"name":"when","type":"string"},{"name":"tags","type":{"type":"array","items":"int"}},
			{"name":"in","type":["null",{"type":"record","name":"i","fields":[{"name":"b","type":"string"},{"name":"c","type":"int"}]}]},
			{"name":"map","type":{"type":"map","values":["null","long"]}},{"name":"odd","type":{"type":"record","name":"o","fields":[{"name":"x","type":"int"}]}},{"name":"last","type":"null"}]}`),
		"c.csv":  []byte("id,score,own\n1,2,3\n"),
		"d.json": []byte(`{"last":true,"in":{"d":[1.5]}}`),
	})
	const want = `"id":{"type":["string","integer","null"]},"score":{"type":["number","string","null"]},"when":{"type":"string"},` +
		`"tags":{"type":"array","items":{"type":["string","integer"]}},` +
		`"in":{"type":["object","null"],"properties":{"a":{"type":"integer"},"b":{"type":["boolean","string","null"]},"c":{"type":"integer"},` +
		`"d":{"type":["array","null"],"items":{"type":["number","null"]}}},"additionalProperties":{}},` +
		`"map":{"type":"object","additionalProperties":{"type":["integer","null"]}},"odd":{"type":"object","additionalProperties":{}},` +
		`"last":{"type":["boolean","null"]},"own":{"type":["string","null"]}`
	if got := properties(t, discovered(t, memory, "{}")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDiscover_ProtobufByItsDescriptor(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a.pb": {8, 1}, "b.bin": {8, 2}})
	const parser = `{"format":{"type":"protobuf","config":{"protoFile":"syntax = \"proto3\"; message M { int32 n = 1; int64 big = 2; repeated string s = 3; M in = 4; }","message":"M"}}}`
	const want = `"n":{"type":"integer"},"big":{"type":"string","format":"integer"},"s":{"type":"array","items":{"type":"string"}},"in":{"type":"object","additionalProperties":{}}`
	if got := properties(t, discovered(t, memory, parser)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// metered counts what is read.
type metered struct {
	*memblob.Bucket
	bytes atomic.Int64
}

func (m *metered) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	body, info, err := m.Bucket.Open(ctx, key, version, off, n)
	if err != nil {
		return nil, info, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, m), body}, info, nil
}

func (m *metered) Write(p []byte) (int, error) {
	m.bytes.Add(int64(len(p)))
	return len(p), nil
}

// The schema of a Parquet file is at its end. It is read by range, and rows are not.
func TestDiscover_ReadsOfParquetTheFooter(t *testing.T) {
	type row struct {
		N    int64  `parquet:"n"`
		Text string `parquet:"text"`
	}
	var rows []row
	for i := range 200_000 {
		rows = append(rows, row{int64(i), fmt.Sprintf("%064x", i*7919)})
	}
	data := parquetFile(t, rows...)
	if len(data) < 4*sampleBytes {
		t.Fatalf("the file has only %d bytes", len(data))
	}
	for _, key := range []string{"a.parquet", "by its bytes alone"} {
		memory, _ := store()
		put(memory, map[string][]byte{key: data})
		bucket := &metered{Bucket: memory}
		if got, want := properties(t, discovered(t, bucket, "{}")), `"n":{"type":"integer"},"text":{"type":"string"}`; got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
		if n := bucket.bytes.Load(); n > 256<<10 {
			t.Errorf("%s: %d bytes were read of %d", key, n, len(data))
		}
	}
}

// A schema that does not end inside the limit is not known; the other files' are.
func TestDiscover_StaysInsideItsLimits(t *testing.T) {
	memory, _ := store()
	large := fmt.Sprintf(`{"type":"record","name":"r","fields":[{"name":"large","type":"int","doc":%q}]}`, strings.Repeat("x", 2*sampleBytes))
	put(memory, map[string][]byte{
		"a.avro": avroFile(t, large), "b.csv": []byte("small\n1\n"), "c.json": []byte(`{"long":"` + strings.Repeat("x", 2*sampleBytes) + `"}`), "d.parquet": []byte("PAR1 of other things PAR1"),
		"e.csv": append([]byte("rows\n"), bytes.Repeat([]byte("x\n"), 2*sampleBytes)...),
	})
	bucket := &metered{Bucket: memory}
	if got, want := properties(t, discovered(t, bucket, "{}")), `"small":{"type":["string","null"]},"rows":{"type":["string","null"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := bucket.bytes.Load(); n > 3*sampleBytes+sampleBytes/2 {
		t.Errorf("%d bytes were read", n)
	}
}

func TestDiscover_EndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, _ := store()
		for i := range 20 {
			put(memory, map[string][]byte{fmt.Sprintf("%02d.json", i): []byte(`{"a":1}`)})
		}
		slow := &stalling{Bucket: memory, from: 2}
		began := time.Now()
		if got, want := properties(t, discovered(t, slow, "{}")), `"a":{"type":["integer","null"]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if took := time.Since(began); took != sampleTime {
			t.Errorf("it took %s, want %s", took, sampleTime)
		}
		if n := slow.opened.Load(); n != 3 {
			t.Errorf("%d files were opened, want 3", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := newCapture(t, slow)
		c.reading.Advanced.Sample = true
		if _, err := c.source().Discover(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// stalling is a bucket whose openings answer up to one of them.
type stalling struct {
	*memblob.Bucket
	from   int32
	opened atomic.Int32
}

func (s *stalling) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	if s.opened.Add(1) > s.from {
		<-ctx.Done()
		return nil, blob.Info{}, ctx.Err()
	}
	return s.Bucket.Open(ctx, key, version, off, n)
}

// A catalog is one line, which runners read up to some length.
func TestShape_IsBounded(t *testing.T) {
	s := newShape()
	schema := bytes.NewBufferString(`{"type":"object","properties":{`)
	for i := range 2 * shapeRoom {
		fmt.Fprintf(schema, `"%d":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}},`, i)
	}
	schema.WriteString(`"z":{"type":"integer"}}}`)
	n, err := jsonschema.Parse(schema.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	s.declare(n)
	got := s.schema()
	if text := jsonschema.Flow(got); len(got.Properties) != shapeRoom/2 || len(text) > 4<<20 {
		t.Errorf("%d properties in %d bytes", len(got.Properties), len(text))
	}
}
