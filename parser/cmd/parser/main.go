// Command parser reads a file of any format from stdin and writes its documents to stdout, one JSON object a line.
package main

import "os"

var version = "dev" // set when a release is built

func main() {
	os.Exit(run(process{args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}))
}
