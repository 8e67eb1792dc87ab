// Package transact holds the documents of one transaction of a materialization: Combiner takes records of many bindings in arrival order and hands out, for
// each keyed binding, one reduced document a key, keys ascending; of delta bindings every record, in order. It keeps a bounded part in memory; what is
// more waits in sorted runs in a temporary file, which are merged while they are read.
//
// The order of a transaction: Add …, then Keys (what to load), Loaded …, then Docs, then Reset. Combiner is the type to read first.
package transact
