package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A runner of the Airbyte commands acknowledges nothing, so the log is released by the next start alone: these settings bound how long that takes.
func TestBounded_ATailEndsAndTheNextStartReleasesTheLog(t *testing.T) {
	for name, b := range map[string]struct {
		settings map[string]any
		says     string
		least    time.Duration
		idle     bool
	}{
		"by time":                     {map[string]any{"max_runtime": "2s"}, "ending this run as configured maxRuntime=2s", 2 * time.Second, false},
		"by time, on an idle server":  {map[string]any{"max_runtime": "2s"}, "ending this run as configured maxRuntime=2s", 2 * time.Second, true},
		"by the bytes of the log":     {map[string]any{"max_unacked_bytes": 2_000_000}, "so much of the log was not acknowledged", 0, false},
		"by whichever is there first": {map[string]any{"max_runtime": "1h", "max_unacked_bytes": 2_000_000}, "so much of the log was not acknowledged", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, c, a := captured(t)
			c.set(b.settings)
			begin := time.Now()
			r := c.tail()
			const size = 100_000 // of an update
			for n := 0; !b.idle && r.alive() && time.Since(begin) < patience; n++ {
				d.exec(fmt.Sprintf("UPDATE a SET v = repeat('%d', %d) WHERE id = 1", n%10, size))
			}
			r.succeeds() // exit 0, and no record without a STATE
			if took := time.Since(begin); took < b.least || took > patience {
				t.Errorf("it ended after %s, want %s or a little more", took, b.least)
			}
			if !strings.Contains(r.said(), b.says) {
				t.Errorf("it does not say %q:\n%s", b.says, r.said())
			}
			// A checkpoint may come 8 MiB late.
			read := size * r.count(func(rec record) bool { return rec.op == "u" })
			if limit, ok := b.settings["max_unacked_bytes"].(int); ok && (read < limit || read > limit+10<<20) {
				t.Errorf("it ended after about %d bytes of log, want %d or a little more", read, limit)
			}
			if status := r.status(a.Stream); status != "COMPLETE" && status != "INCOMPLETE" {
				t.Errorf("the last status of the stream is %q", status)
			}
			before := d.confirmed()
			c.set(map[string]any{"max_runtime": "0s", "max_unacked_bytes": 0}).catchUp()
			if at := d.confirmed(); !b.idle && at == before {
				t.Errorf("the next start left the slot at %s", at)
			}
			c.equal(a)
		})
	}
}

// confirmed is up to where the slot is confirmed.
func (d *database) confirmed() string {
	d.t.Helper()
	return d.one("SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = '" + d.slot + "'")
}

// alive tells whether the output has not ended yet.
func (r *run) alive() bool {
	r.Lock()
	defer r.Unlock()
	return !r.Ended()
}
