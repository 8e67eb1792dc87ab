package command

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/estuary/connectors/internal/airbyte"
	"github.com/estuary/connectors/protocol/config"
)

// Secrets is what no output may show; it grows when a config has been read.
type Secrets struct {
	mu   sync.RWMutex
	list []string
}

// Add takes what config.Secrets found.
func (s *Secrets) Add(list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(slices.Clone(s.list), list...)
}

// Redact replaces the secrets in a text.
func (s *Secrets) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return config.Redact(text, s.list)
}

// ConfigureLogging sends logrus where this run's logs belong: to a person's terminal as text, to an Airbyte runner as LOG messages on stdout (one of them
// never drains stderr), to Flow as JSON on stderr.
func (p *Process) ConfigureLogging(flow, debug bool) {
	s := &p.Secrets
	wanted := os.Getenv("LOG_LEVEL")
	level, err := logrus.ParseLevel(wanted)
	if err != nil {
		level = logrus.InfoLevel
	}
	if err != nil && wanted != "" {
		defer logrus.WithField("LOG_LEVEL", wanted).Warn("this is no log level, so info is used: write error, warn, info, debug or trace")
	}
	if debug {
		level = max(level, logrus.DebugLevel)
	}
	logrus.SetLevel(level)
	logrus.SetOutput(p.Stderr)
	switch {
	case flow && !p.StderrTerminal:
		logrus.SetFormatter(redacting{s, &logrus.JSONFormatter{}})
	case flow || p.StderrTerminal:
		logrus.SetFormatter(redacting{s, &logrus.TextFormatter{FullTimestamp: true}})
	default:
		logrus.SetFormatter(redacting{s, airbyteFormatter{}})
		logrus.SetOutput(p.Stdout)
	}
}

// redacting removes secrets from an entry before another formatter sees it, so that it cannot spoil that one's quoting.
type redacting struct {
	secrets *Secrets
	next    logrus.Formatter
}

func (r redacting) Format(e *logrus.Entry) ([]byte, error) {
	clean := *e
	clean.Message = r.secrets.Redact(e.Message)
	clean.Data = make(logrus.Fields, len(e.Data))
	for name, value := range e.Data {
		switch value.(type) {
		case bool, int, int32, int64, uint, uint32, uint64, float64:
			clean.Data[name] = value
		default:
			clean.Data[name] = r.secrets.Redact(fmt.Sprint(value))
		}
	}
	return r.next.Format(&clean)
}

// airbyteFormatter makes LOG messages.
type airbyteFormatter struct{}

func (airbyteFormatter) Format(e *logrus.Entry) ([]byte, error) {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, name := range slices.Sorted(maps.Keys(e.Data)) {
		fmt.Fprintf(&b, " %s=%v", name, e.Data[name])
	}
	return airbyte.AppendLog(nil, airbyteLevels[e.Level], b.String()), nil
}

var airbyteLevels = map[logrus.Level]string{
	logrus.PanicLevel: "FATAL", logrus.FatalLevel: "FATAL", logrus.ErrorLevel: "ERROR", logrus.WarnLevel: "WARN",
	logrus.InfoLevel: "INFO", logrus.DebugLevel: "DEBUG", logrus.TraceLevel: "TRACE",
}
