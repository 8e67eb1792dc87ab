package parser

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// fill sets every field that it finds, at any depth, to a value that is not zero.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { return nil }))
	default:
		panic("a config has a " + v.Kind().String())
	}
}

// same is reflect.DeepEqual, to which functions are never equal.
func same(a, b Config) bool {
	for _, f := range []struct{ a, b any }{{a.OnReject, b.OnReject}, {a.OnWarning, b.OnWarning}, {a.OnInfo, b.OnInfo}} {
		if reflect.ValueOf(f.a).Pointer() != reflect.ValueOf(f.b).Pointer() {
			return false
		}
	}
	a.OnReject, a.OnWarning, a.OnInfo = nil, nil, nil
	b.OnReject, b.OnWarning, b.OnInfo = nil, nil, nil
	return reflect.DeepEqual(a, b)
}

// bug streams-files-parser 10: predecessor, merging two configs loses fields
func TestMerge_LosesNoField(t *testing.T) {
	var full Config
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	full.Format.Auto = nil // it means that nothing was chosen
	if n < 80 {
		t.Fatalf("only %d fields were found", n)
	}
	if got := Merge(Config{}, full); !same(got, full) {
		t.Errorf("the connector's: got  %+v\nwant %+v", got, full)
	}
	if got := Merge(full, Config{}); !same(got, full) {
		t.Errorf("the user's: got  %+v\nwant %+v", got, full)
	}
	if got := Merge(full, full); !same(got, full) {
		t.Errorf("both: got  %+v\nwant %+v", got, full)
	}
}

func TestMerge_FillsWhatTheUserLeftOut(t *testing.T) {
	user := configOf(t, `{"format":"auto","compression":"gzip","csv":{"delimiter":";"},"fileExtensionMappings":{"log":"csv"}}`)
	connector := configOf(t, `{"format":"json","compression":"zstd","contentEncoding":"gzip","csv":{"delimiter":",","escape":"\\"},"fileExtensionMappings":{"log":"json","x":"csv"},"addRecordOffset":"/n"}`)
	got := Merge(*user, *connector)
	want := configOf(t, `{"format":"json","compression":"gzip","contentEncoding":"gzip","csv":{"delimiter":";","escape":"\\"},"fileExtensionMappings":{"log":"csv","x":"csv"},"addRecordOffset":"/n"}`)
	if !reflect.DeepEqual(got, *want) {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
	if user.CSV.Escape != "" || len(user.FileExtensionMappings) != 1 {
		t.Errorf("the user's own config was changed: %+v", user)
	}
}

func TestFormat_HasTwoForms(t *testing.T) {
	for in, want := range map[string]Format{
		`"csv"`:                                {CSV: &CSVFormat{}},
		`{"type":"csv"}`:                       {CSV: &CSVFormat{}},
		`{"type":"csv","config":{}}`:           {CSV: &CSVFormat{Config: DefaultCSV()}},
		`{"type":"tsv","config":{"quote":""}}`: {TSV: &TSVFormat{Config: &CSV{}}},
		`"auto"`:                               {Auto: &AutoFormat{}},
		`null`:                                 {},
		`{"type":"w3cExtendedLog","config":{"errorThreshold":5}}`:       {W3C: &W3CFormat{Config: &W3C{ErrorThreshold: 5}}},
		`{"type":"json","config":{"encoding":"utf-16"}}`:                {JSON: &JSONFormat{Config: &JSON{Encoding: "utf-16"}}},
		`{"type":"avro","config":{"framing":"single"}}`:                 {Avro: &AvroFormat{Config: &Avro{Framing: "single"}}},
		`{"type":"protobuf","config":{"message":"M","delimited":true}}`: {Protobuf: &ProtobufFormat{Config: &Protobuf{Message: "M", Delimited: true}}},
		`{"type":"parquet"}`: {Parquet: &ParquetFormat{}},
	} {
		var got Format
		if err := json.Unmarshal([]byte(in), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
		raw, err := json.Marshal(got)
		var again Format
		if err := json.Unmarshal(raw, &again); err != nil || again.kind() != got.kind() {
			t.Errorf("%s became %s, and that %+v: %v", in, raw, again, err)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for in, want := range map[string]string{
		`"cvs"`:                       `"cvs" is none of auto, csv`,
		`7`:                           "reading format",
		`{"type":"csv","config":"x"}`: "reading the options of format csv",
	} {
		if err := json.Unmarshal([]byte(in), new(Format)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

// Where the format is detected its options stand at the root, those of every format.
func TestConfig_OptionsOfDetectedFormats(t *testing.T) {
	c := configOf(t, `{"csv":{"errorThreshold":1},"tsv":{"errorThreshold":2},"json":{"errorThreshold":3},"w3cExtendedLog":{"errorThreshold":4},`+
		`"avro":{"errorThreshold":5},"parquet":{"errorThreshold":6},"protobuf":{"errorThreshold":7}}`)
	got := []int{
		c.delimited(csvKind).ErrorThreshold, c.delimited(tsvKind).ErrorThreshold, c.json().ErrorThreshold, c.w3c().ErrorThreshold,
		c.avro().ErrorThreshold, c.parquet().ErrorThreshold, c.protobuf().ErrorThreshold,
	}
	if fmt.Sprint(got) != "[1 2 3 4 5 6 7]" {
		t.Errorf("got %v", got)
	}
}

func TestValidate_TellsAllAtOnce(t *testing.T) {
	for _, c := range []struct{ config, want string }{
		{`{"format":{"type":"csv","config":{}},"csv":{}}`, "format.config and csv are both given: keep format.config and remove csv"},
		{`{"format":{"type":"tsv","config":{}},"tsv":{}}`, "format.config and tsv are both given"},
		{`{"format":{"type":"json","config":{}},"json":{}}`, "format.config and json are both given"},
		{`{"format":{"type":"parquet","config":{}},"parquet":{}}`, "format.config and parquet are both given"},
		{`{"fileExtensionMappings":{"x":"cvs"}}`, `fileExtensionMappings maps "x" to the format "cvs", which is none of csv, tsv, json`},
		{`{"contentTypeMappings":{"text/x":"xls"}}`, `contentTypeMappings maps "text/x" to the format "xls"`},
		{`{"addValues":{"x":1}}`, `addValues has the key "x", which is no JSON pointer`},
		{`{"addValues":{"":1}}`, `addValues has the key ""`},
		{`{"schema":{"properties":{"a":{"type":"integr"}}}}`, `schema: the type at /properties/a of a JSON schema is "integr", which is none of`},
		{`{"projections":{"a":"b"}}`, `projections puts the field "a" at "b", which is no JSON pointer`},
		{`{"projections":{"a":"/b~"}}`, `"/b~"`},
		{`{"projections":{"a":"/b~0/~2"}}`, `"/b~0/~2"`},
		{`{"addRecordOffset":"n"}`, `addRecordOffset "n" is no JSON pointer`},
		{`{"schema":{"type":"object","properties":7}}`, ""},
		{`{"csv":{"delimiter":"\n"}}`, `csv: reading the dialect: the delimiter "\n" holds a line end`},
		{`{"csv":{"delimiter":"\""}}`, `the delimiter "\"" holds the quote`},
		{`{"tsv":{"quote":"ab"}}`, `tsv: reading the quote "ab": it is not one ASCII character`},
		{`{"csv":{"lineEnding":"ab"}}`, `reading the line ending "ab"`},
		{`{"csv":{"encoding":"ebcdic"}}`, `csv: looking up the encoding "ebcdic"`},
		{`{"json":{"encoding":"ebcdic"}}`, `json: looking up`},
		{`{"w3cExtendedLog":{"encoding":"ebcdic"}}`, `w3cExtendedLog: looking up`},
		{`{"format":{"type":"avro","config":{"framing":"single"}}}`, "avro.framing is single, but avro.schema is missing"},
		{`{"csv":{"defaultOffset":"CET"}}`, "csv: reading times: the default offset must be written as +00:00, not CET"},
		{`{"tsv":{"thousands":"."}}`, `tsv: reading numbers: "." cannot separate both`},
		{`{"csv":{"headers":["a","b","a"]}}`, `csv: reading the header: columns 1 and 3 are both named "a"`},
		{`{"avro":{"schema":"{\"type\":\"recor\"}"}}`, `avro.schema: reading an Avro schema: the type "recor" is not defined`},
		{`{"protobuf":{"protoFile":"syntax = \"proto3\"; message A {}","message":"B"}}`, `protobuf: choosing message "B": there are only A`},
		{`{"protobuf":{"protoFile":"syntax = \"proto3\"; message A {}","message":"A"}}`, ""},
		{`{"format":"protobuf"}`, "the format is protobuf, but protoFile or message is missing"},
		{`{"projections":{"a":"b"},"addRecordOffset":"n"}`, "\n"},
		{`{"format":"csv","csv":{"delimiter":"auto","lineEnding":"auto","quote":"auto","escape":"auto","encoding":"auto"},"projections":{"a":"","b":"/~0~1"}}`, ""},
	} {
		err := configOf(t, c.config).Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.config, err, c.want)
		}
	}
}

// Rows that are not there are not counted one by one.
func TestSkipRowsAfterHeader_EndsWithTheFile(t *testing.T) {
	c := configOf(t, `{"csv":{"skipRowsAfterHeader":9223372036854775807}}`)
	if docs, _, _, err := read(t, c, inputOf("a.csv", []byte("a\n1\n\"2\n"), 65536), Cursor{}); err != nil || len(docs) != 0 {
		t.Errorf("got %q, %v", docs, err)
	}
}

func TestRefuseReserved(t *testing.T) {
	err := configOf(t, `{"addRecordOffset":"/n","addValues":{"/a":1},"filename":"x","projections":{"a":"/b"},"schema":{}}`).RefuseReserved()
	for field, fix := range map[string]string{
		"addRecordOffset": "remove it", "addValues": "remove it", "filename": "remove it",
		"projections": "give the stream projections instead", "schema": "give the stream a schema instead",
	} {
		if err == nil || !strings.Contains(err.Error(), "parser."+field+" is given, but the connector sets it: "+fix) {
			t.Errorf("%s: got %v", field, err)
		}
	}
	if err := configOf(t, `{"format":"csv","csv":{"delimiter":";"},"compression":"gzip","contentType":"text/csv"}`).RefuseReserved(); err != nil {
		t.Error(err)
	}
}
