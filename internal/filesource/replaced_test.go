package filesource

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
)

// bug streams-files-parser 67: predecessor, Redpanda: an object that was deleted between listing and reading ended the run
func TestRead_DeletedAfterItWasListed(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(2), "b": ndjson(2), "c": ndjson(2)})
	var once sync.Once
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.Open && call.Key == "b" {
			once.Do(func() { memory.Delete("b") })
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.read().want(t, "b was deleted", map[string]int{"bkt/a": 2, "bkt/c": 2})
	put(memory, map[string][]byte{"b": ndjson(3)})
	c.read().want(t, "b is back", map[string]int{"bkt/b": 3})
}

// bug streams-files-parser 129: predecessor: an object that was replaced inside the second in which it was opened was read half old and half new
func TestRead_ReplacedBeforeAndWhileItIsRead(t *testing.T) {
	for _, size := range []int{2, 40_000} { // fetched whole; streamed
		memory, _ := store()
		put(memory, map[string][]byte{"a": ndjson(1), "b": ndjson(size), "c": ndjson(1)})
		var once sync.Once
		memory.Fault = func(call memblob.Call) memblob.Fault {
			if call.Op == memblob.Open && call.Key == "b" {
				once.Do(func() { memory.Put(memblob.Entry{Key: "b", Data: ndjson(size + 1)}) })
			}
			return memblob.Fault{}
		}
		c := newCapture(t, memory)
		c.read().want(t, "replaced before it was opened", map[string]int{"bkt/a": 1, "bkt/b": size + 1, "bkt/c": 1})
		c.read().want(t, "and then", map[string]int{})
	}
	memory, _ := store()
	put(memory, map[string][]byte{"b": ndjson(40_000)})
	first := true
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if call.Op == memblob.Open && first {
			first = false
			return memblob.Fault{Err: blob.ErrChanged, After: 500_000}
		}
		if call.Op == memblob.Stat {
			memory.Put(memblob.Entry{Key: "b", Data: ndjson(3)})
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.change = nil
	o := c.read()
	versions := map[string]int{}
	for _, d := range o.documents {
		versions[d.Meta.Version]++
	}
	if versions["2"] != 3 || versions["1"] == 0 || versions["1"] >= 40_000 {
		t.Errorf("documents by version %v, want some of the old one and the 3 of the new one", versions)
	}
	c.read().want(t, "and then", map[string]int{})
}

// overwritten is a bucket in which a file is written to in place while it is read, as happens in directories: the body has the bytes of both versions.
type overwritten struct {
	*memblob.Bucket
	before, after []byte
}

func (o *overwritten) Open(ctx context.Context, key, version string, off, n int64) (io.ReadCloser, blob.Info, error) {
	if version != "1" {
		return o.Bucket.Open(ctx, key, version, off, n)
	}
	if o.after != nil {
		o.Put(memblob.Entry{Key: key, Data: o.after})
	} else {
		o.Delete(key)
	}
	half := len(o.before) / 2
	mixed := slices.Concat(o.before[:half], []byte("{\n"), o.before[half+2:])
	from, length := blob.Span(int64(len(mixed)), off, n)
	info := blob.Info{Object: blob.Object{Key: key, Size: int64(len(mixed)), Version: version}}
	return io.NopCloser(bytes.NewReader(mixed[from : from+length])), info, nil
}

func TestRead_OverwrittenWhileItIsRead(t *testing.T) {
	const size = 2000
	for _, small := range []int64{1 << 20, 100} { // fetched whole; streamed
		for what, after := range map[string][]byte{"overwritten": ndjson(size + 1), "deleted": nil} {
			for _, policy := range []string{"fail", "skip"} {
				memory, _ := store()
				put(memory, map[string][]byte{"b": ndjson(size)})
				c := newCapture(t, &overwritten{memory, ndjson(size), after})
				c.reading.Advanced.OnFileError = policy
				c.change = func(s *Source) { s.limits.small = small }
				versions := map[string]int{}
				for _, d := range c.read().documents {
					versions[d.Meta.Version]++
				}
				want := 0
				if after != nil {
					want = size + 1
				}
				if versions["1"] == 0 || versions["1"] >= size || versions["2"] != want {
					t.Errorf("%s, %s: documents by version %v, want some of %d and %d", what, policy, versions, size, want)
				}
				c.read().want(t, what+", and then", map[string]int{})
			}
		}
	}
}

func TestRead_AFileThatIsReplacedAllTheTime(t *testing.T) {
	memory, _ := store()
	put(memory, map[string][]byte{"a": ndjson(1), "b": ndjson(1), "c": ndjson(1)})
	busy := true
	memory.Fault = func(call memblob.Call) memblob.Fault {
		if busy && call.Op == memblob.Open && call.Key == "b" {
			return memblob.Fault{Err: blob.ErrChanged}
		}
		if busy && call.Op == memblob.Stat {
			put(memory, map[string][]byte{"b": ndjson(2)})
		}
		return memblob.Fault{}
	}
	c := newCapture(t, memory)
	c.read().want(t, "b is replaced all the time", map[string]int{"bkt/a": 1, "bkt/c": 1})
	busy = false
	c.read().want(t, "it is left alone", map[string]int{"bkt/b": 2})
}
