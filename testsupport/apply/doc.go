// Package apply drives the built materialize-postgres through Flow's JSON lines while its apply is cut short after each of its statements: the connection is
// cut, the answer is lost, or the process is killed. The next apply has to finish, and the tables have to be what they would be from scratch.
//
// spec_test.go writes specifications, evolution_test.go says from what to what, session_test.go speaks the protocol, gate_test.go counts and cuts,
// catalog_test.go lists what is in a database, and cut_test.go is the suite.
package apply
