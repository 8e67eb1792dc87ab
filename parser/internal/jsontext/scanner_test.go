package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// pieces reads at most n bytes at once.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// readAll returns the objects of text and what ended them.
func readAll(text string, piece int, o Options) (values []string, at []Position, err error) {
	s := NewScanner(pieces{strings.NewReader(text), piece}, o, Position{})
	for {
		value, err := s.Next()
		if err != nil {
			return values, at, err
		}
		values = append(values, string(value.Raw))
		at = append(at, s.Position())
		start := int(value.Byte)
		if len(value.Raw) != int(s.Position().Byte)-start || text[start] != '{' || value.Line != int64(strings.Count(text[:start], "\n")+1) {
			return values, at, fmt.Errorf("the value %s is said to begin at byte %d, line %d", value.Raw, value.Byte, value.Line)
		}
	}
}

// The documents of a stream, in reads of any size, from the start and from behind each of them.
func TestScanner_StreamsOfObjects(t *testing.T) {
	long := `{"long":"` + strings.Repeat("0123456789é", 30000) + `"}` // more than the first buffer
	for name, test := range map[string]struct {
		text string
		want []string
		err  string // "" = the end
	}{
		"empty":   {"", nil, ""},
		"blanks":  {" \r\n\t\n", nil, ""},
		"one":     {`{"a":1}`, []string{`{"a":1}`}, ""},
		"lines":   {"{\"a\":1}\n{\"a\":2}\r\n\n{}\n", []string{`{"a":1}`, `{"a":2}`, `{}`}, ""},
		"nothing": {`{"a":1}{"a":2}`, []string{`{"a":1}`, `{"a":2}`}, ""},
		"B.7":     {"{\"a\":1}{\"a\":2}\n[{\"a\":3},{\"a\":4}]\n", []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`}, ""},
		// bug streams-files-parser 28: predecessor, whatever looks like a time is rewritten
		"a time": {`{"t":"2022-04-01 10:00:00"}`, []string{`{"t":"2022-04-01 10:00:00"}`}, ""},
		// bug streams-files-parser 86: predecessor, large integers are rounded
		"digits":       {`{"n":12345678901234567890123,"m":1.10,"k":1e400}`, []string{`{"n":12345678901234567890123,"m":1.10,"k":1e400}`}, ""},
		"pretty":       {"{\n  \"a\" : [ 1 , 2 ]\n}\n{\n}\n", []string{"{\n  \"a\" : [ 1 , 2 ]\n}", "{\n}"}, ""},
		"sequence":     {"\x1e{\"a\":1}\n\x1e{\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}, ""},
		"array":        {" [ {\"a\":1} ,\n{\"a\":2} ]\n", []string{`{"a":1}`, `{"a":2}`}, ""},
		"empty array":  {"[]", nil, ""},
		"arrays":       {"[][{}]\n[{}, {}]{}", []string{"{}", "{}", "{}", "{}"}, ""},
		"duplicates":   {`{"a":1,"a":2}`, []string{`{"a":1,"a":2}`}, ""},
		"long":         {long + "\n" + long + "\n{}", []string{long, long, "{}"}, ""},
		"half pair":    {`{"\ud800":"\uDBFFx\udc00\ud83d\ude00\ud83d\ud83d\ude00"}`, []string{`{"\ufffd":"\ufffdx\ufffd\ud83d\ude00\ufffd\ud83d\ude00"}`}, ""},
		"two halves":   {`{"a":"\ud800\udbff"}`, []string{`{"a":"\ufffd\ufffd"}`}, ""},
		"half at end":  {`{"a":"\ud800"}`, []string{`{"a":"\ufffd"}`}, ""},
		"half, escape": {`{"a":"\ud800\n\ud800\u0041"}`, []string{`{"a":"\ufffd\n\ufffd\u0041"}`}, ""},
		"half, quotes": {`{"a":"\ud800\\u"}`, []string{`{"a":"\ufffd\\u"}`}, ""},

		"cut":             {"{\"a\":1}\n{\"a\":2", []string{`{"a":1}`}, `reading JSON at byte 14, line 2: the text ends inside the object that begins at byte 8`},
		"cut character":   {"{\"a\":\"\xe2\x82", nil, `reading JSON at byte 8, line 1: the text ends inside the object that begins at byte 0`},
		"cut array":       {`[{"a":1}`, []string{`{"a":1}`}, `reading JSON at byte 8, line 1: the text ends inside an array`},
		"cut array 2":     {"[{\"a\":1},\n", []string{`{"a":1}`}, `reading JSON at byte 10, line 2: the text ends inside an array`},
		"comma":           {`[{"a":1},]`, []string{`{"a":1}`}, `reading JSON at byte 9, line 1: each document must be an object; here is ']'`},
		"comma first":     {`[,{}]`, nil, `reading JSON at byte 1, line 1: each document must be an object; here is ','`},
		"comma between":   {`{},{}`, []string{"{}"}, `reading JSON at byte 2, line 1: each document must be an object; here is ','`},
		"no comma":        {`[{} {}]`, []string{"{}"}, `reading JSON at byte 4, line 1: "," or "]" was expected, not '{'`},
		"bracket":         {"{}\n]", []string{"{}"}, `reading JSON at byte 3, line 2: each document must be an object; here is ']'`},
		"member comma":    {`{"a":1,}`, nil, `reading JSON at byte 7, line 1: the name of a member, in double quotes, was expected, not '}'`},
		"number":          {"{}\n 12", []string{"{}"}, `reading JSON at byte 4, line 2: each document must be an object; here is a number`},
		"string":          {`"a"`, nil, `reading JSON at byte 0, line 1: each document must be an object; here is a string`},
		"word":            {`[null]`, nil, `reading JSON at byte 1, line 1: each document must be an object; here is a value that begins with 'n'`},
		"nested array":    {`[{},[{}]]`, []string{"{}"}, `reading JSON at byte 4, line 1: each document must be an object; here is an array inside an array`},
		"NaN":             {`{"a":NaN}`, nil, `reading JSON at byte 5, line 1: a value was expected, not 'N'`},
		"single quotes":   {`{'a':1}`, nil, `reading JSON at byte 1, line 1: the name of a member, in double quotes, was expected, not '\''`},
		"escape":          {`{"a":"\x"}`, nil, `reading JSON at byte 7, line 1: \ followed by 'x' is no escape`},
		"hex":             {`{"a":"\u00g0"}`, nil, `reading JSON at byte 10, line 1: one of four hexadecimal digits behind \u was expected, not 'g'`},
		"UTF-8":           {"{\"a\":\"caf\xe9\",\"b\":tru}", nil, "reading JSON at byte 9, line 1: the byte 0xe9 is no UTF-8"},
		"surrogate bytes": {"{\"a\":\"\xed\xa0\x80\"}", nil, "reading JSON at byte 6, line 1: the byte 0xed is no UTF-8"},
		"no UTF-8 at all": {"{\"a\":1}\xff", []string{`{"a":1}`}, "reading JSON at byte 7, line 1: each document must be an object; here is the byte 0xff"},
		"euro":            {"{\"a\":1}€", []string{`{"a":1}`}, "reading JSON at byte 7, line 1: each document must be an object; here is '€'"},
		"control":         {"{\"a\":\"x\ty\"}", nil, "reading JSON at byte 7, line 1: a control character, 0x09, stands in a string without escape"},
		"NUL":             {"{\"a\":\x00}", nil, `reading JSON at byte 5, line 1: a value was expected, not '\x00'`},
		"zero":            {`{"a":01}`, nil, "reading JSON at byte 6, line 1: a number begins with a zero that is not alone"},
		"plus":            {`{"a":+1}`, nil, `reading JSON at byte 5, line 1: a value was expected, not '+'`},
		"point":           {`{"a":1.}`, nil, `reading JSON at byte 7, line 1: a digit behind the decimal point was expected, not '}'`},
		"exponent":        {`{"a":1e}`, nil, `reading JSON at byte 7, line 1: a digit of the exponent was expected, not '}'`},
		"minus":           {`{"a":-}`, nil, `reading JSON at byte 6, line 1: a digit was expected, not '}'`},
		"word 2":          {`{"a":nul}`, nil, `reading JSON at byte 8, line 1: "null" was expected, not '}'`},
		"closer":          {`{"a":[1}`, nil, `reading JSON at byte 7, line 1: "," or "]" was expected, not '}'`},
		"closer 2":        {`{"a":{"b":1]`, nil, `reading JSON at byte 11, line 1: "," or "}" was expected, not ']'`},
		"colon":           {`{"a" 1}`, nil, `reading JSON at byte 5, line 1: ":" was expected, not '1'`},
		"last line": {
			strings.Repeat("{\"a\":1}\n", 3) + "{\"a\":\"\\q\"}\n",
			[]string{`{"a":1}`, `{"a":1}`, `{"a":1}`},
			`reading JSON at byte 31, line 4: \ followed by 'q' is no escape`,
		},
	} {
		for i, piece := range []int{1, 7, 65536, 7, 7, 65536} {
			if piece < 7 && len(test.text) > 1<<20 {
				continue
			}
			said := max(0, i-2) * len(test.text) / 2 // half of it, all, and more than there is, besides nothing
			values, at, err := readAll(test.text, piece, Options{Text: said})
			if !slices.Equal(values, test.want) || message(err) != test.err {
				t.Errorf("%s, %d bytes at once: %.200q, %v", name, piece, values, err)
				continue
			}
			for i, p := range at {
				s := NewScanner(pieces{strings.NewReader(test.text[p.Byte:]), piece}, Options{}, p)
				n := i + 1
				value, err := s.Next()
				for ; err == nil; value, err = s.Next() {
					if n == len(test.want) || string(value.Raw) != test.want[n] || s.Position() != at[n] {
						t.Fatalf("%s, from %+v: %q, %+v", name, p, value.Raw, s.Position())
					}
					n++
				}
				if n != len(test.want) || message(err) != test.err {
					t.Errorf("%s, from %+v: %d values, %v", name, p, n, err)
				}
			}
		}
	}
}

func message(err error) string {
	if errors.Is(err, io.EOF) {
		return ""
	}
	return err.Error()
}

func TestScanner_Limits(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2)
	}
	for _, test := range []struct {
		text string
		o    Options
		err  string
	}{
		{deep(512), Options{}, ""},
		{deep(514), Options{}, "reading JSON at byte 1536, line 1: more than 512 objects and arrays are nested"},
		{strings.Repeat(`{"a":`, 100000), Options{}, "reading JSON at byte 2560, line 1: more than 512 objects and arrays are nested"},
		{"[\n" + `{"a":{}}`, Options{MaxDepth: 1}, "reading JSON at byte 7, line 2: more than 1 objects and arrays are nested"},
		{`{"a":"12"}`, Options{MaxValue: 10}, ""},
		{`{"a":"123"}`, Options{MaxValue: 10}, "reading JSON at byte 0, line 1: the value is larger than 10 bytes"},
		{`{"a":"123`, Options{MaxValue: 8}, "reading JSON at byte 0, line 1: the value is larger than 8 bytes"},
		{`{}{"a":"123}`, Options{MaxValue: 8}, "reading JSON at byte 2, line 1: the value is larger than 8 bytes"},
		{`{}{"a":"1234` + "\x00", Options{MaxValue: 8}, "reading JSON at byte 2, line 1: the value is larger than 8 bytes"},
	} {
		for _, piece := range []int{1, 65536} {
			_, _, err := readAll(test.text, piece, test.o)
			var limit *LimitError
			if message(err) != test.err || test.err != "" && !errors.As(err, &limit) {
				t.Errorf("%.40s: %v", test.text, err)
			}
		}
	}
}

// endless is a text without end: start, then again and again the same byte.
type endless struct {
	start string
	again byte
	read  int64
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.start)
	e.start = e.start[n:]
	for i := n; i < len(b); i++ {
		b[i] = e.again
	}
	e.read += int64(len(b))
	return len(b), nil
}

// A value without end is given up at the limit: no more is read than is needed to know.
func TestScanner_EndlessValues(t *testing.T) {
	for _, e := range []*endless{{start: `{"a":"`, again: 'x'}, {start: `{"a":1`, again: '0'}, {start: `{`, again: ' '}, {start: `{"a":[`, again: '\n'}} {
		s := NewScanner(e, Options{MaxValue: 8 << 20}, Position{})
		_, err := s.Next()
		var limit *LimitError
		if !errors.As(err, &limit) || e.read > 9<<20 {
			t.Errorf("%v after %d bytes", err, e.read)
		}
	}
}

func TestScanner_PassesReadErrorsOn(t *testing.T) {
	broken := fmt.Errorf("connection reset: %w", io.EOF) // no clean end
	for _, text := range []string{"{}\n", "{}\n{\"a\":", "{}\n["} {
		s := NewScanner(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), Options{}, Position{})
		if _, err := s.Next(); err != nil {
			t.Errorf("%q: %v before the value that was there", text, err)
		}
		if _, err := s.Next(); !errors.Is(err, broken) {
			t.Errorf("%q: %v", text, err)
		}
		if err := s.Resync(); !errors.Is(err, broken) {
			t.Errorf("%q: resynchronised after %v", text, err)
		}
		if p := s.Position(); p.Byte != 2 {
			t.Errorf("%q: %+v after the error, not behind the value", text, p)
		}
	}
	s := NewScanner(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}"))), Options{}, Position{})
	if _, err := s.Next(); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("%v instead of a timeout", err)
	}
}

func TestScanner_ResyncsAtTheNextLine(t *testing.T) {
	long := strings.Repeat("long ", 100000)
	for name, test := range map[string]struct {
		text     string
		want     []string
		rejected []string
	}{
		"in a string":      {"{\"a\":1}\n{\"a\":\"x\n{\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}, []string{`{"a":"x`}},
		"without its end":  {"{\"a\":1,\n{\"a\":2}\n", []string{`{"a":2}`}, []string{`{"a":1,`}},
		"no object":        {"12\n{\"a\":2}\nnull\n\"x\"", []string{`{"a":2}`}, []string{"12", "null", `"x"`}},
		"behind one":       {"{\"a\":1} tail\n{\"a\":2}", []string{`{"a":1}`, `{"a":2}`}, []string{"tail"}},
		"at the end":       {"{\"a\":1}\n{\"a\":", []string{`{"a":1}`}, []string{`{"a":`}},
		"longer than kept": {"{x " + long + "\n{}", []string{"{}"}, []string{("{x " + long)[:4096]}},
	} {
		for _, piece := range []int{1, 7, 65536} {
			if piece == 1 && name == "longer than kept" {
				continue
			}
			s := NewScanner(pieces{strings.NewReader(test.text), piece}, Options{}, Position{})
			var values, rejected []string
			for {
				value, err := s.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					if err := s.Resync(); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					rejected = append(rejected, string(s.Rejected()))
					if p := s.Position(); p.Line != int64(strings.Count(test.text[:p.Byte], "\n")) {
						t.Errorf("%s: %+v", name, p)
					}
					continue
				}
				values = append(values, string(value.Raw))
			}
			if !slices.Equal(values, test.want) || !slices.Equal(rejected, test.rejected) {
				t.Errorf("%s, %d bytes at once: %q, rejected %.80q", name, piece, values, rejected)
			}
		}
	}
	s := NewScanner(strings.NewReader("[{}\n,{x}\n,{}]"), Options{}, Position{})
	_, _ = s.Next()
	_, err := s.Next()
	if again := s.Resync(); err == nil || !errors.Is(again, err) {
		t.Errorf("inside an array: %v, then %v", err, again)
	}
}

// A value is looked at a few times only, however small the pieces are in which it comes: a megabyte in pieces of 100 bytes, checked anew after each piece,
// would take minutes.
func TestScanner_LargeValuesInSmallPieces(t *testing.T) {
	text := `{"a":[` + strings.Repeat("123456789,", 100000) + "1]}"
	if values, _, err := readAll(text, 100, Options{}); len(values) != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("%d values, %v", len(values), err)
	}
}

func TestScanner_NextKeepsItsError(t *testing.T) {
	s := NewScanner(strings.NewReader("{x}{}"), Options{}, Position{})
	_, first := s.Next()
	_, second := s.Next()
	if first == nil || !errors.Is(second, first) {
		t.Errorf("%v, then %v", first, second)
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, "{\"a\":[1,2.5e-3,\"é\\u00e9\"]}\n{}", `[{"a":null},{"b":{"c":true}}]`, "\x1e{}\n", `{"a":"\ud800\udc00\ud800"}`, "{\"a\":\"\xff\"}", `{"a":tru`, `{"a":-0.0E+1} x`,
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, piece uint8) {
		values, at, err := readAll(string(text), 1<<16, Options{MaxDepth: 100})
		again, at2, err2 := readAll(string(text), int(piece)+1, Options{MaxDepth: 100})
		if !slices.Equal(values, again) || !slices.Equal(at, at2) || err.Error() != err2.Error() {
			t.Fatalf("in pieces of %d: %q, %v, not %q, %v", int(piece)+1, again, err2, values, err)
		}
		for _, value := range values {
			if !json.Valid([]byte(value)) || !utf8.ValidString(value) {
				t.Fatalf("accepted: %q", value)
			}
			Members([]byte(value), func(name, value []byte) bool {
				if !json.Valid(name) || !json.Valid(value) {
					t.Fatalf("a member: %q: %q", name, value)
				}
				var want string
				if err := json.Unmarshal(name, &want); err != nil || string(AppendText(nil, name)) != want {
					t.Fatalf("the name %s: %q, not %q", name, AppendText(nil, name), want)
				}
				return true
			})
		}
		var limit *LimitError
		if len(values) == 0 && !errors.Is(err, io.EOF) && !errors.As(err, &limit) && utf8.Valid(text) && json.Valid(text) && bytes.TrimSpace(text)[0] == '{' {
			t.Fatalf("refused: %v", err)
		}
	})
}

// Random objects of all kinds of values, cut, changed and in random pieces: the scanner and encoding/json agree on what is JSON.
func TestScanner_AgreesWithEncodingJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	parts := []string{`"a"`, `"é\n"`, `"\u12aF"`, `:`, `,`, `{`, `}`, `[`, `]`, `1`, `-0.5`, `1e9`, `00`, `true`, `nul`, ` `, "\n", `"`, `\`, `{"b":1}`, `[2]`, "\x1f", `"long enough for words"`}
	accepted := 0
	for range 20000 {
		var text []byte
		text = append(text, `{"a":`...)
		for range random.IntN(6) {
			text = append(text, parts[random.IntN(len(parts))]...)
		}
		text = append(text, '}')
		s := NewScanner(bytes.NewReader(text), Options{}, Position{})
		value, err := s.Next()
		if err == nil && len(value.Raw) == len(text) {
			accepted++
		}
		if valid := json.Valid(text); valid != (err == nil && len(value.Raw) == len(text)) {
			t.Fatalf("%q: %q, %v; encoding/json: %v", text, value.Raw, err, valid)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d texts were accepted", accepted)
	}
}
