package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/estuary/connectors/protocol"
)

// ReadInput reads a file that a flag names: opened once, read once to its end, nothing else, since it may be a FIFO. A nil path was not given.
func ReadInput(flag string, path *string) ([]byte, error) {
	if path == nil || *path == "" {
		return nil, Problem("--"+flag+" is missing", "name the file with --"+flag+" FILE")
	}
	f, err := os.Open(*path)
	if err != nil {
		return nil, inputProblem(flag, *path, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, inputProblem(flag, *path, err)
	}
	return raw, nil
}

func inputProblem(flag, path string, err error) error {
	reason := err.Error()
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		reason = pathErr.Err.Error()
	}
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("the file %s of --%s cannot be read", path, flag), Fix: reason, Err: err}
}
