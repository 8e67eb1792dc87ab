package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// state is the state of a binding. Its names are a public format; times are RFC 3339 in UTC, as the store gives them.
type state struct {
	mark
	at    string // where the reader of path stands, as it gave it; empty: at its start. A text: a merge patch of an object would keep members of the one before
	seen  map[uint64]entry
	retry map[string]Deferred
}

// mark is what a state holds besides its two tables. A zero value is absent.
type mark struct {
	since   time.Time // only objects modified after it are looked at
	next    time.Time // what since will be at least, at the end of this sweep
	newest  time.Time // the youngest object that was listed
	started time.Time // of the sweep that runs: the store's clock at its first answer; absent between sweeps, and always with ascending keys
	sweep   int64     // number of the sweep
	path    string    // key that was begun last
	version string    // of path while it is being read
	config  string    // hash of what makes documents of bytes
}

// entry is a version that was read. In a state: "V8 T n".
type entry struct {
	version uint64 // keyrange.Sum64 of the version
	second  int64  // its time as seconds since 1970, rounded up: an entry is never forgotten too early
	sweep   int64  // that wrote it
}

// Deferred is an object that was listed and not read.
type Deferred struct {
	Version string `json:"version"`
	Why     Why    `json:"why"`
}

// Why says why an object was not read.
type Why string

// The reasons.
const (
	Archived Why = "archived" // read when it was restored
	Denied   Why = "denied"   // tried again once in a run
	Faulty   Why = "faulty"   // read when it has changed, or the parser's configuration has, whose hash follows
)

// wireState is a state's JSON.
type wireState struct {
	Since   time.Time           `json:"since"`
	Next    time.Time           `json:"next"`
	Newest  time.Time           `json:"newest"`
	Started time.Time           `json:"started"`
	Sweep   int64               `json:"sweep"`
	Path    string              `json:"path"`
	Version string              `json:"version"`
	Config  string              `json:"config"`
	At      string              `json:"at"`
	Seen    map[string]string   `json:"seen"`
	Retry   map[string]Deferred `json:"retry"`
}

// parseState reads a state; none is an empty one.
func parseState(raw json.RawMessage) (*state, error) {
	s := &state{seen: map[uint64]entry{}, retry: map[string]Deferred{}}
	if len(bytes.TrimSpace(raw)) == 0 {
		return s, nil
	}
	var w wireState
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("reading the state of the sweep: %w", err)
	}
	s.mark = mark{
		since: w.Since.UTC(), next: w.Next.UTC(), newest: w.Newest.UTC(), started: w.Started.UTC(),
		sweep: w.Sweep, path: w.Path, version: w.Version, config: w.Config,
	}
	s.at = w.At
	for key, text := range w.Seen {
		h, err := strconv.ParseUint(key, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("reading the state of the sweep: %q among the versions that were read is no hash", key)
		}
		if s.seen[h], err = parseEntry(text); err != nil {
			return nil, fmt.Errorf("reading the state of the sweep: the version %q of %s: %w", text, key, err)
		}
	}
	for key, d := range w.Retry {
		s.retry[key] = d
	}
	return s, nil
}

func parseEntry(text string) (entry, error) {
	version, rest, _ := strings.Cut(text, " ")
	at, number, _ := strings.Cut(rest, " ")
	v, err := strconv.ParseUint(version, 16, 64)
	if err != nil {
		return entry{}, err
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return entry{}, err
	}
	n, err := strconv.ParseInt(number, 10, 64)
	return entry{v, second(t), n}, err
}

func (e entry) append(dst []byte) []byte {
	dst = appendHash(dst, e.version)
	dst = append(dst, ' ')
	dst = time.Unix(e.second, 0).UTC().AppendFormat(dst, time.RFC3339)
	dst = append(dst, ' ')
	return strconv.AppendInt(dst, e.sweep, 10)
}

// second rounds up.
func second(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

func appendHash(dst []byte, h uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[h>>shift&15])
	}
	return dst
}
