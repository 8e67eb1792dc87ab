package pgwire

import "time"

// pacer keeps a fast server from waking us for each of its small writes: a COPY comes in pieces of 8 KiB, and a walsender writes every single change by
// itself, so that wake-ups would cost more than everything else that is done with a row. While many reads follow each other closely, it pauses before the
// next one and lets the kernel's buffer fill. Data that comes now and then is read at once. The zero value never pauses.
//
// Sleeping alone would not do: the runtime's poller is woken for every segment that arrives, whether anybody waits for it or not. So the socket's low-water
// mark is raised during the pause.
type pacer struct {
	sock   *socket // nil: read as soon as there is something
	pause  time.Duration
	last   time.Time // end of the last read or pause
	rapid  int       // reads that followed each other closely
	raised bool      // the low-water mark is raised
}

const (
	// Pauses are far below what a reader of changes would notice. Each wake-up costs about as much as twenty rows, so fewer and larger reads are what counts;
	// but a COPY fills the kernel's buffer in a few milliseconds, and the server must not wait for us.
	copyPause = 2 * time.Millisecond
	logPause  = 8 * time.Millisecond
	// paceAfter so many rapid reads: answers of a few messages are never delayed.
	paceAfter = 8
	// rapidGap between two reads, or a pause and a read: a longer wait shows that the server has nothing more to send.
	rapidGap = 10 * time.Millisecond
	// lowWater bytes in the kernel's buffer wake the poller during a pause. Setting it makes the kernel enlarge the buffer to hold twice as much, so that the
	// server can go on writing meanwhile.
	lowWater = 512 << 10
)

// before is called before a read.
func (p *pacer) before() {
	// Without TLS a read takes everything that has arrived; with it, one record, and there may be a hundred.
	if p.sock == nil || p.rapid < paceAfter || p.sock.pending() {
		p.lower()
		return
	}
	if !p.raised {
		if p.sock.setLowWater(lowWater) != nil {
			p.sock = nil
			return
		}
		p.raised = true
	}
	time.Sleep(p.pause)
	p.last = time.Now()
	if p.sock.tls || !p.sock.pending() { // with TLS, what is pending may be a part of a record
		p.lower()
	}
}

// lower sets the low-water mark back: a read that had to wait for more than one byte might wait for ever.
func (p *pacer) lower() {
	if p.raised {
		_ = p.sock.setLowWater(1) // raising it worked
		p.raised = false
	}
}

// after is called after a read that brought something. It returns the time.
func (p *pacer) after() time.Time {
	now := time.Now()
	switch {
	case now.Sub(p.last) > rapidGap:
		p.rapid = 0
	case p.rapid < paceAfter:
		p.rapid++
	}
	p.last = now
	return now
}

// idle is called after a read that ended without anything.
func (p *pacer) idle() { p.rapid = 0 }

// stop ends the pacing.
func (p *pacer) stop() {
	p.lower()
	*p = pacer{}
}
