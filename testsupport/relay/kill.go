package relay

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// carryOut writes the marker and kills whom the plan names. The relay and its connector die with the runner.
func carryOut(path string, s settings, p Plan, who life, answered bool) error {
	if err := writeFile(path+markerFile, Fired{p.ID, p.Point, p.Victim, who.Connector, answered}); err != nil {
		return err
	}
	var failed []error
	if p.Victim == Source || p.Victim == All {
		var source int
		if err := readFile(s.SourcePID, &source); err != nil || source == 0 {
			failed = append(failed, err, errors.New("there is no source to kill"))
		} else {
			failed = append(failed, kill(source))
		}
	}
	if p.Victim == Sink || p.Victim == All {
		failed = append(failed, kill(who.Connector))
	}
	if p.Victim == Runner && p.Answer == Unanswered {
		// It stands still, but a runner's end wakes it (SIGHUP and SIGCONT go to a group of processes that is left alone) before it dies, too: it would
		// get on with the request. The runner is not to see that it has gone.
		freeze(who.Runner)
		failed = append(failed, kill(who.Connector))
	}
	if p.Victim == Sink || p.Victim == Source {
		// They may have been frozen.
		failed = append(failed, ignoreGone(syscall.Kill(who.Runner, syscall.SIGCONT)), ignoreGone(syscall.Kill(who.Connector, syscall.SIGCONT)))
	} else {
		failed = append(failed, kill(who.Runner))
	}
	return errors.Join(failed...)
}

func kill(pid int) error { return ignoreGone(syscall.Kill(pid, syscall.SIGKILL)) }

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// freeze stops a process and returns when all its threads stand still.
func freeze(pid int) {
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline) && !frozen(pid); time.Sleep(100 * time.Microsecond) {
	}
}

func frozen(pid int) bool {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	if err != nil || len(threads) == 0 {
		return true // it is gone
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // this thread is gone
		}
		_, state, _ := strings.Cut(string(text), ") ")
		if !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
