package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/blob"
)

// Store is an empty bucket and the hand that changes it. Its pages have two objects, where it has pages.
type Store struct {
	Bucket blob.Bucket
	Put    func(key string, data []byte) // creates or replaces
	Delete func(key string)
	Holds  func(key string) bool // whether the store can have such a key; nil: any
}

func (s Store) holds(key string) bool { return s.Holds == nil || s.Holds(key) }

// Run runs the suite; open makes a new, empty store.
func Run(t *testing.T, open func(*testing.T) Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"an empty bucket lists nothing", empty},
		{"keys come in the order of their bytes, unchanged", order},
		{"a listing begins behind a key, there or not", after},
		{"a listing may be left early", leave},
		{"a listing tells what opening tells", tells},
		{"ranges are cut at the end", ranges},
		{"a replaced object has another version, and the old one cannot be read any more", replaced},
		{"a missing object is told as missing", missing},
		{"an object deleted between listing and reading is told as missing", deleted},
		{"bytes come as they are stored", stored},
		{"a cancelled context ends everything", cancelled},
		{"many read at once", parallel},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// keys are in the order of their bytes. Among them are those that break clients: XML cannot carry them, URLs mean something else by them, paths are cleaned.
var keys = []string{
	"\x01start", "\tt", "\n", " lead", "#hash", "%20", "%2F", "+plus", "../up", "./here", "//two", "/lead", "=eq", "?q=1", "A", "a", "a b", "a&b<c>\"d\"'e'", "a+b",
	"a.b", "a/", "a/../b", "a//b", "a/x", "a/x.csv", "a0", "b\x1fc", "b\x7f", "dir/dir/dir", "x\r\ny", "z", "~", "\u0080", "é", "é/è", "ﾟ", "\uFFFD", "\U0001F600", "\U0010FFFF",
}

func (s Store) fill(t *testing.T) (held []string) {
	t.Helper()
	if !slices.IsSorted(keys) {
		t.Fatal("the keys of this test are in no order")
	}
	for _, i := range []int{1, 0} {
		for n := i; n < len(keys); n += 2 {
			if s.holds(keys[n]) {
				s.Put(keys[n], []byte("bytes of "+keys[n]))
			}
		}
	}
	for _, k := range keys {
		if s.holds(k) {
			held = append(held, k)
		}
	}
	if len(held) < 15 {
		t.Fatalf("the store holds but %d of %d keys", len(held), len(keys))
	}
	return held
}

func list(t *testing.T, b blob.Bucket, prefix, after string) (objects []blob.Object) {
	t.Helper()
	for o, err := range b.List(t.Context(), prefix, after) {
		if err != nil {
			t.Fatalf("listing %q after %q: %v", prefix, after, err)
		}
		objects = append(objects, o)
	}
	return objects
}

func names(objects []blob.Object) []string {
	found := []string{}
	for _, o := range objects {
		found = append(found, o.Key)
	}
	return found
}

func read(t *testing.T, b blob.Bucket, key, version string, off, n int64) (string, blob.Info) {
	t.Helper()
	body, info, err := b.Open(t.Context(), key, version, off, n)
	if err != nil {
		t.Fatalf("opening %q, version %q, %d+%d: %v", key, version, off, n, err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("reading %q, version %q, %d+%d: %v", key, version, off, n, err)
	}
	return string(text), info
}

func empty(t *testing.T, s Store) {
	if found := list(t, s.Bucket, "", ""); len(found) != 0 {
		t.Errorf("found %q", names(found))
	}
	if found := list(t, s.Bucket, "p/", "p/q"); len(found) != 0 {
		t.Errorf("found %q", names(found))
	}
}

// bug streams-files-parser 71: Airbyte source-s3, only the first page was listed
func order(t *testing.T, s Store) {
	held := s.fill(t)
	if found := names(list(t, s.Bucket, "", "")); !slices.Equal(found, held) {
		t.Errorf("found\n%q, put\n%q", found, held)
	}
	for _, k := range held {
		if text, _ := read(t, s.Bucket, k, "", 0, -1); text != "bytes of "+k {
			t.Errorf("key %q has %q", k, text)
		}
	}
}

func after(t *testing.T, s Store) {
	held := s.fill(t)
	for _, prefix := range []string{"", "a", "a/", "a/x", "dir", "dir/d", "é", "nonesuch", "zz"} {
		for _, after := range append(slices.Clone(held), "", "\x00", "a.", "a.a", "a/w", "a/x.", "b", "dir", "dir/", "dir/dir0", "nonesuch/a", "\uFFFE", "\U0010FFFF~") {
			var want []string
			for _, k := range held {
				if strings.HasPrefix(k, prefix) && k > after {
					want = append(want, k)
				}
			}
			if found := names(list(t, s.Bucket, prefix, after)); !slices.Equal(found, want) {
				t.Errorf("prefix %q after %q: found\n%q, want\n%q", prefix, after, found, want)
			}
		}
	}
}

func leave(t *testing.T, s Store) {
	held := s.fill(t)
	for stop := 1; stop < 6; stop++ {
		var found []string
		for o, err := range s.Bucket.List(t.Context(), "", "") {
			if err != nil {
				t.Fatal(err)
			}
			if found = append(found, o.Key); len(found) == stop {
				break
			}
		}
		if !slices.Equal(found, held[:stop]) {
			t.Errorf("found %q", found)
		}
	}
}

func tells(t *testing.T, s Store) {
	held := s.fill(t)
	objects := list(t, s.Bucket, "", "")
	for i, o := range objects {
		stat, err := s.Bucket.Stat(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		_, open := read(t, s.Bucket, o.Key, o.Version, 0, -1)
		if o.Size != int64(len("bytes of ")+len(held[i])) || stat.Size != o.Size || open.Size != o.Size {
			t.Errorf("%q: sizes %d, %d, %d", o.Key, o.Size, stat.Size, open.Size)
		}
		if o.Version == "" || stat.Version != o.Version || open.Version != o.Version {
			t.Errorf("%q: versions %q, %q, %q", o.Key, o.Version, stat.Version, open.Version)
		}
		if o.Modified.IsZero() || !stat.Modified.Equal(o.Modified) {
			t.Errorf("%q: modified %v, %v", o.Key, o.Modified, stat.Modified)
		}
		if o.Listed.IsZero() || !o.Listed.Equal(objects[0].Listed) || !stat.Listed.IsZero() || !open.Listed.IsZero() {
			t.Errorf("%q: listed at %v, the first at %v; stat %v, open %v", o.Key, o.Listed, objects[0].Listed, stat.Listed, open.Listed)
		}
		if o.Archived || stat.Archived || o.Key != stat.Key || o.Key != open.Key {
			t.Errorf("%+v, %+v, %+v", o, stat, open)
		}
	}
}

func ranges(t *testing.T, s Store) {
	const text = "0123456789"
	s.Put("r", []byte(text))
	s.Put("void", nil)
	version := list(t, s.Bucket, "r", "")[0].Version
	for _, c := range []struct {
		off, n int64
		want   string
	}{
		{0, -1, text},
		{0, 10, text},
		{0, 100, text},
		{0, 1, "0"},
		{0, 0, ""},
		{3, 4, "3456"},
		{3, -1, "3456789"},
		{9, 1, "9"},
		{9, 2, "9"},
		{9, -1, "9"},
		{7, 3, "789"},
		{5, 0, ""},
		{10, -1, ""},
		{10, 1, ""},
		{11, -1, ""},
		{1000, 5, ""},
	} {
		got, info := read(t, s.Bucket, "r", version, c.off, c.n)
		if got != c.want || info.Size != 10 || info.Version != version {
			t.Errorf("%d+%d: got %q, size %d, version %q; want %q", c.off, c.n, got, info.Size, info.Version, c.want)
		}
	}
	for _, n := range []int64{-1, 0, 1} {
		if got, info := read(t, s.Bucket, "void", "", 0, n); got != "" || info.Size != 0 {
			t.Errorf("an empty object, %d bytes: %q, size %d", n, got, info.Size)
		}
	}
	if _, _, err := s.Bucket.Open(t.Context(), "r", version+"0", 100, 5); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("another version, past the end: %v", err)
	}
	if _, _, err := s.Bucket.Open(t.Context(), "r", version+"0", 0, 0); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("another version, nothing of it: %v", err)
	}
	if _, _, err := s.Bucket.Open(t.Context(), "nonesuch", "", 100, 5); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("missing, past the end: %v", err)
	}
}

// bug streams-files-parser 129: predecessor, a replacement inside one second went unnoticed
func replaced(t *testing.T, s Store) {
	s.Put("k", []byte("first"))
	old := list(t, s.Bucket, "", "")[0]
	s.Put("k", []byte("other"))
	now := list(t, s.Bucket, "", "")[0]
	if old.Version == now.Version || old.Size != now.Size {
		t.Fatalf("versions %q and %q", old.Version, now.Version)
	}
	for _, at := range []int64{0, 2} {
		if _, _, err := s.Bucket.Open(t.Context(), "k", old.Version, at, -1); !errors.Is(err, blob.ErrChanged) {
			t.Errorf("the old version at %d: %v", at, err)
		}
	}
	if text, info := read(t, s.Bucket, "k", now.Version, 2, -1); text != "her" || info.Version != now.Version {
		t.Errorf("the new version: %q, %q", text, info.Version)
	}
	if text, info := read(t, s.Bucket, "k", "", 0, -1); text != "other" || info.Version != now.Version {
		t.Errorf("any version: %q, %q", text, info.Version)
	}
}

func missing(t *testing.T, s Store) {
	s.Put("there", []byte("x"))
	for _, key := range []string{"nonesuch", "the", "there0", "there/x", "dir/nonesuch"} {
		if _, err := s.Bucket.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("looking at %q: %v", key, err)
		}
		for _, version := range []string{"", "17"} {
			if _, _, err := s.Bucket.Open(t.Context(), key, version, 0, -1); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("reading %q, version %q: %v", key, version, err)
			}
		}
	}
}

// bug streams-files-parser 67: predecessor, an object deleted between listing and reading ended the sweep
func deleted(t *testing.T, s Store) {
	s.Put("a", []byte("1"))
	s.Put("b", []byte("2"))
	s.Put("c", []byte("3"))
	for o, err := range s.Bucket.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Key == "a" {
			s.Delete("b")
			continue
		}
		_, _, err = s.Bucket.Open(t.Context(), o.Key, o.Version, 0, -1)
		if gone := errors.Is(err, blob.ErrNotFound); gone != (o.Key == "b") {
			t.Errorf("%q: %v", o.Key, err)
		}
	}
	if found := names(list(t, s.Bucket, "", "")); !slices.Equal(found, []string{"a", "c"}) {
		t.Errorf("found %q", found)
	}
}

func stored(t *testing.T, s Store) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, data := range map[string][]byte{
		"all":     all,
		"crlf":    []byte("a\r\nb\n\nc\r"),
		"gzip":    {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 4, 0, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0}, // "a"
		"x.csv":   []byte("\xef\xbb\xbfa,b\n"),
		"latin.1": []byte("\xe9\xff"),
	} {
		s.Put(name, data)
		if text, _ := read(t, s.Bucket, name, "", 0, -1); text != string(data) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// bug streams-files-parser 58: predecessor, listing and reading had no context
func cancelled(t *testing.T, s Store) {
	s.Put("k", bytes.Repeat([]byte("x"), 1<<20))
	ctx, cancel := context.WithCancel(t.Context())
	body, _, err := s.Bucket.Open(ctx, "k", "", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	cancel()
	if _, err = io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) {
		t.Errorf("reading: %v", err)
	}
	for _, err = range s.Bucket.List(ctx, "", "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("listing: %v", err)
		}
	}
	if err == nil {
		t.Error("the listing has no error")
	}
	if _, err = s.Bucket.Stat(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("looking: %v", err)
	}
	if _, _, err = s.Bucket.Open(ctx, "k", "", 0, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: %v", err)
	}
}

func parallel(t *testing.T, s Store) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	s.Put("big", data)
	version := list(t, s.Bucket, "", "")[0].Version
	const parts = 16
	got, failed := make([][]byte, parts), make(chan error, parts)
	for i := range parts {
		go func() {
			size := int64(len(data) / parts)
			body, _, err := s.Bucket.Open(t.Context(), "big", version, int64(i)*size, size)
			if err == nil {
				got[i], err = io.ReadAll(body)
				body.Close()
			}
			if err != nil {
				err = fmt.Errorf("part %d: %w", i, err)
			}
			failed <- err
		}()
	}
	for range parts {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(bytes.Join(got, nil), data) {
		t.Error("the parts are not the whole")
	}
}
