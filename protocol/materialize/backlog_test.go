package materialize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestBacklog_KeepsOrderInMemoryAndInAFile(t *testing.T) {
	for _, limit := range []int{1 << 20, 64, 1} {
		b := backlog{limit: limit}
		for round := range 2 {
			long := strings.Repeat("x", 300_000)
			for i := range 100 {
				line := fmt.Appendf(nil, "%d of round %d", i, round)
				if i == 50 {
					line = []byte(long)
				}
				if err := b.add(line); err != nil {
					t.Fatal(err)
				}
				clear(line) // the backlog has a copy
			}
			for i := range 100 {
				want := fmt.Sprintf("%d of round %d", i, round)
				if i == 50 {
					want = long
				}
				if got, err := b.next(); err != nil || string(got) != want {
					t.Fatalf("limit %d, line %d: got %.40q, %v", limit, i, got, err)
				}
			}
			if got, err := b.next(); got != nil || err != nil {
				t.Errorf("after the last line: %q, %v", got, err)
			}
			b.reset()
		}
	}
}

func TestInput_LinesOverBlocks(t *testing.T) {
	var all bytes.Buffer
	var want []string
	for i := range 3000 {
		line := fmt.Sprintf(`{"n":%d,"x":"%s"}`, i, strings.Repeat("x", i*7%5000))
		if i%1000 == 999 {
			line = `"` + strings.Repeat("y", 3*blockBytes) + `"`
		}
		want = append(want, line)
		all.WriteString(line + "\n")
		if i%10 == 0 {
			all.WriteString(" \r\n")
		}
	}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(all.Bytes()), "halves": iotest.HalfReader(bytes.NewReader(all.Bytes())), "with the error": iotest.DataErrReader(bytes.NewReader(all.Bytes())),
		"without a newline at the end": bytes.NewReader(bytes.TrimSpace(all.Bytes())),
	} {
		in := newInput(r)
		for i, w := range want {
			if got, err := in.next(nil, nil); err != nil || string(got) != w {
				t.Fatalf("%s: line %d is %.40q, %v, want %.40q", name, i, got, err, w)
			}
		}
		for range 2 {
			if got, err := in.next(nil, nil); !errors.Is(err, errEnded) {
				t.Errorf("%s: after the last line: %q, %v", name, got, err)
			}
		}
	}
}

func TestInput_Ends(t *testing.T) {
	gone := errors.New("the disk is gone")
	in := newInput(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(gone)))
	if _, err := in.next(nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := in.next(nil, nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	closed := make(chan struct{})
	close(closed)
	waiting, _ := io.Pipe()
	in = newInput(waiting)
	for _, channels := range [][2]chan struct{}{{closed, nil}, {nil, closed}} {
		if _, err := in.next(channels[0], channels[1]); !errors.Is(err, errInterrupted) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOutput_IsBounded(t *testing.T) {
	r, w := io.Pipe()
	o := newOutput(w)
	block := func(dst []byte) []byte { return append(dst, make([]byte, maxUnwritten)...) }
	appended := make(chan struct{}, 3)
	go func() {
		for range 3 { // one that is being written, one that waits, and one that has to
			if err := o.append(block); err != nil {
				t.Error(err)
			}
			if err := o.append(func(dst []byte) []byte { return append(dst, '\n') }); err != nil {
				t.Error(err)
			}
			appended <- struct{}{}
		}
	}()
	time.Sleep(50 * time.Millisecond)
	if n := len(appended); n > 2 {
		t.Errorf("%d blocks were taken while nobody reads", n)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	for range 3 {
		<-appended
	}
	if err := o.close(0); err != nil {
		t.Error(err)
	}
}

// A session that has failed ends although its runner reads nothing.
func TestOutput_ClosesInTime(t *testing.T) {
	blocked, w := io.Pipe()
	o := newOutput(w)
	if err := o.append(func(dst []byte) []byte { return append(dst, "{}\n"...) }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := o.close(10 * time.Millisecond); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
	blocked.Close()
	if err := o.close(0); err == nil {
		t.Error("the failed write was forgotten")
	}
	if err := o.append(func(dst []byte) []byte { return dst }); err == nil {
		t.Error("after a failed write more is taken")
	}
}
