package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestLoopWriter_LinesAreJSONOfTheGivenLength(t *testing.T) {
	var out bytes.Buffer
	w := &loopWriter{out: &out, lineBytes: 700}
	rows := 0
	for rows < 500 { // beyond a block
		if _, err := w.Write([]byte("1\t2\tsay \"hi\"\tback\\\\slash\t5\t6\t7\t{a,b}\t{}\tt\t11\t12\tlast\n")); err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != rows {
		t.Fatalf("%d lines of %d rows", len(lines), rows)
	}
	for _, line := range lines {
		var m struct {
			Record struct{ Data map[string]string }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if d := m.Record.Data; len(line)+1 != 700 || d["id"] != "1" || d["name"] != `say "hi"` || d["city"] != `back\\slash` || d["note"] != "last" {
			t.Fatalf("%d bytes, %v", len(line)+1, d)
		}
	}
}
