package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nameOf are names of every length around a word's, some of which begin or end alike.
var nameOf = func() []string {
	list := []string{"", "é", `\u0041`, `a\"b`, "_meta"}
	for n := range 27 {
		list = append(list, strings.Repeat("n", n)+"1", strings.Repeat("n", n)+"2", "1"+strings.Repeat("n", n))
	}
	return list
}()

// similar are objects of which most have the names of the one before.
type similar struct {
	random *rand.Rand
	shape  []string
}

func (s *similar) value() string {
	if len(s.shape) == 0 || s.random.IntN(12) == 0 {
		s.shape = s.shape[:0]
		for range s.random.IntN(8) {
			s.shape = append(s.shape, nameOf[s.random.IntN(len(nameOf))])
		}
	}
	var b strings.Builder
	b.WriteByte('{')
	open := 0
	for i, name := range s.shape {
		switch s.random.IntN(20) {
		case 0:
			continue
		case 1:
			name = nameOf[s.random.IntN(len(nameOf))]
		}
		if last := b.String(); i > 0 && last[len(last)-1] != '{' {
			b.WriteByte(',')
			b.WriteString(strings.Repeat(" ", s.random.IntN(10)/8))
		}
		fmt.Fprintf(&b, `"%s"%s:`, name, strings.Repeat(" ", s.random.IntN(20)/19))
		if s.random.IntN(6) == 0 {
			b.WriteByte('{')
			open++
			continue
		}
		fmt.Fprintf(&b, `"%s"`, nameOf[s.random.IntN(len(nameOf))])
	}
	b.WriteString(strings.Repeat("}", open+1))
	return b.String()
}

// namesIn are all names of an object, as they are written.
func namesIn(raw []byte) (list []string) {
	Members(raw, func(name, value []byte) bool {
		list = append(list, string(name))
		if value[0] == '{' {
			list = append(list, namesIn(value)...)
		}
		return true
	})
	return list
}

// A value is read the same whatever came before it; wherever it is cut that is seen; and Same is said only of values with the same names.
func TestScanner_ExpectsTheNamesOfTheValueBefore(t *testing.T) {
	same := 0
	for seed := range uint64(300) {
		values := similar{random: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // repeatable on purpose
		var list []string
		for range 60 {
			list = append(list, values.value())
		}
		s := NewScanner(pieces{strings.NewReader(strings.Join(list, "\n")), 1 + values.random.IntN(100)}, Options{}, Position{})
		var before []string
		for i, want := range list {
			v, err := s.Next()
			if err != nil || string(v.Raw) != want {
				t.Fatalf("seed %d, value %d: got %s, %v, want %s", seed, i, v.Raw, err, want)
			}
			now := namesIn(v.Raw)
			if v.Same {
				same++
				if !slices.Equal(now, before) {
					t.Fatalf("seed %d: %s is said to have the names of the value before, which are %s", seed, v.Raw, before)
				}
			}
			before = now
		}
		if _, err := s.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("seed %d: %v at the end", seed, err)
		}
		first, second := list[0], values.value()
		for cut := range second {
			if cut == 0 {
				continue
			}
			s := NewScanner(strings.NewReader(first+second[:cut]), Options{}, Position{})
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			if v, err := s.Next(); err == nil || errors.Is(err, io.EOF) {
				t.Fatalf("behind %s, %s is taken for whole: %s, %v", first, second[:cut], v.Raw, err)
			}
		}
	}
	if same < 3000 {
		t.Errorf("only %d values have the names of the one before: the test is about nothing", same)
	}
}

// What has been learned from a value that is wrong, or that was cut when it was looked at first, is no value before.
func TestScanner_NamesOfWhatIsNoValueAreOthers(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		piece int
	}{
		"wrong": {"{\"a\":1}\n{\"b\":1,\n{\"b\":1}\n{\"b\":1}\n", 1000},
		"cut":   {"{\"a\":1}\n{\"b\":1}\n{\"b\":1}\n", 14},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScanner(pieces{bytes.NewReader([]byte(c.text)), c.piece}, Options{}, Position{})
			var said []bool
			for {
				v, err := s.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					if err := s.Resync(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				said = append(said, v.Same)
			}
			if !slices.Equal(said, []bool{false, false, true}) {
				t.Errorf("Same is %v", said)
			}
		})
	}
}
