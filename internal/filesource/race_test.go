//go:build race

package filesource

// raced: the race detector watches, which makes everything ten times slower.
const raced = true
