package runner

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sirupsen/logrus"
)

// bug materializations 7: a line of more than 64 KiB was cut.
func TestFeed_LinesOfAnyLength(t *testing.T) {
	long := strings.Repeat("x", 3*feedBytes)
	want := []string{"a", "", long, "b", strings.Repeat("y", feedBytes), "c"}
	text := strings.Join(want, "\n") + "\nunfinished"
	for name, in := range map[string]io.Reader{"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)), "half": iotest.HalfReader(strings.NewReader(text))} {
		f := newFeed(in)
		var got []string
		for buf := range f.full {
			for rest := buf; len(rest) > 0; {
				var line []byte
				line, rest = nextLine(rest)
				got = append(got, string(line))
			}
			f.giveBack(buf)
		}
		if f.err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: got %d lines, %v; want %d, without the one that does not end", name, len(got), f.err, len(want))
		}
		f.close()
	}
}

func TestFeed_BrokenInput(t *testing.T) {
	f := newFeed(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a\nb\n"))))
	for buf := range f.full {
		f.giveBack(buf)
	}
	if f.err == nil {
		t.Error("an error of reading was taken for the end")
	}
}

func TestParseLog(t *testing.T) {
	for text, want := range map[string]logLine{
		`{"level":"warning","msg":"a","time":"x","stream":"s"}`:                     {logrus.WarnLevel, "a", map[string]any{"stream": "s"}},
		`{"ts":"x","level":"info","message":"b","fields":{"class":"fenced"},"n":1}`: {logrus.InfoLevel, "b", map[string]any{"class": "fenced", "n": 1.0}},
		`{"lvl":"fatal","msg":"c"}`:                                                 {logrus.ErrorLevel, "c", nil},
		`plain talk`:                                                                {logrus.WarnLevel, "plain talk", nil},
		`panic: runtime error`:                                                      {logrus.ErrorLevel, "panic: runtime error", nil},
		`ValueError: no such table`:                                                 {logrus.ErrorLevel, "ValueError: no such table", nil},
	} {
		got := parseLog([]byte(text))
		if got.level != want.level || got.message != want.message || len(got.fields) != len(want.fields) || got.fields["class"] != want.fields["class"] {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// A user who mends one stream after the other would start the pipeline once for each.
func TestRelay_TellsHowManyStreamsFailed(t *testing.T) {
	r := &relay{side: sourceSide, file: "shop.yaml"}
	lost := func(stream string) string {
		return `{"level":"error","msg":"its slot is lost: pipeline backfill FILE STREAM","stream":"` + stream + `"}` + "\n"
	}
	r.follow(strings.NewReader(lost("public.a") + lost("public.b") + lost("public.b")))
	const want = "its slot is lost: pipeline backfill shop.yaml public.b (1 more of its streams have failed, as the lines before say; pipeline backfill shop.yaml '*' lets all start over)"
	if said, _ := r.lastError(); said != want {
		t.Errorf("got %q", said)
	}
	r.follow(strings.NewReader(`{"level":"error","msg":"the server is gone"}` + "\n"))
	if said, _ := r.lastError(); said != "the server is gone" {
		t.Errorf("got %q", said)
	}
}

func TestRelay_KeepsTheReason(t *testing.T) {
	r := &relay{side: sinkSide}
	r.hold()
	r.follow(strings.NewReader("{\"level\":\"error\",\"msg\":\"first\"}\n{\"level\":\"error\",\"msg\":\"a newer session writes to this destination, started at x\",\"kind\":\"transient\"}\n{\"level\":\"info\",\"msg\":\"bye\"}"))
	if said, kind := r.lastError(); !strings.HasPrefix(said, "a newer session") || kind != "transient" || !r.fenced.Load() || len(r.held) != 3 {
		t.Errorf("got %q of kind %q, fenced %v, %d lines held", said, kind, r.fenced.Load(), len(r.held))
	}
}
