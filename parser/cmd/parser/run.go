package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jessevdk/go-flags"
	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

// process is what a run has of the world around it.
type process struct {
	args           []string // without the program's name
	stdin          *os.File
	stdout, stderr io.Writer
}

// Exit codes.
const (
	exitFailed = 1 // the file, or reading it
	exitUsage  = 2 // the command line or the config
)

const usage = `usage: parser COMMAND [flags]

  parse [--config FILE] [--file FILE] [--rejects FILE]   write the documents of a file, or of stdin, one JSON object a line
  spec                                                   write the JSON schema of the config
  avro-schema [--file FILE]                              write the JSON schema of an Avro container file's, or an Avro schema's, records

  --help, --version

Without --config everything is detected: the format by the file's name, or by its first bytes (not that of CSV, which has none). Logs go to stderr as JSON; the last
line tells why a run has failed. Exit codes: 0 all was read, 1 the file is bad or could not be read, 2 the command line or the config is wrong.
`

// arguments are the flags of all commands.
type arguments struct {
	Config  string `long:"config"`
	File    string `long:"file"`
	Rejects string `long:"rejects"`
	Help    bool   `long:"help" short:"h"`
	Version bool   `long:"version"`
}

// run is one run of the command; it returns the exit code.
func run(p process) int {
	log := logrus.New()
	log.SetOutput(p.stderr)
	log.SetFormatter(&logrus.JSONFormatter{})
	err := dispatch(p, log)
	if err == nil {
		return 0
	}
	var bad *parser.Error
	for _, e := range protocol.Problems(err) {
		entry := logrus.NewEntry(log)
		if errors.As(e, &bad) {
			entry = log.WithFields(place(bad))
		}
		if errors.Is(e, parser.ErrNoFormat) {
			e = &protocol.Problem{Kind: protocol.Config, Summary: bad.File + ": " + parser.ErrNoFormat.Error(), Fix: "set format in the config, or give the file's name with --file", Err: e}
		}
		entry.Error(e)
	}
	if protocol.KindOf(err) == protocol.Config || bad != nil && bad.Kind == parser.KindConfig && bad.Row == 0 {
		return exitUsage
	}
	return exitFailed
}

// place is where a file is bad, as far as that is known.
func place(bad *parser.Error) logrus.Fields {
	fields := logrus.Fields{"file": bad.File, "kind": bad.Kind.String()}
	for name, at := range map[string]int64{"row": bad.Row, "line": bad.Line} {
		if at > 0 {
			fields[name] = at
		}
	}
	if bad.Byte >= 0 {
		fields["byte"] = bad.Byte
	}
	return fields
}

func dispatch(p process, log *logrus.Logger) error {
	var a arguments
	rest, err := flags.NewParser(&a, flags.PassDoubleDash).ParseArgs(p.args)
	switch {
	case err != nil:
		return misused(err.Error())
	case a.Help:
		_, err = io.WriteString(p.stdout, usage)
		return err
	case a.Version:
		_, err = fmt.Fprintln(p.stdout, "parser", version)
		return err
	case len(rest) != 1:
		return misused("one command is needed")
	}
	switch rest[0] {
	case "parse":
		return parse(p, a, log)
	case "spec":
		_, err = fmt.Fprintf(p.stdout, "%s\n", config.Schema[parser.Config](config.Airbyte))
		return err
	case "avro-schema":
		return avroSchema(p, a)
	}
	return misused(fmt.Sprintf("there is no command %q", rest[0]))
}

func misused(reason string) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: "the command line cannot be used", Fix: reason + "; see parser --help"}
}
