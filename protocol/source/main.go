package source

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
	*command.Process
	connector connector
	args      arguments
}

// run returns the exit code.
func run(c connector, p *command.Process) (exit int) {
	inv := &invocation{Process: p, connector: c}
	return p.Run(command.Program{
		Name: c.name, Version: c.version, MemoryBytes: c.memory, Cores: c.cores, Into: &inv.args, Common: &inv.args.Flags,
		Commands: map[string]func() (int, error){"spec": inv.spec, "check": inv.check, "discover": inv.discover, "read": inv.read},
		Session:  inv.session, Usage: c.usage,
	})
}

func (inv *invocation) spec() (int, error) {
	return 0, inv.Print(airbyte.AppendSpec(nil, airbyte.Spec{
		ProtocolVersion: airbyte.ProtocolVersion, DocumentationURL: inv.connector.docs,
		Schema: inv.connector.configSchema(config.Airbyte), SupportsIncremental: true,
	}))
}
