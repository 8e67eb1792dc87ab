// Package relay is a program that a pipeline's file names as `connector:`. It starts the real connector, passes lines through both ways, and kills at one
// of the points P0 to P12 of a transaction when a plan says so: the connector, the source, the runner (its parent), or the runner while the connector
// lives on, frozen. Nothing in the product knows of it.
//
// Beside the program, named after it, lie its settings (.json), the plan (.plan, which may be replaced at any time), a marker (.fired), written before the
// kill so that a plan is carried out once, and a log of what it saw (.log). Install makes all of them; cmd/relay is the program. Its connector dies with it.
package relay
