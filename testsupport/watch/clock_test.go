package watch

import (
	"testing"
	"time"
)

func TestClock_LeavesOutWhatTheMachineDidNotGive(t *testing.T) {
	c := StartClock()
	time.Sleep(20 * time.Millisecond)
	c.late(punctual) // as late as any machine
	c.late(time.Hour)
	if took := c.Took(); took < -time.Hour || took > time.Minute-time.Hour {
		t.Errorf("an hour of 20 ms lost: the clock shows %s", took)
	}
}
