package parser

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// example is one case of testdata/conformance, whose README tells the form.
type example struct {
	name, file, contentType, contentEncoding, config string
	in                                               []byte
	out                                              []string
	err, warning, info                               string
	rejected                                         int64
	archive                                          *zip.Writer
	packed                                           *bytes.Buffer
}

func examples(t testing.TB, path string) (all []example) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var e *example
	for i, line := range strings.Split(string(raw), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if e == nil && word != "==" {
			continue // what the file is about
		}
		switch word {
		case "==":
			all = append(all, example{name: rest, file: "data.csv"})
			e = &all[len(all)-1]
		case "file":
			e.file = rest
		case "type":
			e.contentType = rest
		case "encoding":
			e.contentEncoding = rest
		case "config":
			e.config = rest
		case "in":
			codecs, data := literal(t, rest)
			e.in = append(e.in, pack(t, codecs, data)...)
		case "repeat":
			n, text := count(t, rest)
			_, data := literal(t, text)
			e.in = append(e.in, bytes.Repeat(data, n)...)
		case "member":
			e.member(t, rest)
		case "cut":
			n, _ := strconv.Atoi(rest)
			e.in = e.in[:len(e.in)-n]
		case "zeros":
			n, _ := strconv.Atoi(rest)
			e.in = append(e.in, make([]byte, n)...)
		case "out":
			e.out = append(e.out, rest)
		case "outs":
			n, doc := count(t, rest)
			e.out = append(e.out, slices.Repeat([]string{doc}, n)...)
		case "error":
			e.err = rest
		case "warning":
			e.warning = rest
		case "info":
			e.info = rest
		case "rejected":
			e.rejected, _ = strconv.ParseInt(rest, 10, 64)
		case "":
		default:
			t.Fatalf("%s:%d: %q", path, i+1, line)
		}
	}
	for i := range all {
		if e := &all[i]; e.archive != nil {
			if err := e.archive.Close(); err != nil {
				t.Fatal(err)
			}
			e.in = e.packed.Bytes()
		}
	}
	return all
}

// count takes a line's number and what follows it apart.
func count(t testing.TB, text string) (int, string) {
	t.Helper()
	number, rest, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n, rest
}

func (e *example) member(t testing.TB, text string) {
	t.Helper()
	if e.archive == nil {
		e.packed = &bytes.Buffer{}
		e.archive = zip.NewWriter(e.packed)
	}
	name, rest, _ := strings.Cut(text, " ")
	codecs, data := literal(t, rest)
	w, err := e.archive.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 && strings.HasSuffix(name, "/") {
		return
	}
	if _, err := w.Write(pack(t, codecs, data)); err != nil {
		t.Fatal(err)
	}
}

// Each row of the tables, in reads of 1, 7 and 65536 bytes, from a file and from a pipe.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	cases := 0
	for _, path := range files {
		for _, e := range examples(t, path) {
			cases++
			for _, piece := range []int{1, 7, 65536} {
				for _, pipe := range []bool{false, true} {
					in := inputOf(e.file, e.in, piece)
					in.ContentType, in.ContentEncoding = e.contentType, e.contentEncoding
					if pipe {
						in = once(in)
					}
					e.check(t, fmt.Sprintf("%s: %s, in reads of %d, pipe %v", filepath.Base(path), e.name, piece, pipe), in)
				}
			}
		}
	}
	if cases < 390 {
		t.Errorf("only %d cases were found", cases)
	}
}

func (e *example) check(t *testing.T, name string, in Input) {
	t.Helper()
	c := configOf(t, e.config)
	var warnings, infos []string
	c.OnInfo = func(s string) { infos = append(infos, s) }
	c.OnWarning = func(w string) { warnings = append(warnings, w) }
	rejected := int64(0)
	c.OnReject = func(*Error, []byte) { rejected++ }
	got, _, stats, err := read(t, c, in, Cursor{})
	if !slices.Equal(got, e.out) {
		t.Errorf("%s:\ngot  %s\nwant %s\n%v", name, strings.Join(got, "\n     "), strings.Join(e.out, "\n     "), err)
	}
	if e.err == "" && err != nil || e.err != "" && (err == nil || !strings.Contains(err.Error(), e.err)) {
		t.Errorf("%s: got the error %v, want %q", name, err, e.err)
	}
	all := strings.Join(warnings, "\n")
	if e.warning != "" && !strings.Contains(all, e.warning) || e.warning == "" && e.rejected == 0 && all != "" {
		t.Errorf("%s: got the warnings %q, want %q", name, all, e.warning)
	}
	if e.info != "" && (len(infos) != 1 || infos[0] != e.info) {
		t.Errorf("%s: it is told %q, want %q once", name, infos, e.info)
	}
	if rejected != e.rejected || err == nil && (stats.Rejected != rejected || stats.Documents != int64(len(e.out))) {
		t.Errorf("%s: %d rows were rejected, want %d; %+v", name, rejected, e.rejected, stats)
	}
}
