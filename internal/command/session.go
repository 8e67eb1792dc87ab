package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/protocol"
)

// Requests opens stdin for a Flow session. When lines is nil there is none: usage or a sentence is on stderr, and the process ends with exit.
func (p *Process) Requests(usage func(io.Writer)) (lines *LineReader, exit int) {
	lines = NewLineReader(p.Stdin)
	first, err := byte(0), error(nil)
	if !p.StdinTerminal {
		first, err = lines.First()
	}
	switch {
	case p.StdinTerminal || errors.Is(err, io.EOF):
		usage(p.Stderr)
		return nil, 2
	case err == nil && first != '{':
		fmt.Fprintln(p.Stderr, "stdin must hold Flow requests as JSON, one object a line, but it does not begin with {.")
		return nil, 2
	}
	return lines, 0
}

// Refuse logs the reason with its kind and returns the exit code: the Flow protocols have no response for errors. A reader that left is no failure.
func Refuse(err error) (exit int) { return RefuseWith(err, nil) }

// RefuseWith is Refuse with further fields of the log line.
func RefuseWith(err error, fields logrus.Fields) (exit int) {
	if ReaderLeft(err) {
		return 0
	}
	entry := logrus.WithFields(fields).WithField("kind", protocol.KindOf(err).String())
	if cause := Cause(err); cause != "" {
		entry = entry.WithField("cause", cause)
	}
	entry.Error(Message(err))
	return 1
}
