//go:build !race

package filesource

const raced = false
