package source

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The Airbyte platform counts only RECORD and STATE as signs of life.
func TestKeepAlive_RepeatsAStateInSilence(t *testing.T) {
	for name, wire := range map[string]func() Wire{
		"plain":    func() Wire { return AirbyteWire(twoBindings()) },
		"extended": func() Wire { return ExtendedWire(twoBindings()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := &lineChecker{t: t}
				out := NewOut(got, wire(), twoBindings())
				s := script{t, out, nil}
				s.check(out.start())
				done, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					out.keepAlive(done)
				}()
				states := func(after time.Duration) int {
					out.mu.Lock()
					got.Reset()
					out.mu.Unlock()
					time.Sleep(after)
					synctest.Wait()
					out.mu.Lock()
					defer out.mu.Unlock()
					return strings.Count(got.String(), `{"type":"STATE"`)
				}
				if n := states(2*silence + time.Minute); n != 0 {
					t.Errorf("%d states before the first one, want none: there is nothing to repeat", n)
				}
				s.emit(func(b *Batch) { b.Patch(0, []byte(`{"n":1}`)) })
				if n := states(silence - time.Minute); n != 0 {
					t.Errorf("%d states in a short silence, want none", n)
				}
				if n := states(2 * silence); n != 2 {
					t.Errorf("%d states in a long silence, want 2", n)
				}
				s.emit(func(b *Batch) { b.End(append(b.Begin(0), `{}`...)) })
				if n := states(3 * silence); n != 0 {
					t.Errorf("%d states while records wait for theirs, want none", n)
				}
				close(done)
				<-ended
			})
		})
	}
}
