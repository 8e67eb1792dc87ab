// Package runner copies from one source into one sink, exactly once where the sink can: it starts both as children, collects what the source captures into
// transactions, and hands them to the sink. Run is where to start; session.go has the order of a start, collect.go the source's half of the loop, commit.go
// the sink's.
//
// Two goroutines do the work. The collector reads the source's lines into a combiner; at a checkpoint, when the committer is idle, it seals the combiner
// and hands it over, and goes on with a second one. The committer loads, stores and commits. So there is no queue: what is between two commits lives in
// two combiners, and is read again from the source after a crash. When one side fails both are ended and started anew from the last commit.
package runner
