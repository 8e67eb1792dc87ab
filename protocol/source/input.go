package source

import "github.com/estuary/connectors/internal/command"

// open makes the source from --config.
func (inv *invocation) open() (Source, error) {
	raw, err := command.ReadInput("config", inv.args.Config)
	if err != nil {
		return nil, err
	}
	return inv.openConfig(raw)
}

func (inv *invocation) openConfig(raw []byte) (Source, error) {
	return inv.connector.open(raw, inv.Secrets.Add)
}
