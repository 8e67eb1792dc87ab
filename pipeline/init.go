package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/runner"
)

// initialize discovers and writes a pipeline's file. It does not touch one that is there.
func (inv *invocation) initialize() (int, error) {
	if len(inv.args) != 1 || inv.flags.Source == nil || inv.flags.Sink == nil {
		return 1, command.Problem("init takes FILE, --source and --sink", "pipeline init shop.yaml --source source-postgres --source-config source.json --sink materialize-postgres --sink-config sink.json")
	}
	path := inv.args[0]
	if _, err := os.Stat(path); err == nil {
		return 1, refuseOverwrite(path)
	}
	head, err := skeleton(&inv.flags)
	if err != nil {
		return 1, err
	}
	// What is given is what the file will hold, so it is read as the file is, relative to its folder.
	f, err := config.Parse(path, append(bytes.Clone(head), "streams: ['*']\n"...))
	if err != nil {
		return 1, err
	}
	inv.Secrets.Add(f.Secrets)
	names, err := runner.Streams(context.Background(), runner.Options{File: f, Secrets: &inv.Secrets})
	if err != nil {
		return 1, err
	}
	if inv.flags.Streams != nil {
		if names, err = runner.Matching(names, *inv.flags.Streams); err != nil {
			return 1, err
		}
	}
	text := append([]byte("# Written by pipeline init. Next: pipeline check, then pipeline run.\n"), head...)
	text = append(text, "streams:\n"...)
	for _, name := range names {
		line, marshalErr := yaml.Marshal(name)
		if marshalErr != nil {
			return 1, fmt.Errorf("writing the name %q: %w", name, marshalErr)
		}
		text = append(append(text, "  - stream: "...), line...)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 1, refuseOverwrite(path)
	}
	if err == nil {
		_, err = out.Write(text)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return 1, fmt.Errorf("writing %s: %w", path, err)
	}
	fmt.Fprintf(inv.Stdout, "%s: %d streams.\n", path, len(names))
	return 0, nil
}

func refuseOverwrite(path string) error {
	return command.Problem(path+" is there already", "move it away, or choose another name: init does not overwrite")
}

// skeleton is the file without its streams.
func skeleton(f *flags) ([]byte, error) {
	var text bytes.Buffer
	for _, side := range []struct {
		key    string
		name   *string
		config *string
	}{{"source", f.Source, f.SourceConfig}, {"sink", f.Sink, f.SinkConfig}} {
		name, err := yaml.Marshal(*side.name)
		if err != nil {
			return nil, fmt.Errorf("writing the name of the %s: %w", side.key, err)
		}
		fmt.Fprintf(&text, "%s:\n  connector: %s", side.key, name)
		if side.config == nil {
			continue
		}
		raw, err := command.ReadInput(side.key+"-config", side.config)
		if err != nil {
			return nil, err
		}
		var members yaml.MapSlice
		if err := yaml.UnmarshalWithOptions(raw, &members, yaml.UseOrderedMap()); err != nil {
			return nil, command.Problem(*side.config+" is no mapping", strings.TrimSpace(yaml.FormatError(err, false, false)))
		}
		block, err := yaml.MarshalWithOptions(members, yaml.Indent(2))
		if err != nil {
			return nil, fmt.Errorf("writing the config of the %s: %w", side.key, err)
		}
		fmt.Fprintf(&text, "  config:\n")
		for line := range strings.Lines(string(block)) {
			text.WriteString("    " + line)
		}
	}
	return text.Bytes(), nil
}
