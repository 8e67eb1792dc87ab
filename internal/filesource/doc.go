// Package filesource is the engine of sources whose streams are files in a bucket. A connector brings the bucket and its credentials; the engine decides what
// is read (package sweep), fetches ahead, parses, emits in the order of the listing, and checkpoints inside files.
//
//	planner ──► units of files, in listing order ──┬─► workers: fetch, parse, batches ─┐
//	(lists, decides, fetches small objects)        └─► emitter: takes the batches of one unit after the other, tells the sweep, writes
//
// The planner and the workers run ahead of the emitter, bounded in objects, bytes and batches (limits.go). The sweep hears of a file only when the emitter
// has come to it, so its state never covers what was not written. One goroutine emits.
//
// Read config.go for what users set, read.go for the course of a run, then plan.go, work.go and emit.go.
package filesource
