package main

import (
	"fmt"
	"os"
	"testing"
)

// The bench starts itself for the plain loop, and in tests it is the test's binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == plainLoopCommand {
		if err := plainLoop(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}
