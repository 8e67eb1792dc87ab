// Package simdb is a database in memory that plays every role of sqlcapture.Database. It runs programs of transactions and takes apart what a real
// server does at a commit: the commit record enters the log, the log becomes durable (and can be decoded), the transaction becomes visible to
// snapshots. Each of these, and each statement before them, is a step of its own, and a Chooser says which step comes next, and when. Transaction
// ids are given out at a transaction's first step and cross 2^32, so their order is neither the order of the log nor that of visibility.
//
// The rules are PostgreSQL's: a reader of the log sees durable records only; row and table locks are held until the transaction is visible; a
// snapshot is xmin, xmax and the list of those that run, where xmax follows the latest transaction that has ended; a slot's creation waits for the
// transactions that run when it begins, not for those that start meanwhile; a change is in the log only when its table was published as it was made.
//
// Start with World. Every call that the engine makes is a scheduling point (World.point).
package simdb
