package avro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

func messages(m *Messages) (string, []int64, error) {
	var out []byte
	var at []int64
	for {
		if err := m.Next(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return string(out), at, err
		}
		var err error
		if out, err = document(out, m); err != nil {
			return string(out), at, err
		}
		out = append(out, '\n')
		at = append(at, m.Position())
	}
}

func newMessages(t *testing.T, r io.Reader, s *Schema, framing Framing, at int64) *Messages {
	t.Helper()
	m, err := NewMessages(r, s, framing, Limits{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMessages_BackToBack(t *testing.T) {
	s := one(t, `"string"`)
	head := "\xc3\x01" + le64(s.Fingerprint())
	long := strings.Repeat("x", 300_000) // more than is read at once
	var bare, single, want strings.Builder
	for _, v := range []string{"", "a", long, "b", long, ""} {
		datum := zigzag(int64(len(v))) + v
		bare.WriteString(datum)
		single.WriteString(head + datum)
		want.WriteString(`{"v":"` + v + "\"}\n")
	}
	for framing, text := range map[Framing]string{Bare: bare.String(), Single: single.String()} {
		got, at, err := messages(newMessages(t, strings.NewReader(text), s, framing, 0))
		if got != want.String() || err != nil {
			t.Errorf("%s: %s, %v", framing, firstDifference(got, want.String()), err)
		}
		if got, _, err := messages(newMessages(t, iotest.OneByteReader(strings.NewReader(text)), s, framing, 0)); got != want.String() || err != nil {
			t.Errorf("%s, byte by byte: %s, %v", framing, firstDifference(got, want.String()), err)
		}
		rest := want.String()
		for _, p := range at {
			_, rest, _ = strings.Cut(rest, "\n")
			m := newMessages(t, strings.NewReader(text[p:]), s, framing, p)
			if got, again, err := messages(m); got != rest || err != nil || len(again) > 0 && again[len(again)-1] != at[len(at)-1] {
				t.Errorf("%s, from %d: %s, %v", framing, p, firstDifference(got, rest), err)
			}
		}
	}
}

// The datums of a file, taken out of its block, are the same documents.
func TestMessages_OfAFilesRecords(t *testing.T) {
	f, err := NewFile(bytes.NewReader(readFile(t, "logical-deflate.avro")), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var datums []byte
	for before := 0; f.Next() == nil; before = f.at {
		if f.index == 1 {
			before = 0
		}
		datums = append(datums, f.block[before:f.at]...)
	}
	want := string(readFile(t, "logical-deflate.ndjson"))
	if got, _, err := messages(newMessages(t, bytes.NewReader(datums), f.Schema(), Bare, 0)); got != want || err != nil {
		t.Errorf("%s, %v", firstDifference(got, want), err)
	}
}

func TestMessages_Refuses(t *testing.T) {
	s := one(t, `"string"`)
	good := zigzag(1) + "a"
	for name, test := range map[string]struct {
		schema  *Schema
		framing Framing
		text    string
		want    string
		limit   bool
	}{
		"cut":            {s, Bare, good + zigzag(3) + "ab", "reading Avro at byte 2: the file ends inside the datum that begins here: a value needs 3 bytes, of which only 2 are there", false},
		"too large":      {s, Bare, good + zigzag(65<<20) + "ab", "reading Avro at byte 2: a string declares 68157440 bytes; at most 67108864 are allowed", true},
		"negative":       {s, Bare, zigzag(-5), "reading Avro at byte 0: a string has the length -5", false},
		"endless number": {s, Bare, strings.Repeat("\x80", 100), "reading Avro at byte 0: an integer has more than 64 bits", false},
		"no content":     {one(t, `"null"`), Bare, "x", "reading Avro at byte 0: the record R has no content, but there are bytes", false},
		"deep": {
			one(t, `{"type":"record","name":"N","fields":[{"name":"n","type":["null","N"]}]}`), Bare, strings.Repeat("\x02", 100_000),
			"reading Avro at byte 0: more than 512 records, arrays and maps stand inside each other", true,
		},
		"many items": {one(t, `{"type":"array","items":"null"}`), Bare, zigzag(math.MaxInt64), "reading Avro at byte 0: an array declares 9223372036854775807 items without content, more than 67108864 bytes of JSON", true},
		"no frame":   {s, Single, good + "12345678", "reading Avro at byte 0: a message in single-object encoding begins with c3 01, not with 0261", false},
		"cut frame":  {s, Single, "\xc3\x01abc", "reading Avro at byte 0: the file ends inside the datum that begins here: a value needs 10 bytes, of which only 5 are there", false},
		"other schema": {
			s, Single, "\xc3\x01abcdefgh" + good,
			fmt.Sprintf("reading Avro at byte 0: the message was written with the schema of fingerprint 6867666564636261; the given one has %016x", s.Fingerprint()), false,
		},
	} {
		_, _, err := messages(newMessages(t, strings.NewReader(test.text), test.schema, test.framing, 0))
		var e *Error
		if !errors.As(err, &e) || err.Error() != test.want || e.Limit != test.limit {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewMessages(nil, s, "double", Limits{}, 0); err == nil {
		t.Error("a framing that is none is accepted")
	}
}

// endless is an array of longs without end.
type endless struct{ read int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 2
	}
	e.read += int64(len(b))
	return len(b), nil
}

func TestMessages_BoundsADatum(t *testing.T) {
	s := one(t, `{"type":"array","items":"long"}`)
	r := &endless{}
	m, err := NewMessages(r, s, Bare, Limits{Value: 1 << 20}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := m.Next(); !errors.As(err, &e) || !e.Limit || r.read > 2<<20 {
		t.Errorf("%v, %d bytes were read", err, r.read)
	}
	broken := fmt.Errorf("connection reset: %w", io.EOF)
	m = newMessages(t, failingReader{broken}, s, Bare, 0)
	if err := m.Next(); err == io.EOF || !errors.Is(err, broken) {
		t.Error(err)
	}
}
