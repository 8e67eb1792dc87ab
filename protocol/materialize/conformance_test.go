package materialize

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/estuary/connectors/protocol/protocoltest"
)

// TestConformance holds the main to what runners do with sinks, with a shelf that keeps the checkpoint, and one that leaves it to the runner.
func TestConformance(t *testing.T) {
	for name, staged := range map[string]bool{"Keeps": false, "Staged": true} {
		t.Run(name, func(t *testing.T) {
			protocoltest.Sink(t, func(tb testing.TB) *protocoltest.SinkFixture { return shelfFixture(tb, staged) })
		})
	}
}

func shelfFixture(tb testing.TB, staged bool) *protocoltest.SinkFixture {
	tb.Helper()
	dir := tb.TempDir()
	path, script := filepath.Join(dir, "shelf"), filepath.Join(dir, "materialize-shelf")
	// The variable reaches the process through a script, so that it is no matter who starts it.
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nBE_A_CONNECTOR=1 exec %s \"$@\"\n", os.Args[0]), 0o700); err != nil { //nolint:gosec // it is run
		tb.Fatal(err)
	}
	config := func(password string) json.RawMessage {
		return fmt.Appendf(nil, `{"path":%q,"staged":%v,"password":%q}`, path, staged, password)
	}
	return &protocoltest.SinkFixture{
		Binary: script, Config: config("open-sesame"), Refused: []json.RawMessage{config("open-barley")}, Secrets: []string{"open-sesame", "open-barley"},
		KeepsCheckpoint: !staged,
		Rows: func(_ context.Context, table string) ([]json.RawMessage, error) {
			c, readErr := (&shelf{config: shelfConfig{Path: path}}).read()
			var list []json.RawMessage
			for _, row := range c.Tables["main."+table] {
				var fields map[string]json.RawMessage
				if err := json.Unmarshal(row, &fields); err != nil {
					return nil, err
				}
				fields["flow_document"] = fields["Doc"]
				delete(fields, "Doc")
				renamed, err := json.Marshal(fields)
				if err != nil {
					return nil, err
				}
				list = append(list, renamed)
			}
			return list, readErr
		},
	}
}
