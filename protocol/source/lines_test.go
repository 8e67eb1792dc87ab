package source

import (
	"bytes"
	"encoding/json"
	"testing"
)

// lineChecker is a stdout that insists on whole lines, each of them one JSON object.
type lineChecker struct {
	bytes.Buffer
	t *testing.T
}

func (l *lineChecker) Write(p []byte) (int, error) {
	l.t.Helper()
	if !bytes.HasSuffix(p, []byte("\n")) {
		l.t.Errorf("a write does not end with a newline: %q", p)
	}
	for line := range bytes.Lines(p) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			l.t.Errorf("a line is no JSON object: %q: %v", line, err)
		}
	}
	return l.Buffer.Write(p)
}
