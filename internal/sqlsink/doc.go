// Package sqlsink is what materializations into SQL databases have in common: which column a field becomes (Shape, Dialect), what may become of each field
// given the table as it is (Constrain), the steps that make a table what a binding asks for (Diff), and the row that holds a task's checkpoint and its
// fence (Claim).
//
// It runs no statement by itself and knows no driver: a connector describes its live tables as Live, and hands in an Executor where one is needed.
// Everything is computed from the live table, never from a stored copy of an earlier specification, so that a plan that was cut short anywhere is finished by
// the next one.
//
// Start with Dialect, then Diff.
package sqlsink
