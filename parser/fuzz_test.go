package parser

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/estuary/connectors/parser/internal/jsontext"
)

// fuzzed reads some documents of a file; enough tells that it was stopped.
func fuzzed(t *testing.T, c *Config, in Input, from Cursor) (docs []string, cursors []Cursor, err error) {
	t.Helper()
	r, err := Open(t.Context(), c, in, from)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for len(docs) < 200 {
		doc, err := r.Next(nil)
		if err != nil {
			return docs, cursors, err
		}
		docs = append(docs, string(doc))
		cursors = append(cursors, r.Cursor())
	}
	return docs, cursors, nil
}

// Whatever the bytes: no panic, errors that name the file, documents that are JSON objects on one line, the same ones in reads of any size, and the same
// ones again from any cursor.
func FuzzOpen(f *testing.F) {
	configs := []string{
		`{"addRecordOffset":"/n"}`,
		`{"format":"csv","csv":{"errorThreshold":100}}`,
		`{"format":"csv","csv":{"errorThreshold":50,"quote":"auto"},"schema":{"type":"object","properties":{"a":{"type":["integer","null"]},"b":{"type":"number"}}}}`,
		`{"format":"tsv","tsv":{"escape":"\\"}}`,
		`{"format":{"type":"json","config":{"errorThreshold":60}}}`,
		`{"format":"w3cExtendedLog","w3cExtendedLog":{"errorThreshold":60}}`,
		`{"format":{"type":"avro","config":{"schema":"{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":[\"null\",\"string\"]},{\"name\":\"b\",\"type\":\"int\"}]}"}}}`,
		`{"format":{"type":"protobuf","config":{"protoFile":"syntax = \"proto3\"; message M { string a = 1; repeated int32 b = 2; }","message":"M","delimited":true}}}`,
	}
	for i := range configs {
		for _, seed := range []string{"a,b\n1,2\n3\n", "a,b\n1,\"x\n2,y\n3,\"z\"\n", "{\"a\":1}\n[{\"b\":\"\\ud800\"}]", "#Fields: a b\n1 -\n", "\xff\xfea\x00\n\x001\x00", "\x02\x0a\x00\x04\x08"} {
			f.Add(uint8(i), []byte(seed))
		}
	}
	for _, codec := range []string{"gzip", "zstd", "lz4", "snappy", "zip", "gzip zip"} {
		f.Add(uint8(0), pack(f, codec, []byte("a,b\n1,2\n3,\"4\n\"\n")))
	}
	for name, raw := range binaries(f) {
		if len(raw) < 1500 || name == "logical-deflate.avro" {
			f.Add(uint8(0), raw)
			f.Add(uint8(0), pack(f, "gzip", raw))
			f.Add(uint8(0), packMember(f, name, raw))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := configOf(t, configs[int(which)%len(configs)])
		docs, cursors, err := fuzzed(t, c, inputOf("a", data, 65536), Cursor{})
		if e, ok := errors.AsType[*Error](err); err != nil && err != io.EOF && (!ok || e.File == "" || !utf8.ValidString(clip(e.Value)) || len(e.Value) > maxValue) {
			t.Errorf("got the error %#v", err)
		}
		for _, doc := range docs {
			if out, ok := jsontext.AppendValue(nil, []byte(doc), jsontext.Options{}); !ok || doc[0] != '{' || strings.ContainsAny(doc, "\r\n") {
				t.Errorf("%q is no object on one line (%s)", doc, out)
			}
		}
		slow, _, errSlow := fuzzed(t, c, once(inputOf("a", data, 1)), Cursor{})
		if !slices.Equal(docs, slow) || (err == nil) != (errSlow == nil) {
			t.Errorf("at once %q, %v\nbyte by byte %q, %v", docs, err, slow, errSlow)
		}
		if len(docs) > 1 && len(docs) < 200 {
			at := len(docs) / 2
			rest, _, errRest := fuzzed(t, c, inputOf("a", data, 65536), cursors[at])
			// The window starts empty on resumption, and the last rows may all be bad.
			halted := errRest != nil && strings.Contains(errRest.Error(), "errorThreshold")
			if err == io.EOF && !halted && (!slices.Equal(docs[at+1:], rest) || errRest != io.EOF) {
				t.Errorf("from document %d on %q, %v, again %q, %v", at, docs[at+1:], err, rest, errRest)
			}
		}
	})
}
