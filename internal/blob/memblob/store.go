package memblob

import (
	"crypto/md5" // S3's ETag is one; nothing is protected by it
	"encoding/hex"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/estuary/connectors/internal/blob"
)

// Entry is an object with its bytes. Put owns Data from then on.
type Entry struct {
	Key      string
	Data     []byte
	Modified time.Time // zero: the clock's time, in whole seconds as S3 keeps it
	Version  string    // empty: what Bucket.Versions makes
	Class    string

	ContentType, ContentEncoding string

	Archived, Restored bool
}

// Bucket is a blob.Bucket. Its fields are set before it is used.
type Bucket struct {
	Name     string
	Now      func() time.Time         // the store's clock
	PageSize int                      // objects of one listing answer
	Versions func(data []byte) string // the version of what is put without one
	Fault    func(Call) Fault         // asked before every call; nil: none fails
	Hang     bool                     // no call returns before its context ends

	mu      sync.Mutex
	objects map[string]Entry
	keys    []string // of objects
	sorted  bool     // keys are ascending
	puts    int
	calls   [opCount]int
}

// New makes an empty bucket with pages of 1000 and versions 1, 2, 3 … in the order of puts.
func New(name string) *Bucket {
	b := &Bucket{Name: name, Now: time.Now, PageSize: 1000, objects: map[string]Entry{}}
	b.Versions = func([]byte) string { return strconv.Itoa(b.puts) }
	return b
}

// MD5 is S3's ETag of an object put in one piece: the same bytes have the same version. For Bucket.Versions.
func MD5(data []byte) string {
	sum := md5.Sum(data)
	return hex.EncodeToString(sum[:])
}

// Put creates or replaces an object and returns its version.
func (b *Bucket) Put(e Entry) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.puts++
	if e.Modified.IsZero() {
		e.Modified = b.Now().Truncate(time.Second)
	}
	e.Modified = e.Modified.UTC()
	if e.Version == "" {
		e.Version = b.Versions(e.Data)
	}
	if _, ok := b.objects[e.Key]; !ok {
		b.keys = append(b.keys, e.Key)
		b.sorted = b.sorted && (len(b.keys) == 1 || b.keys[len(b.keys)-2] < e.Key)
	}
	b.objects[e.Key] = e
	return e.Version
}

// Get returns an object as it was put, with its version and time.
func (b *Bucket) Get(key string) (Entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.objects[key]
	return e, ok
}

// Delete removes an object; one that is not there is no mistake.
func (b *Bucket) Delete(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.objects[key]; ok {
		delete(b.objects, key)
		b.keys = slices.DeleteFunc(b.keys, func(k string) bool { return k == key })
	}
}

// Restore makes an archived object readable, as a restore that has ended does. Its time and version stay.
func (b *Bucket) Restore(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.objects[key]; ok {
		e.Archived, e.Restored = false, true
		b.objects[key] = e
	}
}

// Page returns at most n objects with a prefix and keys greater than after, and whether there are more. It asks no fault.
func (b *Bucket) Page(prefix, after string, n int) (page []Entry, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.sorted {
		slices.Sort(b.keys)
		b.sorted = true
	}
	start, _ := slices.BinarySearch(b.keys, max(prefix, after))
	for _, key := range b.keys[start:] {
		if len(key) < len(prefix) || key[:len(prefix)] != prefix {
			break
		}
		if key <= after {
			continue
		}
		if len(page) == n {
			return page, true
		}
		page = append(page, b.objects[key])
	}
	return page, false
}

// Object is what a store tells of an entry.
func (e Entry) Object() blob.Object {
	return blob.Object{
		Key: e.Key, Size: int64(len(e.Data)), Modified: e.Modified, Version: e.Version, Class: e.Class, Archived: e.Archived, Restored: e.Restored,
	}
}
