package source

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

// Main runs the connector as its command line and stdin ask, and exits.
func Main[C, R any](c Connector[C, R]) {
	p := osProcess()
	go p.watch()
	os.Exit(run(erase(c), p))
}

// connector is a Connector without its type parameters.
type connector struct {
	name, title, version, docs string
	path                       []string
	memory                     int64
	cores                      int
	configSchema               func(config.Flavor) []byte
	resourceSchema             func() []byte
	open                       func(raw []byte, hide func(secrets []string)) (Source, error)
	checkResource              func(raw []byte) error
}

func erase[C, R any](c Connector[C, R]) connector {
	return connector{
		name: c.Name, title: c.Title, version: c.Version, docs: c.DocsURL, path: c.ResourcePath, memory: c.MemoryBytes, cores: c.Cores,
		configSchema:   config.Schema[C],
		resourceSchema: func() []byte { return config.Schema[R](config.Flow) },
		open: func(raw []byte, hide func(secrets []string)) (Source, error) {
			decoded, err := config.Decode[C](raw)
			if err != nil {
				return nil, err
			}
			hide(config.Secrets(decoded)) // before New, which may fail and tell of it
			return c.New(decoded)
		},
		checkResource: func(raw []byte) error {
			_, err := config.Decode[R](raw)
			return err
		},
	}
}

// invocation is one run of the binary.
type invocation struct {
	*process
	connector connector
	args      arguments
	secrets   *secrets
}

var commands = map[string]func(*invocation) (exit int, err error){
	"spec": (*invocation).spec, "check": (*invocation).check, "discover": (*invocation).discover, "read": (*invocation).read,
}

// run returns the exit code.
func run(c connector, p *process) (exit int) {
	if c.memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.memory * 85 / 100)
	}
	if c.cores > 0 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(c.cores)
	}
	args, err := parseArguments(p.args)
	inv := &invocation{process: p, connector: c, args: args, secrets: &secrets{}}
	command, known := commands[args.command]
	switch {
	case args.Help:
		usage(p.stdout, c.name, c.title, c.docs)
		return 0
	case args.Version:
		fmt.Fprintln(p.stdout, c.name, c.version)
		return 0
	case args.command != "" && !known:
		fmt.Fprintf(p.stderr, "%s has no command %q.\n\n", c.name, args.command)
		usage(p.stderr, c.name, c.title, c.docs)
		return 2
	case args.command == "" && err == nil:
		p.configureLogging(inv.secrets, true, args.Debug)
		return inv.session()
	}
	p.configureLogging(inv.secrets, false, args.Debug)
	defer func() {
		if r := recover(); r != nil {
			exit = inv.fail(panicked(r))
		}
	}()
	if err != nil {
		return inv.fail(err)
	}
	for _, arg := range args.ignored {
		if flag := meant(arg); flag != "" {
			logrus.WithField("argument", arg).Warn("ignoring an unknown argument: did you mean " + flag + "?")
			continue
		}
		logrus.WithField("argument", arg).Debug("ignoring an unknown argument")
	}
	exit, err = command(inv)
	if err != nil {
		return inv.fail(err)
	}
	return exit
}

// panicked makes an error of what was recovered.
func panicked(r any) error {
	return &protocol.Problem{
		Kind: protocol.System, Summary: fmt.Sprintf("the connector met a bug: %v", r), Err: errors.New(string(debug.Stack())),
	}
}

// fail prints a TRACE ERROR and returns the exit code. A reader that left is no failure: nobody would read about it.
func (inv *invocation) fail(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return 0
	}
	p := redactedProblem(err, inv.secrets.redact)
	if writeErr := inv.print(airbyte.AppendError(nil, p.Kind, p.Error(), internal(p), nil, inv.now())); writeErr != nil && !errors.Is(writeErr, syscall.EPIPE) {
		fmt.Fprintln(inv.stderr, p.Error())
	}
	return 1
}

func (inv *invocation) print(line []byte) error {
	if _, err := inv.stdout.Write(line); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}

func (inv *invocation) spec() (int, error) {
	return 0, inv.print(airbyte.AppendSpec(nil, airbyte.Spec{
		ProtocolVersion: airbyte.ProtocolVersion, DocumentationURL: inv.connector.docs,
		Schema: inv.connector.configSchema(config.Airbyte), SupportsIncremental: true,
	}))
}
