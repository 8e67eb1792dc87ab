package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/protocol"
)

const text = "0123456789abcdefghij"

// part is one answer of a store: bytes until it breaks.
type part struct {
	bytes  int64         // of the body, before err; −1: all
	err    error         // io.EOF: a clean but early end
	open   error         // instead of a body
	length int64         // promised, if not what is right
	stall  time.Duration // before each read
}

func follow(t *testing.T, p blob.Patience, off, n int64, parts ...part) (got string, openings []string, err error) {
	t.Helper()
	next := 0
	body, err := blob.Follow(t.Context(), p, "s3://b/k", off, n, func(ctx context.Context, off, n int64) (io.ReadCloser, int64, error) {
		openings = append(openings, fmt.Sprintf("%d+%d", off, n))
		this := part{bytes: -1}
		if next < len(parts) {
			this = parts[next]
		}
		next++
		if this.open != nil {
			return nil, 0, this.open
		}
		from, length := blob.Span(int64(len(text)), off, n)
		whole := text[from : from+length]
		var r io.Reader = strings.NewReader(whole)
		if this.bytes >= 0 {
			r = io.MultiReader(strings.NewReader(whole[:this.bytes]), iotest.ErrReader(this.err))
		}
		if this.length != 0 {
			length = this.length
		}
		return io.NopCloser(slow{r, ctx, this.stall}), length, nil
	})
	if err != nil {
		return "", openings, err
	}
	defer body.Close()
	all, err := io.ReadAll(body)
	return string(all), openings, err
}

// slow ends with its context, as a connection does.
type slow struct {
	r     io.Reader
	ctx   context.Context
	stall time.Duration
}

func (s slow) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.stall):
		return s.r.Read(p)
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

var errReset = errors.New("connection reset by peer")

// bug streams-files-parser 61: predecessor, a stream that the peer cancelled midway ended the run
func TestFollow_GoesOnAtTheByte(t *testing.T) {
	for _, c := range []struct {
		name   string
		off, n int64
		parts  []part
		want   string
		opened string
	}{
		{"nothing breaks", 0, -1, nil, text, "[0+-1]"},
		{"a range", 3, 4, nil, "3456", "[3+4]"},
		{"past the end", 18, 9, nil, "ij", "[18+9]"},
		{"reset", 0, -1, []part{{bytes: 7, err: errReset}}, text, "[0+-1 7+13]"},
		{"a clean but early end", 0, -1, []part{{bytes: 7, err: io.EOF}}, text, "[0+-1 7+13]"},
		{"reset before the first byte", 5, -1, []part{{bytes: 0, err: errReset}}, text[5:], "[5+-1 5+15]"},
		{"reset in a range", 5, 10, []part{{bytes: 1, err: errReset}, {bytes: 2, err: errReset}}, text[5:15], "[5+10 6+9 8+7]"},
		{"five times", 0, -1, []part{
			{bytes: 1, err: errReset}, {bytes: 1, err: errReset}, {open: errReset}, {bytes: 0, err: errReset}, {bytes: 1, err: errReset},
		}, text, "[0+-1 1+19 2+18 2+18 2+18 3+17]"},
		{"stalled", 0, -1, []part{{bytes: -1, stall: time.Hour}}, text, "[0+-1 0+20]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			got, openings, err := follow(t, blob.Patience{}, c.off, c.n, c.parts...)
			if err != nil || got != c.want || fmt.Sprint(openings) != c.opened {
				t.Errorf("%s: %q, %v, openings %v; want %q, %v", c.name, got, err, openings, c.want, c.opened)
			}
		})
	}
}

func TestFollow_GivesUp(t *testing.T) {
	broken, early := part{bytes: 0, err: errReset}, part{bytes: 0, err: io.EOF}
	denied := &protocol.Problem{Kind: protocol.Config, Summary: "no"}
	for _, c := range []struct {
		name  string
		parts []part
		want  error
		kind  protocol.Kind
		count int // of openings
		waits time.Duration
	}{
		{"six times in a row", []part{broken, broken, broken, broken, broken, broken, broken}, errReset, protocol.Transient, 6, 41250 * time.Millisecond},
		{"six early ends", []part{early, early, early, early, early, early}, io.ErrUnexpectedEOF, protocol.Transient, 6, 41250 * time.Millisecond},
		{"replaced", []part{{bytes: 3, err: errReset}, {open: fmt.Errorf("reading: %w", blob.ErrChanged)}}, blob.ErrChanged, protocol.System, 2, 250 * time.Millisecond},
		{"deleted", []part{{bytes: 3, err: errReset}, {open: blob.ErrNotFound}}, blob.ErrNotFound, protocol.System, 2, 250 * time.Millisecond},
		{"forbidden", []part{{bytes: 3, err: errReset}, {open: denied}}, denied, protocol.Config, 2, 250 * time.Millisecond},
		{"the first answer", []part{{open: errReset}}, errReset, protocol.System, 1, 0},
		{"another length", []part{{bytes: 3, err: errReset}, {bytes: -1, length: 99}}, nil, protocol.Transient, 2, 250 * time.Millisecond},
		{"more than promised", []part{{bytes: -1, length: 5}}, nil, protocol.System, 1, 0},
		{"a wrong checksum at the end", []part{{bytes: 20, err: errReset}}, errReset, protocol.Transient, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, openings, err := follow(t, blob.Patience{}, 0, -1, c.parts...)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || protocol.KindOf(err) != c.kind || len(openings) != c.count {
				t.Errorf("%s: %v, kind %v, openings %v", c.name, err, protocol.KindOf(err), openings)
			}
			if waited := time.Since(start); waited != c.waits {
				t.Errorf("%s: waited %v, want %v", c.name, waited, c.waits)
			}
		})
	}
}

func TestFollow_CountsAnewAfterProgress(t *testing.T) {
	const size = 20 << 20
	openings := 0
	body, err := blob.Follow(t.Context(), blob.Patience{Wait: time.Microsecond}, "k", 0, -1, func(_ context.Context, off, _ int64) (io.ReadCloser, int64, error) {
		openings++
		return io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", int(min(1<<20, size-off)))), iotest.ErrReader(errReset))), size - off, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The last connection breaks behind its last byte, where a checksum would be told.
	if n, err := io.Copy(io.Discard, body); n != size || !errors.Is(err, errReset) || openings != 20 {
		t.Errorf("%d bytes, %v, %d openings", n, err, openings)
	}
}

func TestFollow_EndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		body, err := blob.Follow(ctx, blob.Patience{}, "k", 0, -1, func(ctx context.Context, off, n int64) (io.ReadCloser, int64, error) {
			return io.NopCloser(slow{strings.NewReader(text), ctx, time.Hour}), int64(len(text)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if _, err = io.ReadAll(body); !errors.Is(err, context.Canceled) || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		body.Close()
		if _, err = body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body was read")
		}
	})
}

func TestSpan(t *testing.T) {
	for _, c := range [][5]int64{{10, 0, -1, 0, 10}, {10, 3, 4, 3, 4}, {10, 8, 5, 8, 2}, {10, 10, 1, 10, 0}, {10, 99, -1, 10, 0}, {0, 0, -1, 0, 0}, {10, 4, 0, 4, 0}} {
		if from, length := blob.Span(c[0], c[1], c[2]); from != c[3] || length != c[4] {
			t.Errorf("%v: %d, %d", c, from, length)
		}
	}
}
