// Package foreign holds an Airbyte source that is not ours: source.py, Python's standard library only, written from the protocol's description. It talks as
// other sources and their runners are seen to talk, where that differs from ours.
//
// The tests let it run through `materialize-postgres write` and through `pipeline`, kill both sides, and compare the tables with the records that it holds.
package foreign
