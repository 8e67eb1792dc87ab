// Package filesourcetest is the fixture of connectors that read files for protocoltest's simulators: a directory whose files are added, replaced and grow
// meanwhile.
package filesourcetest
