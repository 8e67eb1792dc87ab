package main

import (
	"fmt"
	"os"
	"testing"
)

// The bench starts itself for some references, and in tests it is the test's binary.
func TestMain(m *testing.M) {
	if isOwn, err := ownCommand(os.Args[1:]); isOwn {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}
