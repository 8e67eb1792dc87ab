package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/estuary/connectors/protocol"
)

// Store is the open file.
type Store struct {
	db   *bolt.DB
	path string
}

// Record is everything that the store holds.
type Record struct {
	// Epoch is 0 in a store that was never used.
	Epoch uint64
	// Checkpoint is the last one, byte for byte; nil: none in this epoch.
	Checkpoint json.RawMessage
	// SinkState is the folded state of the sink; nil: none.
	SinkState json.RawMessage
	// Applied is the sink's specification as it was applied last; nil: never.
	Applied json.RawMessage
	// Backfill counts by path how often a stream was told to start over; Resets, how often of that by the source itself.
	Backfill, Resets map[string]uint32
	// Streams maps the paths of the last run's streams to their names.
	Streams map[string]string
}

var (
	mainBucket    = []byte("pipeline")
	backfills     = []byte("backfill")
	resets        = []byte("resets")
	streamsBucket = []byte("streams")

	epochKey      = []byte("epoch")
	checkpointKey = []byte("checkpoint")
	sinkStateKey  = []byte("sinkState")
	appliedKey    = []byte("applied")
)

// lockWait is how long a runner that is just ending may take to let go of the file.
const lockWait = 500 * time.Millisecond

// ErrLocked tells that another process has the store open.
var ErrLocked = errors.New("the store is in use")

func damaged(path string, err error) error {
	return &protocol.Problem{
		Kind: protocol.Config, Summary: "the store " + path + " is damaged or no store", Fix: "move it away: a destination that keeps the checkpoint resumes without it, with any other one the copy starts over", Err: err,
	}
}

// unbroken makes an error of a panic of the database, which trusts the pages of its file: they point beyond its end when it was cut short.
func unbroken(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, fmt.Errorf("a panic: %v", r))
		}
	}()
	return f()
}

// Open opens the file, which is made when it is missing, and locks it. ErrLocked is in the error's chain when somebody else has it. One that could not be made
// as a whole, on a disk without room, does not stay: it would look damaged to the next Open.
func Open(path string) (s *Store, err error) {
	made := false
	if broken := unbroken(path, func() error { s, err = openFile(path, &made); return nil }); broken != nil {
		s, err = nil, broken
	}
	if err != nil && made && !errors.Is(err, ErrLocked) {
		_ = os.Remove(path) // there was none before, and nothing is in it
	}
	return s, err
}

// openFile tells in made, also with an error, whether it has made the file.
func openFile(path string, made *bool) (*Store, error) {
	create := func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag|os.O_EXCL, mode) //nolint:gosec // the place that the pipeline's file names
		if errors.Is(err, fs.ErrExist) {
			return os.OpenFile(name, flag, mode) //nolint:gosec // as above
		}
		*made = err == nil
		return f, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, OpenFile: create})
	if err != nil {
		return nil, opening(path, err)
	}
	s := &Store{db, path}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{mainBucket, backfills, resets, streamsBucket} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(writing(err), db.Close())
	}
	return s, nil
}

// opening tells why a store could not be opened.
func opening(path string, err error) error {
	switch {
	case protocol.KindOf(err) == protocol.Config:
		return err
	case errors.Is(err, bolterrors.ErrTimeout):
		return &protocol.Problem{
			Kind: protocol.Config, Summary: "another pipeline process uses the store " + path, Fix: "only one may run at a time: stop the other one first, `pipeline status` tells its pid", Err: ErrLocked,
		}
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch),
		strings.Contains(err.Error(), "file size too small"): // it has no value of its own
		return damaged(path, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return unusable(path, "its disk has no room: make some, or name another place at `state:`", err)
	}
	if refused := place(path); refused != nil {
		return refused
	}
	return unusable(path, reason(err), err)
}

func unusable(path, fix string, err error) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "the store " + path + " cannot be opened", Fix: fix, Err: err}
}

// The modes of access(2).
const mayEnter, mayWrite, mayRead = 1, 2, 4

// place finds a reason why there can be no store at path, without writing anything; nil: there is none.
func place(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unusable(path, "there is no folder "+folder+": make it, or name another place at `state:`", err)
	case err != nil:
		return unusable(path, "its folder "+folder+" cannot be looked into ("+reason(err)+"): name another place at `state:`", err)
	case !info.IsDir():
		return unusable(path, folder+" is no folder: name another place at `state:`", nil)
	}
	info, err = os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return unusable(path, "it is no file: name another place at `state:`", nil)
	case err == nil && syscall.Access(path, mayRead|mayWrite) != nil:
		return unusable(path, "this user may not write it: give the file to the user that runs the pipeline", nil)
	case errors.Is(err, fs.ErrNotExist) && syscall.Access(folder, mayWrite|mayEnter) != nil:
		return unusable(path, "this user may not make files in "+folder+": let it, or name another place at `state:`", nil)
	}
	return nil
}

// Look reads what a store holds and changes nothing, not even for a moment; the record of one that was never used is empty. The error is what Open would say.
// ErrLocked is in its chain when a pipeline runs, which keeps its store to itself.
func Look(path string) (r Record, err error) {
	if err := place(path); err != nil {
		return Record{}, err
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return Record{}, nil //nolint:nilerr // place has found nothing wrong: there is none yet
	}
	var s *Store
	err = unbroken(path, func() error {
		db, openErr := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, ReadOnly: true})
		s = &Store{db, path}
		return openErr
	})
	if err != nil {
		return Record{}, opening(path, err)
	}
	r, err = s.Read()
	return r, errors.Join(err, s.Close())
}

func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// Exists tells whether there is a store, without locking it.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Close lets go of the file.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the store: %w", err)
	}
	return nil
}

// Read returns everything.
func (s *Store) Read() (r Record, err error) {
	err = unbroken(s.path, func() (err error) { r, err = s.read(); return err })
	if err != nil {
		return Record{}, err
	}
	for _, raw := range []json.RawMessage{r.Checkpoint, r.SinkState, r.Applied} {
		if raw != nil && !json.Valid(raw) {
			return Record{}, damaged(s.path, errors.New("what it holds is no JSON"))
		}
	}
	return r, nil
}

func (s *Store) read() (Record, error) {
	r := Record{Backfill: map[string]uint32{}, Resets: map[string]uint32{}, Streams: map[string]string{}}
	err := s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(mainBucket)
		if b == nil {
			return nil // it was made, and never used
		}
		if raw := b.Get(epochKey); raw != nil {
			var err error
			if r.Epoch, err = strconv.ParseUint(string(raw), 10, 64); err != nil {
				return err
			}
		}
		r.Checkpoint, r.SinkState, r.Applied = clone(b.Get(checkpointKey)), clone(b.Get(sinkStateKey)), clone(b.Get(appliedKey))
		if err := counters(tx.Bucket(backfills), r.Backfill); err != nil {
			return err
		}
		if err := counters(tx.Bucket(resets), r.Resets); err != nil {
			return err
		}
		return tx.Bucket(streamsBucket).ForEach(func(path, name []byte) error {
			r.Streams[string(path)] = string(name)
			return nil
		})
	})
	if err != nil {
		return Record{}, fmt.Errorf("reading the store: %w", err)
	}
	return r, nil
}

func clone(raw []byte) json.RawMessage {
	if raw == nil {
		return nil
	}
	return append(json.RawMessage{}, raw...)
}

func counters(b *bolt.Bucket, into map[string]uint32) error {
	return b.ForEach(func(path, n []byte) error {
		count, err := strconv.ParseUint(string(n), 10, 32)
		into[string(path)] = uint32(count)
		return err
	})
}

// update writes in one transaction, which is on the disk when it returns.
func (s *Store) update(f func(tx *bolt.Tx, b *bolt.Bucket) error) error {
	err := s.db.Update(func(tx *bolt.Tx) error { return f(tx, tx.Bucket(mainBucket)) })
	if err != nil {
		return writing(err)
	}
	return nil
}

func writing(err error) error {
	return &protocol.Problem{Kind: protocol.Transient, Summary: "the store cannot be written", Fix: "see that its disk has room: " + err.Error(), Err: err}
}

// Commit stores a transaction: position and the sink's state, together.
func (s *Store) Commit(epoch uint64, checkpoint, sinkState json.RawMessage) error {
	return s.update(func(_ *bolt.Tx, b *bolt.Bucket) error {
		return errors.Join(b.Put(epochKey, strconv.AppendUint(nil, epoch, 10)), put(b, checkpointKey, checkpoint), put(b, sinkStateKey, sinkState))
	})
}

// SetSinkState stores the sink's state alone: it has changed without a transaction.
func (s *Store) SetSinkState(state json.RawMessage) error {
	return s.update(func(_ *bolt.Tx, b *bolt.Bucket) error { return put(b, sinkStateKey, state) })
}

// SetApplied stores what the sink has applied, and the state that came of it.
func (s *Store) SetApplied(spec, sinkState json.RawMessage) error {
	return s.update(func(_ *bolt.Tx, b *bolt.Bucket) error {
		return errors.Join(put(b, appliedKey, spec), put(b, sinkStateKey, sinkState))
	})
}

// SetStreams stores the names of the streams by path, for `pipeline backfill`.
func (s *Store) SetStreams(names map[string]string) error {
	return s.update(func(tx *bolt.Tx, _ *bolt.Bucket) error {
		if err := tx.DeleteBucket(streamsBucket); err != nil {
			return err
		}
		b, err := tx.CreateBucket(streamsBucket)
		if err != nil {
			return err
		}
		for path, name := range names {
			if err := b.Put([]byte(path), []byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetCounters stores how often streams have started over.
func (s *Store) SetCounters(backfill, byReset map[string]uint32) error {
	return s.update(func(tx *bolt.Tx, _ *bolt.Bucket) error {
		return errors.Join(putCounters(tx.Bucket(backfills), backfill), putCounters(tx.Bucket(resets), byReset))
	})
}

func putCounters(b *bolt.Bucket, counts map[string]uint32) error {
	for path, n := range counts {
		if err := b.Put([]byte(path), strconv.AppendUint(nil, uint64(n), 10)); err != nil {
			return err
		}
	}
	return nil
}

// Reset forgets the position and the sink's state and begins the next epoch with these counters, in one transaction. What was applied last is kept: the
// destination still looks like that.
func (s *Store) Reset(epoch uint64, backfill map[string]uint32) error {
	return s.update(func(tx *bolt.Tx, b *bolt.Bucket) error {
		return errors.Join(b.Put(epochKey, strconv.AppendUint(nil, epoch, 10)), b.Delete(checkpointKey), b.Delete(sinkStateKey), putCounters(tx.Bucket(backfills), backfill))
	})
}

func put(b *bolt.Bucket, key []byte, value json.RawMessage) error {
	if value == nil {
		return b.Delete(key)
	}
	return b.Put(key, value)
}
