package rawjson

import (
	"bytes"
	"testing"
)

func appendLength(dst []byte, n int) []byte {
	dst = append(dst, "   "...)
	PutLength(dst[len(dst)-LengthBytes:], n)
	return dst
}

func TestLengths(t *testing.T) {
	for _, n := range []int{1, 31, 32, 1023, 1024, MaxLength} {
		list := appendLength(appendLength(nil, n), 5)
		if got, rest := NextLength(list); got != n || len(rest) != LengthBytes {
			t.Errorf("%d is written as %q and read as %d", n, list, got)
		}
		if Valid(append(append([]byte{'"'}, list...), '"')) != nil {
			t.Errorf("%q is no inside of a JSON string", list)
		}
	}
	for _, list := range []string{"", "00", "00~", "\x00\x00\x00", "00\"", "000", string(appendLength(nil, MaxLength+1))} {
		if n, _ := NextLength([]byte(list)); n != 0 {
			t.Errorf("%q is read as %d", list, n)
		}
	}
}

// memberLengths finds the lengths of a root's members; nil: no writer writes it like this, with spaces or without members.
func memberLengths(doc []byte) (list []byte) {
	if Valid(doc) != nil || len(doc) < 3 || doc[0] != '{' || !bytes.Equal(AppendCompact(nil, doc), doc) {
		return nil
	}
	for i := 1; i < len(doc); {
		_, value, _ := memberName(doc, i)
		end, _ := skipValue(doc, value, 1)
		list = appendLength(list, end-i)
		i = end + 1
	}
	return list
}

var memberPointers = []string{"/a", "/b", `/q"`, "/_meta/op", "/o/in", "/o", "/o/x", "/l/0", "/"}

// FuzzExtractMembers_AgreesWithExtract: with the right lengths it finds the same, and with others it does not run beyond the document.
func FuzzExtractMembers_AgreesWithExtract(f *testing.F) {
	for _, doc := range []string{
		`{"a":1,"b":"x,}","q\"":[1,{"in":2}],"_meta":{"op":"c","source":{"x":"}"}}}`, `{"_meta":{"source":{"op":"no"},"op":"d"},"a":{}}`,
		`{"o":{"in":1,"x":2},"l":[[1],2],"":0}`, `{"o":7,"l":{"0":1}}`, `{"a":1,"a":2,"o":{"in":1},"o":{"x":3}}`, `{"z":1}`, `{"_meta":{}}`, `{"_meta":[]}`, `{}`, `[]`, ``,
	} {
		f.Add([]byte(doc), []byte("006"))
	}
	e, err := NewExtractor(memberPointers)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc, lengths []byte) {
		want, got := make([][]byte, len(memberPointers)), make([][]byte, len(memberPointers))
		e.ExtractMembers(doc, lengths, got)
		right := memberLengths(doc)
		if right == nil || len(doc) > MaxLength || e.Extract(doc, want) != nil {
			return
		}
		if !e.ExtractMembers(doc, right, got) {
			t.Fatalf("%s with lengths %q is not read", doc, right)
		}
		for i := range want {
			twice := memberPointers[i] == "/_meta/op" && bytes.Count(doc, []byte(`"op"`)) > 1 // the first is taken, no writer has two
			if !bytes.Equal(want[i], got[i]) && !twice {
				t.Errorf("%s in %s: %q, Extract has %q", memberPointers[i], doc, got[i], want[i])
			}
		}
	})
}

func TestExtractMembers_LengthsThatDoNotFit(t *testing.T) {
	e, err := NewExtractor([]string{"/a", "/b"})
	if err != nil {
		t.Fatal(err)
	}
	into := make([][]byte, 2)
	doc := []byte(`{"a":1,"b":"x"}`)
	for lengths, want := range map[string]bool{
		"005007": true, "005": false, "005007001": false, "006007": false, "00500600:": false, "": false, "0051": false, "002": false, "004": false, "OOO": false,
	} {
		if ok := e.ExtractMembers(doc, []byte(lengths), into); ok != want {
			t.Errorf("lengths %q: %v, want %v", lengths, ok, want)
		}
	}
}

func BenchmarkExtractMembers(b *testing.B) {
	doc := benchmarkDoc()
	e, _ := NewExtractor([]string{"/id", "/customer", "/note", "/total", "/placed_at", "/paid", "/items", "/_meta/op"})
	into, lengths := make([][]byte, 8), memberLengths(doc)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		_ = e.ExtractMembers(doc, lengths, into)
	}
}
