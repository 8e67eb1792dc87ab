// Package archtest holds nothing but tests of the repository's shape: which package may import which, who may touch the process, and which files every
// connector has. docs/architecture.md says what the floors are for.
package archtest
