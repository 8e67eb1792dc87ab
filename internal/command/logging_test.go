package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// bug materializations 18: a struct with functions in it made the logger drop the line (2023-03)
// bug materializations 19: headers with tokens were logged when a request failed (2026-07)
func TestLogging_EveryFieldIsTextWithoutSecrets(t *testing.T) {
	for name, flow := range map[string]bool{"flow": true, "airbyte": false} {
		var stdout, stderr bytes.Buffer
		p := &Process{Stdout: NewLines(&stdout), Stderr: &stderr, Now: time.Now}
		p.Secrets.Add([]string{"token-of-somebody"})
		p.ConfigureLogging(flow, false)
		logrus.WithFields(logrus.Fields{
			"plan": struct {
				Run  func()
				Next chan int
			}{func() {}, nil},
			"header": map[string][]string{"Authorization": {"Bearer token-of-somebody"}}, "err": errors.New("refused token-of-somebody"), "rows": 7,
		}).Warn("asking with token-of-somebody failed")
		logrus.SetOutput(io.Discard)
		line := stderr.String() + stdout.String()
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil || strings.Contains(line, "somebody") || strings.Count(line, "***") != 3 || !strings.Contains(line, "7") || !strings.Contains(line, "plan") {
			t.Errorf("%s: %v: %s", name, err, line)
		}
	}
}
