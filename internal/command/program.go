package command

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/sirupsen/logrus"
)

// Program is a main's own part of a run.
type Program struct {
	Name, Version string
	MemoryBytes   int64 // sum of the buffers; the Go runtime is limited to 0.85 of it. 0: no limit
	Cores         int   // 0: as many as the machine has
	// Into is a pointer to the main's struct of flags, Common points to the part that every connector has.
	Into   any
	Common *Flags
	// Commands are called when the flags are read. An error becomes a TRACE ERROR and exit 1.
	Commands map[string]func() (exit int, err error)
	// Session serves Flow: there is no command.
	Session func() (exit int)
	Usage   func(w io.Writer)
}

// Run does what the command line asks for and returns the exit code.
func (p *Process) Run(m Program) (exit int) {
	if m.MemoryBytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(m.MemoryBytes * 85 / 100)
	}
	if m.Cores > 0 && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(m.Cores)
	}
	name, ignored, err := Parse(p.Args, m.Into)
	command, known := m.Commands[name]
	switch {
	case err != nil:
	case m.Common.Help:
		m.Usage(p.Stdout)
		return 0
	case m.Common.Version:
		fmt.Fprintln(p.Stdout, m.Name, m.Version)
		return 0
	case name != "" && !known:
		fmt.Fprintf(p.Stderr, "%s has no command %q.\n\n", m.Name, name)
		m.Usage(p.Stderr)
		return 2
	case name == "":
		p.ConfigureLogging(true, m.Common.Debug)
		return m.Session()
	}
	p.ConfigureLogging(false, m.Common.Debug)
	defer func() {
		if r := recover(); r != nil {
			exit = p.Fail(Panicked(r))
		}
	}()
	if err != nil {
		return p.Fail(err)
	}
	all, _ := flagNames(m.Into)
	for _, arg := range ignored {
		if flag := meant(arg, all); flag != "" {
			logrus.WithField("argument", arg).Warn("ignoring an unknown argument: did you mean " + flag + "?")
			continue
		}
		logrus.WithField("argument", arg).Debug("ignoring an unknown argument")
	}
	exit, err = command()
	if err != nil {
		return p.Fail(err)
	}
	return exit
}

// Usage prints a table of invocations and what they do, and what holds for each main.
func Usage(w io.Writer, table [][2]string, notes, docs string) {
	width := 0
	for _, line := range table {
		width = max(width, len(line[0]))
	}
	fmt.Fprint(w, "Usage:\n")
	for _, line := range table {
		fmt.Fprintf(w, "  %-*s  %s\n", width, line[0], line[1])
	}
	fmt.Fprint(w, `
  --debug    print more log lines (so does LOG_LEVEL=debug; error, warn, info and trace are other levels)
  --help, --version
`)
	if notes != "" {
		fmt.Fprint(w, "\n"+notes+"\n")
	}
	if docs != "" {
		fmt.Fprintf(w, "Documentation: %s\n", docs)
	}
}
