package filesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	log "github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/filesource/sweep"
)

// unit is files that one worker reads one after the other, so that small ones share batches. Its chunks are bounded by its channel: whoever is first in the
// listing never waits for one behind it.
type unit struct {
	files  []*file
	chunks chan *chunk
}

// file is an object that is to be read.
type file struct {
	object blob.Object
	from   string // cursor; empty: the start
	fate   fate   // decided already

	fetched chan struct{} // closed when data, info and err are there; nil: the object is not fetched ahead
	data    []byte
	info    blob.Info
	err     error
	first   io.ReadCloser // opened to know info, and not used yet
}

// fate is what becomes of an object that is not opened.
type fate int

const (
	toRead fate = iota
	toDefer
	isGone
)

// planner lists, decides, and fetches small objects.
type planner struct {
	*reader
	units, work chan<- *unit
	fetches     chan *file // small objects, to whichever fetcher waits
	fetchers    int
	running     *sync.WaitGroup
	open        *unit // being filled
	bytes       int64 // of the files in it
}

func (p *planner) run(ctx context.Context) error {
	p.fetches = make(chan *file)
	defer close(p.fetches)
	if err := p.resume(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	after := p.machine.After()
	p.mu.Unlock()
	p.listing = 0
	asked := p.now()
	for o, err := range p.bucket.List(ctx, p.settings.Prefix, after) {
		p.listing += p.now().Sub(asked)
		if err != nil {
			return err
		}
		if stop, err := p.consider(ctx, o); err != nil || stop {
			return errors.Join(err, p.flush(ctx))
		}
		asked = p.now()
	}
	p.listing += p.now().Sub(asked)
	return p.flush(ctx)
}

// resume looks for the file in which the state stands.
func (p *planner) resume(ctx context.Context) error {
	p.mu.Lock()
	key, version, at, ok := p.machine.Resume()
	p.mu.Unlock()
	if !ok {
		return nil
	}
	info, err := p.bucket.Stat(ctx, key)
	f := &file{object: info.Object, from: at, info: info}
	switch {
	case errors.Is(err, blob.ErrNotFound):
		f.object.Key, f.fate = key, isGone
	case errors.Is(err, blob.ErrDenied): // only opening it tells
		f.object = blob.Object{Key: key, Version: version, Size: -1}
	case err != nil:
		return fmt.Errorf("looking for %s, which was read in part: %w", p.settings.name(key), err)
	case info.Archived:
		f.fate = toDefer
	case info.Version != version:
		if version != "" {
			log.WithField("file", p.settings.name(key)).Warn("the file was replaced when it was read in part; the new version is read from its start")
		}
		f.from = ""
	}
	return p.send(ctx, &unit{files: []*file{f}})
}

// consider decides about a listed object. stop: nothing behind it may be read in this sweep.
func (p *planner) consider(ctx context.Context, o blob.Object) (stop bool, err error) {
	if o.Size == 0 || o.Modified.Before(p.settings.earliest) || !p.machine.Owns(o.Key) {
		return false, nil
	}
	p.mu.Lock()
	verdict := p.machine.Consider(&o)
	p.mu.Unlock()
	f := &file{object: o}
	switch verdict {
	case sweep.Skip:
		return false, nil
	case sweep.Stop:
		return true, nil
	case sweep.Defer:
		f.fate = toDefer
	case sweep.Read:
	}
	if f.fate == toRead && o.Size > p.limits.small {
		if err := p.flush(ctx); err != nil {
			return false, err
		}
		return false, p.send(ctx, &unit{files: []*file{f}})
	}
	if f.fate == toRead {
		if err := p.fetch(ctx, f); err != nil {
			return false, err
		}
	}
	if p.open == nil {
		p.open, p.bytes = &unit{}, 0
	}
	p.open.files = append(p.open.files, f)
	if p.bytes += o.Size; len(p.open.files) >= p.limits.unitFiles || p.bytes >= p.limits.unitBytes {
		return false, p.flush(ctx)
	}
	return false, nil
}

// fetch begins to fetch a small object.
func (p *planner) fetch(ctx context.Context, f *file) error {
	if !p.ahead.try(f.object.Size) { // what is in the open unit must not wait for what comes after it
		if err := p.flush(ctx); err != nil {
			return err
		}
		if err := p.ahead.take(ctx, f.object.Size); err != nil {
			return err
		}
	}
	f.fetched = make(chan struct{})
	select {
	case p.fetches <- f:
		return nil
	default:
	}
	if p.fetchers < p.limits.inFlight {
		p.fetchers++
		p.running.Go(func() { p.fetchAll(ctx) })
	}
	select {
	case p.fetches <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetchAll fetches until the planner is done. One goroutine makes many requests: its stack grows to what a client takes
// once, which for each request anew was a fifth of its CPU.
func (p *planner) fetchAll(ctx context.Context) {
	for f := range p.fetches {
		f.data, f.info, f.err = fetchWhole(ctx, p.bucket, f.object)
		close(f.fetched)
	}
}

// flush hands the open unit over.
func (p *planner) flush(ctx context.Context) error {
	u := p.open
	if p.open = nil; u == nil {
		return nil
	}
	return p.send(ctx, u)
}

func (p *planner) send(ctx context.Context, u *unit) error {
	u.chunks = make(chan *chunk, p.limits.batches)
	for _, to := range []chan<- *unit{p.units, p.work} {
		select {
		case to <- u:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
