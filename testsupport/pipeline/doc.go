// Package pipeline runs the built pipeline from one private PostgreSQL into another, kills it at every point, and compares both sides.
//
// Its tests are the suite: kill_test.go at the points of a transaction, seven_test.go under the load of seven tables, once_test.go the commands, schema
// changes and what happens to a lost store or an emptied destination. The other files say how a pipeline is set up; the demo uses them, too.
package pipeline
