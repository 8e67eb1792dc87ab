// Package archtest holds the architecture (docs/architecture.md) as tests, each rule with its reason: which package may import which (arrows_test.go),
// who may touch the process (process_test.go), and which files every connector has (fleet_test.go). It ships nothing.
//
// A package that no rule names may import the vocabulary, protocol, and nothing else of ours: give it a rule when it needs more.
package archtest
