package standby

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
)

func TestBlockedCommitIsDecodedBeforeItIsVisible(t *testing.T) {
	c := pgtest.Start(t, pgtest.Options{})
	must(t, c.Exec("postgres", "CREATE TABLE seen (n int)"))
	must(t, c.Exec("postgres", "SELECT pg_create_logical_replication_slot('s', 'test_decoding')"))
	must(t, Block(c))
	done := make(chan error, 1)
	go func() { done <- c.Exec("postgres", "INSERT INTO seen VALUES (1)") }()

	count := func(sql string) string {
		rows, err := c.Query("postgres", sql)
		must(t, err)
		return rows[0][0]
	}
	const decoded = "SELECT count(*) FROM pg_logical_slot_peek_changes('s', NULL, NULL) WHERE data LIKE '%INSERT%'"
	for deadline := time.Now().Add(10 * time.Second); count(decoded) == "0"; {
		if time.Now().After(deadline) {
			t.Fatal("the commit never came out of the slot")
		}
	}
	if n := count("SELECT count(*) FROM seen"); n != "0" {
		t.Errorf("%s rows are visible while the commit waits, want none", n)
	}
	select {
	case err := <-done:
		t.Fatalf("the commit did not wait: %v", err)
	default:
	}
	must(t, Release(c))
	must(t, <-done)
	if n := count("SELECT count(*) FROM seen"); n != "1" {
		t.Errorf("%s rows are visible after the release, want 1", n)
	}
}

func TestToggleEndsReleased(t *testing.T) {
	c := pgtest.Start(t, pgtest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && strings.Count(c.Log(), "\"synchronous_standby_names\" changed to \""+absent) < 3 {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	times, err := Toggle(ctx, c, 1, 40*time.Millisecond, 20*time.Millisecond)
	if err != nil || times < 3 {
		t.Errorf("blocked %d times, %v, want at least 3", times, err)
	}
	rows, err := c.Query("postgres", "SHOW synchronous_standby_names")
	if err != nil || rows[0][0] != "" {
		t.Errorf("left at %v, %v", rows, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
