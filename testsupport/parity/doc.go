// Package parity holds what a source prints of a value in its backfill against what it prints of the same value from the log, for every type and under
// settings that a database's owner may have chosen, and against the table of values that the project promises.
package parity
