package parser

import (
	"slices"
	"strings"
	"testing"
)

const avroSchema = `{"type":"record","name":"r","fields":[{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":6,"scale":2}},{"name":"s","type":["null","string"]}]}`

func TestAvro_MessagesWithASchemaFromOutside(t *testing.T) {
	// 1607483647000 as a zigzag varint, 04 d2 and fb 2e as bytes, the first branch and the second.
	first := "\xb0\x90\xef\xd7\xc8\x5d\x04\x04\xd2\x00"
	second := "\xb0\x90\xef\xd7\xc8\x5d\x04\xfb\x2e\x02\x02x"
	c := configOf(t, "")
	c.Format.Avro = &AvroFormat{Config: &Avro{Schema: avroSchema, Framing: "none"}}
	c.AddRecordOffset = "/n"
	want := []string{`{"at":"2020-12-09T03:14:07Z","d":"12.34","s":null,"n":0}`, `{"at":"2020-12-09T03:14:07Z","d":"-12.34","s":"x","n":1}`}
	for _, piece := range []int{1, 7, 65536} {
		got, cursors, _, err := read(t, c, inputOf("a", []byte(first+second), piece), Cursor{})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("got %q, %v", got, err)
		}
		rest, _, _, err := read(t, c, inputOf("a", []byte(first+second), piece), cursors[0])
		if err != nil || !slices.Equal(rest, want[1:]) {
			t.Errorf("resumed: got %q, %v", rest, err)
		}
	}
	if got, _, _, err := read(t, c, inputOf("a", []byte(first+second[:5]), 7), Cursor{}); len(got) != 1 || err == nil {
		t.Errorf("cut: got %q, %v", got, err)
	}
	c.Format.Avro.Config.Framing = "single"
	if _, _, _, err := read(t, c, inputOf("a", []byte(first), 7), Cursor{}); err == nil {
		t.Error("a message without its frame was read")
	}
	c.Format.Avro.Config = nil
	if _, _, _, err := read(t, c, inputOf("a", []byte(first), 7), Cursor{}); err == nil || !strings.Contains(err.Error(), "no schema for messages is given") {
		t.Errorf("without a schema: got %v", err)
	}
	c.Format.Avro.Config = &Avro{Schema: "{"}
	if _, _, _, err := read(t, c, inputOf("a", []byte(first), 7), Cursor{}); kindOf(err) != KindConfig {
		t.Errorf("with a broken schema: got %v", err)
	}
}

func TestProtobuf_OneMessageAndMany(t *testing.T) {
	c := configOf(t, "")
	c.Format.Protobuf = &ProtobufFormat{Config: &Protobuf{ProtoFile: `syntax = "proto3"; message M { string user_name = 1; repeated int32 n = 2; }`, Message: "M"}}
	one := "\x0a\x01x\x12\x02\x01\x02"
	got, _, _, err := read(t, c, inputOf("a.bin", []byte(one), 1), Cursor{})
	if err != nil || !slices.Equal(got, []string{`{"user_name":"x","n":[1,2]}`}) {
		t.Errorf("one: got %q, %v", got, err)
	}
	c.Format.Protobuf.Config.Delimited = true
	c.AddRecordOffset = "/o"
	many := strings.Repeat(string(rune(len(one)))+one, 3)
	want := []string{`{"user_name":"x","n":[1,2],"o":0}`, `{"user_name":"x","n":[1,2],"o":1}`, `{"user_name":"x","n":[1,2],"o":2}`}
	for _, codec := range []string{"", "gzip"} {
		in := inputOf("a.bin", pack(t, codec, []byte(many)), 7)
		got, cursors, _, err := read(t, c, in, Cursor{})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("many: got %q, %v", got, err)
		}
		if rest, _, _, err := read(t, c, in, cursors[1]); err != nil || !slices.Equal(rest, want[2:]) {
			t.Errorf("resumed: got %q, %v", rest, err)
		}
	}
	bad := many[:len(one)+1] + "\x01\xff" + many[len(one)+1:]
	if got, _, _, err := read(t, c, inputOf("a.bin", []byte(bad), 7), Cursor{}); len(got) != 1 || err == nil || !strings.Contains(err.Error(), "a.bin: row 2, byte 8") {
		t.Errorf("a bad message: got %q, %v", got, err)
	}
	c.Format.Protobuf.Config.ErrorThreshold = 60
	if got, _, stats, err := read(t, c, inputOf("a.bin", []byte(bad), 7), Cursor{}); len(got) != 3 || err != nil || stats.Rejected != 1 {
		t.Errorf("a bad message is skipped: got %q, %+v, %v", got, stats, err)
	}
	if got, _, _, err := read(t, c, inputOf("a.bin", []byte(many[:len(many)-2]), 7), Cursor{}); len(got) != 2 || err == nil {
		t.Errorf("cut: got %q, %v", got, err)
	}
	if _, _, _, err := read(t, configOf(t, ""), inputOf("a.pb", []byte(one), 7), Cursor{}); err == nil || !strings.Contains(err.Error(), "set format.config.protoFile and message") {
		t.Errorf("by its name only: got %v", err)
	}
}
