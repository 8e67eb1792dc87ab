package sweep

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/keyrange"
)

const (
	// maxSeen bounds the entries of `seen` at the end of a sweep, those of one sweep while it runs. An entry takes 61 to 66 bytes, and the state is to stay
	// below 3 MB.
	maxSeen = 45_000
	// maxRetry bounds the objects that wait to become readable.
	maxRetry = 10_000
)

// Rules are what the configuration says.
type Rules struct {
	Bucket   string
	Lookback time.Duration
	// Horizon: objects modified less than this before the sweep's start wait for the next one; 0: none waits.
	Horizon time.Duration
	// Ascending: keys only ever grow, so that a sweep begins where the one before ended, and nothing else is remembered.
	Ascending bool
	// Config is a hash of what makes documents of bytes: a file half read under another one starts over.
	Config string
	// Owns tells whether an object of this key is read at all, by this process.
	Owns func(key string) bool
}

// Machine is the state of one binding, and what is decided by it. One goroutine at a time uses it.
type Machine struct {
	Rules
	s *state

	sent       mark // what the runner has
	sentAt     string
	dirtySeen  map[uint64]bool // entries that changed since the last patch; true: the runner has one
	dirtyRetry map[string]struct{}

	own        ages // entries of this sweep, oldest first; forgotten ones stay in it until they come up
	ownCount   int
	retryBytes int
	legacy     bool // the configuration was another one when the state was written
	toNormal   bool // the state is of ascending keys, the rules are not
	partial    bool // this sweep began inside a listing: what was put before that place is for another one
	ascends    bool // the form of this sweep
	waited     bool // the horizon held an object back in this sweep
	greatest   string
	listedFrom string
	met        map[string]bool // keys of retry that this sweep has listed
	tried      map[string]bool // denied ones that were tried again in this run
	warnedFull bool
	maxSeen    int
}

// New reads a state; nil is the first one.
func New(raw json.RawMessage, r Rules) (*Machine, error) {
	s, err := parseState(raw)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Rules: r, s: s, sent: s.mark, sentAt: s.at,
		dirtySeen: map[uint64]bool{}, dirtyRetry: map[string]struct{}{}, met: map[string]bool{}, tried: map[string]bool{},
		maxSeen: maxSeen,
	}
	for h, e := range s.seen {
		m.noteAge(h, e)
	}
	for k, d := range s.retry {
		m.retryBytes += len(k) + len(d.Version) + retryOverhead
	}
	m.legacy = s.config != r.Config && s.config != ""
	s.config = r.Config
	m.chooseForm()
	return m, nil
}

// chooseForm decides what the next sweep is, by the state and the rules: each may know ascending keys or not.
func (m *Machine) chooseForm() {
	s := m.s
	ascending := s.path != "" && s.started.IsZero() // the form of the state
	fresh := s.path == "" && s.started.IsZero() && s.since.IsZero() && len(s.seen) == 0
	switch {
	case m.Ascending && (ascending || fresh):
		m.ascends = true
	case !m.Ascending && ascending:
		// What comes after path was never looked at, so the sweep goes on there; what lies before it is old, except what is younger than newest.
		m.toNormal, m.ascends = true, false
		s.next = s.newest
	default: // with ascending keys from now on: a last sweep of the other form, whose greatest key is where the next one begins
		m.ascends = false
	}
	m.greatest, m.listedFrom = s.path, s.path
	m.partial = !m.ascends && s.path != ""
}

// Resume returns the object in which the state stands, to be looked for before anything is listed; ok is false when there is none.
func (m *Machine) Resume() (key, version, at string, ok bool) {
	if m.s.version == "" || !m.Owns(m.s.path) {
		return "", "", "", false
	}
	if m.legacy {
		return m.s.path, "", "", true
	}
	return m.s.path, m.s.version, m.s.at, true
}

// After is the key behind which to list.
func (m *Machine) After() string { return m.s.path }

// Verdict is what to do about an object.
type Verdict int

// The verdicts.
const (
	Skip  Verdict = iota // it was read, or is known to be unreadable
	Read                 // read it
	Defer                // it is archived and new: tell the machine by Deferred, in its turn
	Stop                 // nothing behind it may be read in this sweep
)

// Consider decides about the next object of the listing.
func (m *Machine) Consider(o *blob.Object) Verdict {
	if m.s.started.IsZero() && !m.ascends {
		m.s.started = o.Listed.UTC()
	}
	if _, waits := m.s.retry[o.Key]; waits {
		m.met[o.Key] = true
	}
	if m.Horizon > 0 && o.Modified.After(m.limit(o)) {
		if m.ascends {
			return Stop // the next sweep begins behind the greatest key
		}
		m.waited = true
		return Skip
	}
	m.listed(o)
	if m.ascends {
		return m.readable(o)
	}
	d, waits := m.s.retry[o.Key]
	switch {
	case waits && d.Version != o.Version:
		return m.readable(o)
	case waits && m.mayBeReadable(o, d):
		return Read
	case waits || !o.Modified.After(m.s.since):
		return Skip
	}
	if m.Known(o) {
		return Skip
	}
	return m.readable(o)
}

// Known tells whether this version is the one that was read last: of an object that was replaced since it was listed, too.
func (m *Machine) Known(o *blob.Object) bool {
	h := m.hash(o.Key)
	e, ok := m.s.seen[h]
	if !ok || e.version != keyrange.Sum64(o.Version) {
		return false
	}
	// The version was put back: its entry lives as long as the new time is inside the window. It stays one of an earlier sweep, for path may not have come
	// to its key yet.
	if at := second(o.Modified); at > e.second {
		e.second = at
		m.remember(h, e)
	}
	return true
}

func (m *Machine) readable(o *blob.Object) Verdict {
	if o.Archived {
		return Defer
	}
	return Read
}

func (m *Machine) mayBeReadable(o *blob.Object, d Deferred) bool {
	switch d.Why {
	case Archived:
		return !o.Archived
	case Denied:
		again := !m.tried[o.Key]
		m.tried[o.Key] = true
		return again
	default:
		return d.Why != Faulty+Why(" "+m.Config)
	}
}

// listed notes an object's time and key.
func (m *Machine) listed(o *blob.Object) {
	if o.Modified.After(m.s.newest) {
		m.s.newest = o.Modified.UTC()
	}
	m.greatest = max(m.greatest, o.Key)
}

// limit is the time before which all objects have been listed: the start of the sweep, less the horizon.
func (m *Machine) limit(o *blob.Object) time.Time {
	started := m.s.started
	if started.IsZero() && o != nil {
		started = o.Listed
	}
	return started.Add(-m.Horizon)
}

// bound is the least that since will be at the end of this sweep; zero: nothing was listed.
func (m *Machine) bound() time.Time {
	newest := m.s.newest
	if limit := m.limit(nil); newest.After(limit) {
		newest = limit
	}
	if newest.IsZero() || m.s.started.IsZero() {
		return time.Time{}
	}
	return newest.Add(-m.Lookback)
}

// Begin notes that the documents of an object come next, from its start or from where Resume said.
func (m *Machine) Begin(o *blob.Object, at string) {
	m.listed(o)
	m.s.path, m.s.version, m.s.at = o.Key, o.Version, at
	m.forget(m.hash(o.Key))
}

// At notes how far the object that was begun has been emitted.
func (m *Machine) At(at string) { m.s.at = at }

// Done notes that all documents of an object have been emitted.
func (m *Machine) Done(o *blob.Object) {
	m.passed(o)
	m.dropRetry(o.Key)
}

// Gone notes that an object was deleted before it was read to its end. Where none of it was, the version before it is still the last one that was.
func (m *Machine) Gone(key string) {
	m.s.path, m.s.version, m.s.at = key, "", ""
	if _, waits := m.s.retry[key]; waits { // the version in seen is one that was not read
		m.forget(m.hash(key))
		m.dropRetry(key)
	}
}

// Deferred notes that an object was not read, and why. An error says that too many wait; full, that one was given up, once in a run.
func (m *Machine) Deferred(o *blob.Object, why Why) (full bool, err error) {
	m.passed(o)
	m.dropRetry(o.Key)
	if len(m.s.retry) >= maxRetry {
		full, m.warnedFull = !m.warnedFull, true
		if why == Archived {
			return full, nil
		}
		if !m.dropArchived() {
			return false, fmt.Errorf("%w: %d", errRetryFull, maxRetry)
		}
	}
	if why == Faulty { // under this configuration
		why += Why(" " + m.Config)
	}
	m.s.retry[o.Key] = Deferred{Version: o.Version, Why: why}
	m.met[o.Key] = true
	m.dirtyRetry[o.Key] = struct{}{}
	m.retryBytes += len(o.Key) + len(o.Version) + retryOverhead
	return full, nil
}

var errRetryFull = errors.New("more objects than can be remembered were not readable")

// passed moves path to the object and remembers its version.
func (m *Machine) passed(o *blob.Object) {
	m.listed(o)
	m.s.path, m.s.version, m.s.at = o.Key, "", ""
	if m.ascends {
		return
	}
	h := m.hash(o.Key)
	m.forget(h)
	if !o.Modified.After(m.bound()) {
		return
	}
	e := entry{keyrange.Sum64(o.Version), second(o.Modified), m.s.sweep}
	m.remember(h, e)
	m.noteAge(h, e)
	for m.ownCount > m.maxSeen && m.dropOldest() {
	}
}

// dropOldest forgets the oldest entry of this sweep, if all of its age have been listed.
func (m *Machine) dropOldest() bool {
	for len(m.own) > 0 {
		oldest := m.own[0]
		if e, ok := m.s.seen[oldest.hash]; !ok || e.second != oldest.second || e.sweep != m.s.sweep {
			heap.Pop(&m.own)
			continue
		}
		at := time.Unix(oldest.second, 0).UTC()
		if !at.Before(m.limit(nil)) {
			return false
		}
		heap.Pop(&m.own)
		m.forget(oldest.hash)
		if at.After(m.s.next) {
			m.s.next = at
		}
		return true
	}
	return false
}

// End is what the end of a sweep found.
type End struct {
	Again bool          // the sweep was one that went on, so that another is due at once: it did not list from the start
	Short bool          // the look-back had to be cut, because too many objects are inside it
	Left  time.Duration // what is left of the look-back
	Ahead time.Duration // how far the state's time, before which nothing is read, lies in the store's future: its clock was put back
}

// End ends a sweep: everything that was listed has been read.
func (m *Machine) End() End {
	m.pruneRetry()
	s := m.s
	end := End{Again: m.partial}
	s.version, s.at = "", ""
	if m.ascends {
		m.startOver()
		return end
	}
	bound := m.bound()
	due := s.since
	if bound.After(due) {
		due = bound
	}
	if dropped := m.shrink(); dropped.After(s.next) {
		s.next = dropped
	}
	if s.next.After(due) {
		end.Short = !m.toNormal
		due = s.next
	}
	if end.Short {
		end.Left = bound.Add(m.Lookback).Sub(due)
	}
	s.since = due
	if !s.started.IsZero() && due.After(s.started) {
		end.Ahead = due.Sub(s.started)
	}
	for h, e := range s.seen {
		if e.second <= due.Unix() {
			m.forget(h)
		}
	}
	s.path, s.next, s.started, s.sweep = "", time.Time{}, time.Time{}, s.sweep+1
	if m.Ascending && !m.waited { // from now on
		s.path, s.since, s.sweep = m.greatest, time.Time{}, 0
		for h := range s.seen {
			m.forget(h)
		}
	}
	m.startOver()
	return end
}

// startOver makes ready for the next sweep.
func (m *Machine) startOver() {
	m.toNormal, m.legacy, m.waited = false, false, false
	m.own, m.ownCount = m.own[:0], 0
	clear(m.met)
	m.chooseForm()
}

// shrink forgets the oldest entries of all sweeps down to the bound, and returns the time of the youngest of them.
func (m *Machine) shrink() (dropped time.Time) {
	over := len(m.s.seen) - m.maxSeen
	if over <= 0 {
		return dropped
	}
	all := make(ages, 0, len(m.s.seen))
	for h, e := range m.s.seen {
		all = append(all, age{e.second, h})
	}
	slices.SortFunc(all, age.compare)
	for _, oldest := range all[:over] {
		at := time.Unix(oldest.second, 0).UTC()
		if !at.Before(m.limit(nil)) {
			break
		}
		m.forget(oldest.hash)
		dropped = at
	}
	return dropped
}

// Size estimates the bytes of the whole state.
func (m *Machine) Size() int {
	const scalars, entryBytes = 300, 64
	return scalars + len(m.s.at) + len(m.s.path) + entryBytes*len(m.s.seen) + m.retryBytes
}

// Sweep is the number of the sweep.
func (m *Machine) Sweep() int64 { return m.s.sweep }

// Restarted tells whether a file that was half read starts over because the configuration is another one.
func (m *Machine) Restarted() bool { return m.legacy && m.s.version != "" }

func (m *Machine) hash(key string) uint64 { return keyrange.Sum64(m.Bucket + "/" + key) }

func (m *Machine) remember(h uint64, e entry) {
	m.dirty(h)
	m.s.seen[h] = e
}

// dirty notes that an entry is about to change.
func (m *Machine) dirty(h uint64) {
	if _, noted := m.dirtySeen[h]; !noted {
		_, m.dirtySeen[h] = m.s.seen[h]
	}
}

func (m *Machine) forget(h uint64) {
	e, ok := m.s.seen[h]
	if !ok {
		return
	}
	m.dirty(h)
	delete(m.s.seen, h)
	if e.sweep == m.s.sweep {
		m.ownCount--
	}
}

func (m *Machine) noteAge(h uint64, e entry) {
	if e.sweep == m.s.sweep {
		heap.Push(&m.own, age{e.second, h})
		m.ownCount++
	}
}
