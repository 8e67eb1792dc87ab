// Package sqlcapture is the change data capture engine for any SQL database: it backfills tables chunk by chunk while it follows the database's log,
// and never loses, doubles or reorders a version of a row.
//
// # The rule
//
// Every chunk of a backfill carries the snapshot it was read in, and the snapshot says which of the log's transactions the chunk already contains.
//
//	loop   consume the log and emit its events, filtered; at a commit, when a checkpoint is due and no window is open: wait until every consumed
//	       transaction is visible to new snapshots, consuming nothing, then emit the checkpoint
//	chunk  only right after a checkpoint: lock the table, open a snapshot, stream the rows after the last scanned key; then place a fence. The window
//	       (old scanned key, new scanned key, snapshot) is open until the log reaches the fence
//	filter what the window's snapshot contains is dropped, the row was emitted as of the snapshot; events of keys not scanned yet are dropped, a later
//	       chunk contains them; everything else is emitted (stream.judge)
//	fence  closes the window: the scanned key moves, and a checkpoint is emitted before anything else is scanned
//
// Rows stream straight to the output; nothing is buffered or patched.
//
// # Where to look
//
// database.go has the roles that a database plays. engine.go is the loop, start.go its beginning; stream.go judges events, chunk.go reads a chunk,
// checkpoint.go emits state, reset.go starts a table over, fill.go reads values the log left out, plan.go encodes documents, schema.go describes them.
package sqlcapture
