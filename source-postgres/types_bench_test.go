package main

import (
	"strings"
	"testing"
)

func BenchmarkAppendJSON(b *testing.B) {
	document := `{"id": 4711, "name": "a quarter of a kilo of coffee, ground", "tags": ["new", "cheap", "brown"], "price": {"amount": 12.50, "currency": "EUR"}, "stock": null}`
	f := newFixture(typeOptions{})
	for _, c := range []struct{ name, typ, wire string }{
		{"int", "int8", "1234567890"},
		{"bool", "bool", "t"},
		{"text14", "text", "customer-12345"},
		{"text200", "text", strings.Repeat("all plain ", 20)},
		{"text200escapes", "text", strings.Repeat("a \"b\" \n cd", 20)},
		{"text200cyrillic", "text", strings.Repeat("привет ", 15)},
		{"numeric", "numeric", "12345.6700"},
		{"float8", "float8", "0.30000000000000004"},
		{"timestamptz", "timestamptz", "2024-01-15 14:30:00.123456+00"},
		{"date", "date", "2024-01-15"},
		{"uuid", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"jsonb160", "jsonb", document},
		{"text[]3", "text[]", "{red,green,blue}"},
		{"text[]3quoted", "text[]", `{"light red","dark green","blue, or so"}`},
		{"int4[12]", "int4[]", "{1,2,3,4,5,6,7,8,9,10,11,12}"},
		{"hstore", "hstore", `"a"=>"1", "b"=>NULL`},
		{"tstzrange", "tstzrange", `["2023-12-31 23:00:00+00","2024-12-31 23:00:00+00")`},
		{"bytea", "bytea", `\xdeadbeefdeadbeef`},
	} {
		b.Run(c.name, func(b *testing.B) {
			column := f.named(b, c.typ)
			dst, value := make([]byte, 0, 1024), []byte(c.wire)
			fresh := []byte(c.wire)
			b.ReportAllocs()
			b.SetBytes(int64(len(c.wire)))
			for b.Loop() {
				copy(value, fresh) // the value may be changed
				out, err := column.AppendJSON(dst, value)
				if err != nil {
					b.Fatal(err)
				}
				dst = out[:0]
			}
		})
	}
}

func BenchmarkAppendKey(b *testing.B) {
	f := newFixture(typeOptions{})
	for _, c := range []struct{ name, typ, wire string }{
		{"int", "int8", "1234567890"},
		{"text", "text", "customer-12345"},
		{"uuid", "uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"numeric", "numeric", "12345.6700"},
		{"timestamptz", "timestamptz", "2024-01-15 14:30:00.123456+00"},
		{"float8", "float8", "0.30000000000000004"},
	} {
		b.Run(c.name, func(b *testing.B) {
			column := f.named(b, c.typ)
			dst, value := make([]byte, 0, 1024), []byte(c.wire)
			b.ReportAllocs()
			for b.Loop() {
				out, err := column.AppendKey(dst, value)
				if err != nil {
					b.Fatal(err)
				}
				dst = out[:0]
			}
		})
	}
}
