package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"
)

// logLine is one line of a connector's log.
type logLine struct {
	level   logrus.Level
	message string
	fields  map[string]any
}

// relay passes a connector's log on, with the side's name. The logger removes secrets.
type relay struct {
	side   string
	file   string // of the pipeline
	heard  func(logLine)
	mu     sync.Mutex
	last   string          // the last error
	kind   string          // what it says of its kind
	about  string          // the stream that the last error is about; "": all
	failed map[string]bool // streams that errors were about
	fenced atomic.Bool
	held   []logrus.Entry // what waits for release
	holds  bool
}

// hold keeps lines back until release.
func (r *relay) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = true
}

// release passes on what was held back.
func (r *relay) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.held {
		r.held[i].Log(r.held[i].Level, r.held[i].Message)
	}
	r.holds, r.held = false, nil
}

// tell logs a line, or holds it back; a connector that logs without end is not held for ever.
func (r *relay) tell(level logrus.Level, message string, fields logrus.Fields) {
	const most = 100
	entry := logrus.WithFields(fields)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds && len(r.held) < most {
		entry.Level, entry.Message = level, message
		r.held = append(r.held, *entry)
		return
	}
	entry.Log(level, message)
}

// maxLogLine bounds what is kept of one line in bytes.
const maxLogLine = 64 << 10

func (r *relay) follow(stderr io.Reader) {
	in := bufio.NewReaderSize(stderr, maxLogLine)
	for {
		line, err := in.ReadSlice('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			r.pass(line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (r *relay) pass(text []byte) {
	line := parseLog(text)
	line.message = r.exact(line)
	if line.level <= logrus.ErrorLevel {
		r.mu.Lock()
		r.last, r.kind = line.message, asText(line.fields["kind"])
		if r.about = asText(line.fields["stream"]); r.about != "" {
			if r.failed == nil {
				r.failed = map[string]bool{}
			}
			r.failed[r.about] = true
		}
		r.mu.Unlock()
	}
	if line.fields["class"] == "fenced" || strings.HasPrefix(line.message, "a newer session writes to this destination") {
		r.fenced.Store(true)
	}
	fields := logrus.Fields{}
	maps.Copy(fields, line.fields)
	fields["side"] = r.side
	r.tell(line.level, line.message, fields)
	if r.heard != nil {
		r.heard(line)
	}
}

// exact fills in what a connector does not know of the commands that it names: the pipeline's file and, where the line is about one, the stream.
func (r *relay) exact(line logLine) string {
	const command = "pipeline backfill "
	if r.file == "" {
		return line.message
	}
	message := strings.ReplaceAll(line.message, command+"FILE", command+r.file)
	if stream := asText(line.fields["stream"]); stream != "" {
		message = strings.ReplaceAll(message, command+r.file+" STREAM", command+r.file+" "+stream)
	}
	return message
}

func (r *relay) lastError() (said, kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	said = r.last
	if others := len(r.failed) - 1; r.about != "" && others > 0 {
		said += fmt.Sprintf(" (%d more of its streams have failed, as the lines before say", others)
		if strings.Contains(said, "pipeline backfill ") {
			said += "; pipeline backfill " + r.file + " '*' lets all start over"
		}
		said += ")"
	}
	return said, r.kind
}

// parseLog reads a line of JSON as the protocol describes it. Plain text is a warning, or an error when it looks like one.
func parseLog(text []byte) logLine {
	var members map[string]any
	if text[0] != '{' || json.Unmarshal(text, &members) != nil {
		line := logLine{level: logrus.WarnLevel, message: string(text)}
		if strings.HasPrefix(line.message, "panic:") || strings.HasPrefix(line.message, "fatal error:") || strings.Contains(strings.ToLower(line.message), "error") {
			line.level = logrus.ErrorLevel
		}
		return line
	}
	line := logLine{level: logrus.InfoLevel, fields: map[string]any{}}
	for name, value := range members {
		switch name {
		case "level", "lvl":
			if level, err := logrus.ParseLevel(asText(value)); err == nil {
				line.level = max(level, logrus.ErrorLevel) // a connector's end is not ours
			}
		case "message", "msg":
			line.message = asText(value)
		case "ts", "time", "timestamp":
		case "fields":
			if inner, ok := value.(map[string]any); ok {
				maps.Copy(line.fields, inner)
			}
		default:
			line.fields[name] = value
		}
	}
	return line
}

func asText(value any) string {
	s, _ := value.(string)
	return s
}
