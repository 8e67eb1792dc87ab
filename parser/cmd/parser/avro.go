package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/estuary/connectors/parser/avro"
)

// maxSchema bounds the text of an Avro schema, in bytes.
const maxSchema = 16 << 20

// avroSchema writes the JSON schema of what stdin or a file holds: a container file, or a schema as JSON text.
func avroSchema(p process, a arguments) error {
	_, file, err := input(p, a.File)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the input: %w", err)
	}
	s, err := schemaOf(in, string(magic) == "Obj\x01")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", s.JSONSchema(false))
	return err
}

func schemaOf(in io.Reader, container bool) (*avro.Schema, error) {
	if container {
		f, err := avro.NewFile(in, avro.Limits{})
		if err != nil {
			return nil, err
		}
		return f.Schema(), nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSchema))
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	s, err := avro.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the input is neither an Avro container file nor an Avro schema: %w", err)
	}
	return s, nil
}
