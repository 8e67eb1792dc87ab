// Package pipes runs what people type: source-postgres read, a shell's pipe, materialize-postgres write. Either side is killed at random moments, and the
// next round starts from what `materialize-postgres state` prints, or from the STATEs that write has echoed.
package pipes
