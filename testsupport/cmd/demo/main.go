// Command demo captures a small shop database while it changes, kills the capture five times, and compares what it printed with the tables. It ends with
// "demo: equal" and 0, or with "demo: DIFFERENT" and 1. With BREAK=1 in the environment one value is changed before the comparison, which must be found.
//
// It needs bin/source-postgres (make build) and PostgreSQL 15; make demo sees to both.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
)

const kills = 5

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	equal, err := demo(ctx, os.Getenv("BREAK") == "1")
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo: stopped:", err)
		os.Exit(1)
	case !equal:
		fmt.Println("demo: DIFFERENT")
	default:
		fmt.Println("demo: equal")
	}
	if !equal {
		os.Exit(1)
	}
	fmt.Println("next: make test, or make help for everything else")
}

// demo returns whether the output equals the tables; an error: it could not find out.
func demo(ctx context.Context, broken bool) (equal bool, err error) {
	connector, err := findConnector()
	if err != nil {
		return false, err
	}
	begun := time.Now()
	cluster, err := pgtest.New(pgtest.Options{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err = cluster.Exec("postgres", "CREATE DATABASE shop"); err != nil {
		return false, err
	}
	conn, err := pgx.Connect(ctx, cluster.DSN("shop"))
	if err != nil {
		return false, fmt.Errorf("connecting to the shop: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the server goes, too
	if err = openShop(ctx, conn); err != nil {
		return false, err
	}
	fmt.Printf("a shop of %s customers, %s orders and %s items is open (PostgreSQL %d on %s, %.1f s)\n",
		grouped(customers), grouped(orders), grouped(items), cluster.Version, cluster.Addr(), time.Since(begun).Seconds())

	capture, err := newCapture(ctx, connector, cluster)
	if err != nil {
		return false, err
	}
	trade, err := startTrade(ctx, cluster.DSN("shop"))
	if err != nil {
		return false, err
	}
	err = capture.killAndResume(ctx, trade)
	if err = errors.Join(err, trade.Stop()); err != nil {
		return false, err
	}
	fmt.Printf("the shop has closed after %s transactions; catching up\n", grouped(trade.Transactions()))
	if err = capture.finish(ctx); err != nil {
		return false, err
	}
	if broken {
		if _, err = conn.Exec(ctx, breakOneValue); err != nil {
			return false, fmt.Errorf("changing one value: %w", err)
		}
		fmt.Println("BREAK=1: one value was changed after the capture had ended")
	}
	equal, err = report(ctx, conn, capture)
	fmt.Printf("%.0f s in all\n", time.Since(begun).Seconds())
	return equal, err
}

// findConnector looks beside this binary, where make demo puts both, and in the clone's bin folder.
func findConnector() (string, error) {
	var places []string
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Dir(self))
	}
	if root, err := binary.ModuleRoot(); err == nil {
		places = append(places, filepath.Join(root, "bin"))
	}
	for _, place := range places {
		path := filepath.Join(place, "source-postgres")
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("finding source-postgres: it is not in %v: run make build", places)
}
