package filesource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/estuary/connectors/internal/blob"
)

// A large object takes the memory of the ranges that are in flight and of the one that is read, however long it is.
func TestRanges_ShareTheirBuffers(t *testing.T) {
	l := limits{rangeSize: 64 << 10, ranges: 4}
	want := make([]byte, 200*int(l.rangeSize)+12345)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(want) // it never fails
	open := func(_ context.Context, off, n int64) (io.ReadCloser, error) {
		at, length := blob.Span(int64(len(want)), off, n)
		return io.NopCloser(bytes.NewReader(want[at : at+length])), nil
	}
	got := make([]byte, 0, len(want)+512)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newRanges(t.Context(), &l, 0, int64(len(want)), nil, open)
	for {
		n, err := r.Read(got[len(got):min(cap(got), len(got)+10_000)])
		got = got[:len(got)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if err := r.Close(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, or others, %v", len(got), len(want), err)
	}
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > 10*l.rangeSize {
		t.Errorf("the ranges took %d bytes for %d of %d", took, len(want), l.rangeSize)
	}
}

// Whatever the sizes, errors and closes: what was read are the bytes that there are, in order.
func TestRanges_RandomSizesErrorsAndClose(t *testing.T) {
	gone := errors.New("gone")
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := limits{rangeSize: 1 + r.Int64N(300<<10), ranges: 1 + r.IntN(5)}
		want := make([]byte, 1+r.IntN(3<<20))
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		from, bad := r.Int64N(int64(len(want))), int64(-1)
		if seed%3 == 0 {
			bad = r.Int64N(int64(len(want)))
		}
		got := want[:from:from]
		rd := newRanges(t.Context(), &l, from, int64(len(want)), nil, func(_ context.Context, off, n int64) (io.ReadCloser, error) {
			if body := want[off : off+n]; bad < off || bad >= off+n {
				return io.NopCloser(iotest.HalfReader(bytes.NewReader(body))), nil
			}
			return io.NopCloser(io.MultiReader(bytes.NewReader(want[off:bad]), iotest.ErrReader(gone))), nil
		})
		stop := -1
		if seed%5 == 0 {
			stop = r.IntN(len(want))
		}
		var err error
		for err == nil && (stop < 0 || len(got) < stop) {
			p := make([]byte, 1+r.IntN(100_000))
			var n int
			n, err = rd.Read(p)
			got = append(got, p[:n]...)
		}
		rd.Close()
		if !bytes.Equal(got, want[:len(got)]) || err == io.EOF && len(got) != len(want) || err != nil && err != io.EOF && !errors.Is(err, gone) || errors.Is(err, gone) && bad < from {
			t.Fatalf("seed %d: %d of %d, %v", seed, len(got), len(want), err)
		}
	}
}
