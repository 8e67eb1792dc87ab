package rawjson

import (
	"bytes"
	"testing"
)

// FuzzExtract_AgreesWithFind: whatever the document, and in whatever order its members come, Extract finds what Find does.
func FuzzExtract_AgreesWithFind(f *testing.F) {
	for _, doc := range []string{
		`{"a":1,"ab":2,"a b":3,"q\"":4,"é":5,"":6,"o":{"in":7,"x":8},"l":[9,{"in":10}]}`,
		`{"ab":2,"a" : 1 , "o" :{"x":8, "in":7},"q\"":4,"\u00e9":5}`,
		`{"a":1,"a":{"in":2},"o":{"in":1},"o":3}`, `{"o":{"in":1},"o":{"x":2}}`, `{"a"`, `{"a":`, `{"a":1`, `{"a":}`, "{\"a\":\n1}", `{"a":1,}`, `[1,[2]]`, `"a"`, ``,
	} {
		f.Add([]byte(doc))
	}
	pointers := []string{"/a", "/ab", "/a b", `/q"`, "/é", "/", "/o/in", "/o", "/l/0", "/l/1/in", "/0", ""}
	e, err := NewExtractor(pointers)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		into := make([][]byte, len(pointers))
		err := e.Extract(doc, into)
		if invalid := Valid(doc); (err == nil) != (invalid == nil) || err != nil && err.Error() != invalid.Error() {
			t.Fatalf("Extract says %v, Valid %v", err, invalid)
		}
		for i, text := range pointers {
			p, err := ParsePointer(text)
			if err != nil {
				t.Fatal(err)
			}
			want, _, findErr := p.Find(doc)
			if Valid(doc) != nil {
				want = nil
			}
			if findErr == nil && !bytes.Equal(into[i], want) {
				t.Errorf("%q: %q, Find has %q", text, into[i], want)
			}
		}
	})
}
