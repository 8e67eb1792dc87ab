package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/estuary/connectors/protocol"
)

// readInput reads a file that a flag names: opened once, read once to its end, nothing else, since it may be a FIFO.
func readInput(flag string, path *string) ([]byte, error) {
	if path == nil || *path == "" {
		return nil, problem("--"+flag+" is missing", "name the file with --"+flag+" FILE")
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

// open makes the source from --config.
func (inv *invocation) open() (Source, error) {
	raw, err := readInput("config", inv.args.Config)
	if err != nil {
		return nil, err
	}
	return inv.openConfig(raw)
}

func (inv *invocation) openConfig(raw []byte) (Source, error) {
	return inv.connector.open(raw, inv.secrets.add)
}
