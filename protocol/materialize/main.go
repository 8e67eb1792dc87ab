package materialize

import (
	"os"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol/config"
)

// Main runs the connector as its command line and stdin ask, and exits.
func Main[C, R any](c Connector[C, R]) {
	p := command.OS()
	go p.Watch()
	os.Exit(run(erase(c), p))
}

// connector is a Connector without its type parameters.
type connector struct {
	name, title, version, docs string
	memory                     int64
	configSchema               func(config.Flavor) []byte
	resourceSchema             func() []byte
	open                       func(raw []byte, hide func(secrets []string)) (Materializer, error)
	checkResource              func(raw []byte) error
}

func erase[C, R any](c Connector[C, R]) connector {
	return connector{
		name: c.Name, title: c.Title, version: c.Version, docs: c.DocsURL, memory: c.MemoryBytes,
		configSchema:   config.Schema[C],
		resourceSchema: func() []byte { return config.Schema[R](config.Flow) },
		open: func(raw []byte, hide func(secrets []string)) (Materializer, error) {
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

// arguments is the command line. A flag that takes a value is nil when it was not given.
type arguments struct {
	Config        *string `long:"config"`
	Catalog       *string `long:"catalog"`
	CompleteOnEOF bool    `long:"complete-on-eof"`
	Resumed       bool    `long:"resumed"`
	command.Flags
}

// invocation is one run of the binary.
type invocation struct {
	*command.Process
	connector connector
	args      arguments
}

// commands are those with a name; without one the binary serves Flow (session.go). An error becomes a TRACE ERROR and exit 1.
var commands = map[string]func(*invocation) (exit int, err error){
	"spec":  (*invocation).spec,
	"check": (*invocation).check,
	"write": (*invocation).write,
	"state": (*invocation).state,
}

// run returns the exit code.
func run(c connector, p *command.Process) (exit int) {
	inv := &invocation{Process: p, connector: c}
	bound := make(map[string]func() (int, error), len(commands))
	for name, f := range commands {
		bound[name] = func() (int, error) { return f(inv) }
	}
	return p.Run(command.Program{
		Name: c.name, Version: c.version, MemoryBytes: c.memory, Into: &inv.args, Common: &inv.args.Flags, Commands: bound, Session: inv.session, Usage: c.usage,
	})
}

// open makes the materializer from --config.
func (inv *invocation) open() (Materializer, error) {
	raw, err := command.ReadInput("config", inv.args.Config)
	if err != nil {
		return nil, err
	}
	return inv.openConfig(raw)
}

func (inv *invocation) openConfig(raw []byte) (Materializer, error) {
	return inv.connector.open(raw, inv.Secrets.Add)
}

// closeInto closes the materializer and keeps its error when there is no other.
func closeInto(m Materializer, err *error) { command.CloseInto(m, "the destination", err) }

func (inv *invocation) spec() (int, error) {
	return 0, inv.Print(airbyte.AppendSpec(nil, airbyte.Spec{
		ProtocolVersion: airbyte.ProtocolVersion, DocumentationURL: inv.connector.docs,
		Schema: inv.connector.configSchema(config.Airbyte), SupportsIncremental: true,
		DestinationModes: []string{"append", "append_dedup", "overwrite"},
	}))
}
