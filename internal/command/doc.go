// Package command is what the mains of sources and sinks have in common: the process with its signals and its one writer to stdout, arguments, input files,
// logs without secrets, and how errors are told to people. Process is the type to read first.
//
// Nothing else may import it: it touches the process.
package command
