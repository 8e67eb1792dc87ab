// Package store keeps what a pipeline has to remember between runs, in one file: its position, the sink's state, what was applied last, and how often each
// stream was told to start over. Whoever has the file open owns the pipeline: Open refuses a second one.
//
// Checkpoint is also what the sink stores in the destination; where the two differ, the runner decides (architecture.md).
package store
