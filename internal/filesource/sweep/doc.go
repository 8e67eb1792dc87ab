// Package sweep decides which objects of a bucket are read, and what a state says of it. It is pure: no clock, no network, no goroutine.
//
// One sweep is one listing, in ascending order of keys. An object is read when it was modified after `since` and `seen` does not hold its version. At the
// end of a sweep `since` moves to the look-back before the newest object (or before the sweep's start, if that is earlier), and `seen` forgets what is not
// younger; so an object that appears late, with an old time, is still found, and nothing is read twice. All times are the store's.
//
// Four rules make it right; the model in the tests finds a schedule of writers, late arrivals and crashes against it for each one that is broken:
//
//   - `since` stands still while a sweep runs, over crashes too: keys that are still to come may be older than those that were read.
//   - `since` stays the look-back behind the start of the sweep: what was written while it ran may lie behind its listing.
//   - `seen` holds versions, not keys: a time of one second does not tell two versions apart.
//   - The first state that covers a part of a new version takes the entry of the old one away: if that one is put back, it is read again.
//
// Read state.go first, then machine.go.
package sweep
