package main

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// A wait is told of while it lasts, by the name of the table and of who is in the way.
func TestSession_WaitsForLocks(t *testing.T) {
	s := newSite(t, 15)
	b := bind("t", 1, "id integer!", "v string", "flow_document")
	s.apply(nil, b)
	r := s.open(b)
	r.commit(`{"n":1}`, `{"id":1,"v":"x"}`)
	hook := listen(t)
	r.tr.session.patience = 20 * time.Millisecond
	r.commit(`{"n":2}`, `{"id":2,"v":"x"}`)
	other, err := s.config.connect(t.Context(), map[string]string{"application_name": "some editor"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.close)
	for name, sql := range map[string]string{
		"the table": "LOCK TABLE lake.t", "a row": "UPDATE lake.t SET v = 'y' WHERE id = 1",
	} {
		hook.Reset()
		if err := other.run(t.Context(), "BEGIN; "+sql); err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(fmt.Sprintf(`^waiting for a lock of table lake\.t, in the way of which is pid %s \(some editor, idle in transaction, since 20\S+Z\) \(for \d+s so far\)$`, other.pid))
		told := func() int {
			n := 0
			for _, e := range hook.AllEntries() {
				if e.Level == logrus.WarnLevel && said.MatchString(e.Message) {
					n++
				}
			}
			return n
		}
		stored := make(chan error, 1)
		go func() { stored <- r.store(put{0, `+{"id":1,"v":"z"}`}) }()
		for deadline := time.Now().Add(30 * time.Second); told() < 2 && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if told() < 2 {
			t.Errorf("waiting for %s: it was not told of twice: %s", name, logged(hook))
		}
		if err := other.run(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := <-stored; err != nil {
			t.Fatal(err)
		}
		if _, err := r.tr.Commit(t.Context(), []byte(`{"n":3}`)); err != nil {
			t.Fatal(err)
		}
	}
	hook.Reset()
	if err := r.tr.session.run(t.Context(), "SELECT pg_sleep(0.3)"); err != nil {
		t.Fatal(err)
	}
	equal(t, "of a statement that is long", logged(hook), "")
}
