// Package config reads the YAML file of a pipeline: one source, one sink, and the streams between them. Read is where to start.
//
// Keys that nobody knows are refused, naming the nearest known one; what a stream's entry holds besides our own keys is for the sink's resource and is
// judged by whoever knows its schema. In every string ${env:NAME} is replaced by a variable of the environment and ${file:PATH} by a file's text.
package config
