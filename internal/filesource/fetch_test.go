package filesource

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

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
