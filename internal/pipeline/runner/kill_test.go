package runner_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// scenario is a log in two halves, and what both tables hold after it.
func scenario() (before, after, things, events string) {
	var first, second strings.Builder
	first.WriteString(itemsSchema + eventsSchema)
	names := map[int]string{}
	var list []string
	for i := 1; i <= 20; i++ {
		names[i] = fmt.Sprint("first ", i)
		first.WriteString(item(i, names[i], "c") + event(i))
		list = append(list, fmt.Sprint(i))
		if i%5 == 0 {
			first.WriteString(commit)
		}
	}
	for i := 15; i <= 40; i++ {
		op := "u"
		if i > 20 {
			op = "c"
		}
		names[i] = fmt.Sprint("second ", i)
		second.WriteString(item(i, names[i], op) + event(i+100))
		list = append(list, fmt.Sprint(i+100))
		if i%4 == 0 {
			second.WriteString(item(i-3, "gone", "d"))
			delete(names, i-3)
			second.WriteString(commit)
		}
	}
	second.WriteString(commit)
	var rows []string
	for i := 1; i <= 40; i++ {
		if name, ok := names[i]; ok {
			rows = append(rows, fmt.Sprintf("[%d]%q", i, name))
		}
	}
	return first.String(), second.String(), strings.Join(rows, " "), strings.Join(list, " ")
}

// runToTheEnd runs until a run succeeds: the runner may be killed on the way.
func (s *shop) runToTheEnd() (runs int) {
	s.t.Helper()
	for runs = 1; runs <= 5; runs++ {
		_, stderr, err := s.try("run", "--once", "FILE")
		if err == nil {
			return runs
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
			s.t.Fatalf("the runner ended by itself: %v\n%s", err, stderr)
		}
	}
	s.t.Fatal("the runner never came to an end")
	return runs
}

func TestKill_EveryPointOnce(t *testing.T) {
	points := []struct {
		side   string
		staged bool
		names  []string
	}{
		{"sink", false, []string{"opening", "opened", "acknowledge", "load", "flush", "store", "startCommit", "commit", "saved", "committed", "applying", "applied"}},
		{"sink", true, []string{"load", "flush", "store", "startCommit", "saved", "committed", "acknowledge", "effects"}},
		{"source", false, []string{"opening", "document", "checkpoint", "acknowledged"}},
	}
	before, after, things, events := scenario()
	for _, p := range points {
		for _, name := range p.names {
			for _, killsRunner := range []bool{false, true} {
				victim := p.side
				if killsRunner {
					victim = "runner"
				}
				t.Run(fmt.Sprintf("%s dies at the %s's %s, staged %v", victim, p.side, name, p.staged), func(t *testing.T) {
					t.Parallel()
					s := newShop(t)
					s.sink["staged"] = p.staged
					s.source["every"], s.source["pause"] = 10, 30
					s.append(before)
					s.must("run", "--once", "FILE")
					s.append(after)
					point := object{"name": name, "runner": killsRunner, "marker": s.path("marker"), "nth": 2}
					if name == "opening" || name == "opened" || name == "applying" || name == "applied" {
						point["nth"] = 1
					}
					if p.side == "sink" {
						s.sink["crash"] = point
					} else {
						s.source["crash"] = point
					}
					s.runToTheEnd()
					if _, err := os.Stat(s.path("marker")); err != nil {
						t.Error("nobody died: the point was not reached")
					}
					s.expect("things", "name", things)
					s.expect("events", "id", events)
				})
			}
		}
	}
}

// A reset that is cut short is asked for again: the table holds what came after it, and nothing twice.
func TestKill_Reset(t *testing.T) {
	for _, c := range []struct{ side, name string }{{"source", "reset"}, {"sink", "ending"}, {"sink", "applying"}, {"sink", "applied"}, {"sink", "opening"}} {
		for _, killsRunner := range []bool{false, true} {
			t.Run(fmt.Sprintf("at the %s's %s, the runner %v", c.side, c.name, killsRunner), func(t *testing.T) {
				t.Parallel()
				s := newShop(t)
				s.append(itemsSchema + eventsSchema + event(1) + item(1, "one", "c") + commit)
				s.must("run", "--once", "FILE")
				s.append(`{"stream":"events","reset":"TRUNCATE"}` + "\n" + event(5) + event(6) + commit)
				point := object{"name": c.name, "runner": killsRunner, "marker": s.path("marker"), "backfill": c.side == "sink" && c.name != "ending"}
				s.source["crash"] = point
				if c.side == "sink" {
					delete(s.source, "crash")
					s.sink["crash"] = point
				}
				s.runToTheEnd()
				if _, err := os.Stat(s.path("marker")); err != nil {
					t.Error("nobody died: the point was not reached")
				}
				s.expect("events", "id", "5 6")
				s.expect("things", "name", `[1]"one"`)
			})
		}
	}
}
