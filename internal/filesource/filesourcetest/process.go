package filesourcetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// process is a running connector.
type process struct {
	*service
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
	output output
	all    []byte // stdout of it
}

// start starts a command of the connector. Inputs that are nil have no flag.
func (v *service) start(command string, config, catalog, state []byte) *process {
	v.Helper()
	dir := v.TempDir()
	args := []string{command}
	for _, input := range []struct {
		name string
		text []byte
	}{{"config", config}, {"catalog", catalog}, {"state", state}} {
		if input.text == nil {
			continue
		}
		path := filepath.Join(dir, input.name+".json")
		if err := os.WriteFile(path, input.text, 0o600); err != nil {
			v.Fatal(err)
		}
		args = append(args, "--"+input.name, path)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.Context()), patience)
	v.Cleanup(cancel)
	p := &process{service: v, cmd: exec.CommandContext(ctx, v.Binary, args...)}
	p.cmd.Env = append(os.Environ(), v.Machine...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		v.Fatal(err)
	}
	p.stdout = bufio.NewReaderSize(stdout, 256<<10)
	if err := p.cmd.Start(); err != nil {
		v.Fatal(err)
	}
	return p
}

// until takes lines until there is enough, or no more. It returns whether there is enough.
func (p *process) until(enough func(*output) bool) bool {
	p.Helper()
	for !enough(&p.output) {
		line, err := p.stdout.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			p.Fatal(err)
		}
		if p.all = append(p.all, line...); len(p.all) > 1<<20 {
			p.all = p.all[:0] // secrets are looked for in short outputs
		}
		if err := p.output.take(line); err != nil {
			p.Fatal(err)
		}
	}
	return true
}

// kill ends the process as a crash does, and waits. What it has printed since is lost.
func (p *process) kill() {
	p.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, p.stdout) // it ends with the process
	_ = p.cmd.Wait()                     // it was killed
}

// stop ends the process as its runner does.
func (p *process) stop() *output {
	p.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.Fatal(err)
	}
	return p.wait()
}

// wait takes the lines to the end.
func (p *process) wait() *output {
	p.Helper()
	p.until(func(*output) bool { return false })
	if err := p.cmd.Wait(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			p.Fatal(err)
		}
	}
	p.output.code = p.cmd.ProcessState.ExitCode()
	for _, secret := range p.Secrets {
		if strings.Contains(string(p.all)+p.stderr.String(), secret) {
			p.Errorf("the output holds a secret: %.2000s", p.all)
		}
	}
	return &p.output
}

// run runs a command to its end.
func (v *service) run(command string, config, catalog, state []byte) *output {
	v.Helper()
	return v.start(command, config, catalog, state).wait()
}

// read reads the stream to its end, which must be a good one.
func (v *service) read(config, state []byte) *output {
	v.Helper()
	o := v.run("read", config, catalog(""), state)
	if o.code != 0 || len(o.errors) > 0 {
		v.Fatalf("exit %d: %q", o.code, o.errors)
	}
	return o
}

// catalog asks for the stream; more are further members of its root.
func catalog(more string) []byte {
	if more != "" {
		more = "," + more
	}
	return []byte(`{"streams":[{"stream":{"name":"` + bucket + `","json_schema":{},"supported_sync_modes":["incremental"]},"sync_mode":"incremental","destination_sync_mode":"append"}]` + more + `}`)
}
