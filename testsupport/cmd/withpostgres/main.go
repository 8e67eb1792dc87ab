// Command withpostgres runs another command beside a private PostgreSQL server, and takes the server away when the command ends.
//
//	withpostgres [-version 15] [-sql FILE] COMMAND [ARGUMENT...]
//
// The command finds the server by libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE), and its programs, psql among them, first on PATH.
// withpostgres ends with the command's exit code.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/estuary/connectors/internal/pgtest"
)

func main() {
	version := flag.Int("version", pgtest.DefaultVersion, "major version of the server")
	script := flag.String("sql", "", "file with statements to run before the command")
	flag.Parse()
	code, err := run(*version, *script, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(version int, script string, argv []string) (code int, err error) {
	if len(argv) == 0 {
		return 2, errors.New("name the command to run")
	}
	// Ctrl-C goes to the command, too: the server has to outlive it.
	signal.Ignore(syscall.SIGINT)
	cluster, err := pgtest.New(pgtest.Options{Version: version})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if script != "" {
		statements, readErr := os.ReadFile(script)
		if readErr != nil {
			return 1, fmt.Errorf("reading the statements: %w", readErr)
		}
		if err := cluster.Exec("postgres", string(statements)); err != nil {
			return 1, err
		}
	}
	programs, err := pgtest.BinDir(version)
	if err != nil {
		return 1, err
	}
	host, _, _ := strings.Cut(cluster.Addr(), ":")
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...) //nolint:gosec // that is what this command is for
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "PGHOST="+host, "PGPORT="+strconv.Itoa(cluster.Port), "PGUSER="+pgtest.User, "PGPASSWORD="+pgtest.Password,
		"PGDATABASE=postgres", "PATH="+programs+":"+os.Getenv("PATH"))
	if err := cmd.Run(); err != nil {
		ended := new(exec.ExitError)
		if errors.As(err, &ended) && ended.ExitCode() > 0 {
			return ended.ExitCode(), nil
		}
		return 1, fmt.Errorf("running %s: %w", argv[0], err)
	}
	return 0, nil
}
