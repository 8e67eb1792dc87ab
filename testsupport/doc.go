// Package testsupport is a module of its own for black-box tests: it drives built binaries against real servers and judges what they print with
// decoders of its own, so that one mistake cannot hide in the code and in its test at once.
//
//	binary   builds a connector and drives it over pipes: kill at a record, stopped readers, SIGTERM, exit code, CPU, memory
//	wire     decodes what connectors print: Airbyte messages, Flow capture responses
//	replay   folds output into tables and compares them with the server's, column by column
//	compare  holds a source's tables against a sink's, column by column, and a delta table's rows against the list of changes
//	relay    stands between a pipeline and a connector, and kills at the points of a transaction
//	pipeline the suite of the built pipeline: killed at every point, schema changes, commands
//	pipes    the suite of source-postgres read | materialize-postgres write
//	sweep    the suite of source-s3 over files that change under it
//	load     writers that change seven tables in every way there is, with a ledger
//	proxy    a TCP proxy that counts, cuts, delays, and tells of statements
//	standby  a synchronous standby that comes and goes
//	fixture  the table that benchmarks read
//	foreign  an Airbyte source that is not ours, in Python
//
// Private servers are internal/pgtest of the main module.
package testsupport
