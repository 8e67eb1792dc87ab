// Command demo copies a small shop database into another one while it changes, kills the runner, the source and the sink in turn, lets them go on, and
// compares both databases, column by column. It ends with "demo: equal" and 0, or with "demo: DIFFERENT" and 1. With BREAK=1 in the environment one value
// is changed before the comparison, which must be found.
//
// It needs bin/pipeline, bin/source-postgres and bin/materialize-postgres (make build) and PostgreSQL 15; make demo sees to all of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
	"github.com/estuary/connectors/testsupport/binary"
)

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

// The databases.
const (
	shopName = "shop"
	lakeName = "lake"
)

// demo returns whether the copy equals the shop; an error: it could not find out.
func demo(ctx context.Context, broken bool) (equal bool, err error) {
	programs, err := findPrograms()
	if err != nil {
		return false, err
	}
	begun := time.Now()
	cluster, err := pgtest.New(pgtest.Options{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	for _, name := range []string{shopName, lakeName} {
		if err = cluster.Exec("postgres", "CREATE DATABASE "+name); err != nil {
			return false, err
		}
	}
	source, err := pgx.Connect(ctx, cluster.DSN(shopName))
	if err != nil {
		return false, fmt.Errorf("connecting to the shop: %w", err)
	}
	defer source.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the server goes, too
	sink, err := pgx.Connect(ctx, cluster.DSN(lakeName))
	if err != nil {
		return false, fmt.Errorf("connecting to the copy: %w", err)
	}
	defer sink.Close(context.WithoutCancel(ctx)) //nolint:errcheck // likewise
	if err = openShop(ctx, source); err != nil {
		return false, err
	}
	fmt.Printf("a shop of %s customers, %s orders and %s items is open (PostgreSQL %d on %s, %.1f s)\n",
		grouped(customers), grouped(orders), grouped(items), cluster.Version, cluster.Addr(), time.Since(begun).Seconds())

	copier, err := newCopier(programs, cluster, source, sink)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, copier.close()) }()
	trade, err := startTrade(ctx, cluster.DSN(shopName))
	if err != nil {
		return false, err
	}
	err = copier.killAndResume(ctx, trade)
	if err = errors.Join(err, trade.Stop()); err != nil {
		return false, err
	}
	fmt.Printf("the shop has closed after %s transactions; catching up\n", grouped(trade.Transactions()))
	if err = copier.finish(ctx); err != nil {
		return false, err
	}
	if broken {
		if _, err = source.Exec(ctx, breakOneValue); err != nil {
			return false, fmt.Errorf("changing one value: %w", err)
		}
		fmt.Println("BREAK=1: one value was changed after the copy had ended")
	}
	equal, err = report(ctx, source, sink, copier, trade)
	fmt.Printf("%.0f s in all\n", time.Since(begun).Seconds())
	return equal, err
}

// findPrograms returns the folder that holds the three: beside this binary, where make demo puts them, or the clone's bin folder.
func findPrograms() (string, error) {
	var places, missing []string
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Dir(self))
	}
	if root, err := binary.ModuleRoot(); err == nil {
		places = append(places, filepath.Join(root, "bin"))
	}
	for _, place := range places {
		missing = nil
		for _, name := range []string{"pipeline", "source-postgres", "materialize-postgres"} {
			if info, err := os.Stat(filepath.Join(place, name)); err != nil || info.IsDir() {
				missing = append(missing, name)
			}
		}
		if missing == nil {
			return place, nil
		}
	}
	return "", fmt.Errorf("finding %s: not in %v: run make build", strings.Join(missing, ", "), places)
}
