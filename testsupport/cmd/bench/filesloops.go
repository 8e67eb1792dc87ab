package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/linkedin/goavro/v2"
)

// Commands that make this program a reference, so that its CPU time is a process's own.
const (
	validLoopCommand = "valid-loop"
	avroLoopCommand  = "avro-loop"
)

// validLoop does nothing but ask encoding/json whether each line of a file is valid.
func validLoop(args []string) error {
	return withFile(args, func(in io.Reader) error {
		lines := bufio.NewScanner(in)
		lines.Buffer(make([]byte, readBytes), 64<<20)
		n := 0
		for lines.Scan() {
			if !json.Valid(lines.Bytes()) {
				return fmt.Errorf("line %d is not valid", n)
			}
			n++
		}
		return lines.Err()
	})
}

// avroLoop decodes a container file by goavro and marshals each record.
func avroLoop(args []string, out io.Writer) error {
	return withFile(args, func(in io.Reader) error {
		records, err := goavro.NewOCFReader(bufio.NewReaderSize(in, readBytes))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(out, 64<<10)
		for records.Scan() {
			record, err := records.Read()
			if err != nil {
				return err
			}
			line, err := json.Marshal(record)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return errors.Join(records.Err(), w.Flush())
	})
}

func withFile(args []string, f func(io.Reader) error) error {
	if len(args) != 1 {
		return errors.New("reading a file: its name is missing")
	}
	in, err := os.Open(args[0])
	if err == nil {
		err = errors.Join(f(in), in.Close())
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[0], err)
	}
	return nil
}
