package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgconn"
)

var copyBoth = msg('W', byte(0), uint16(0))

func xlog(start uint64, payload string) []byte {
	return msg('d', byte('w'), start, start+1, uint64(1_000_000), payload)
}

func keepalive(end uint64, reply byte) []byte {
	return msg('d', byte('k'), end, uint64(2_000_000), reply)
}

func startStream(t testing.TB, nc net.Conn, opts StreamOptions) *Stream {
	t.Helper()
	s, err := onConn(nc).StartReplication(t.Context(), "START_REPLICATION SLOT s LOGICAL 0/0", opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bug sql-cdc 53: estuary/connectors history: settings and notices during COPY BOTH killed the stream. They are passed over.
func TestStream_MessagesHoweverTheyArrive(t *testing.T) {
	sent := cat(
		notice, copyBoth, keepalive(9, 1), xlog(10, "Bxyz"), parameter, notice, msg('A', "x"), xlog(11, ""), xlog(12, "C"), keepalive(13, 0), timeout,
	)
	want := []string{"2 0 9 true ", "1 10 11 false Bxyz", "1 11 12 false ", "1 12 13 false C", "2 0 13 false "}
	eachSplit(t, sent, func(t *testing.T, nc *scripted) {
		s := startStream(t, nc, StreamOptions{})
		var got []string
		for {
			m, err := s.Next(-1)
			if err != nil {
				var refusal *pgconn.PgError
				if !errors.As(err, &refusal) || refusal.Code != "57014" {
					t.Fatalf("got %v", err)
				}
				if _, again := s.Next(-1); again != err {
					t.Errorf("then %v", again)
				}
				break
			}
			if at := time.UnixMicro(m.ServerTime).UTC().Year(); at != 2000 {
				t.Errorf("the server's time is in %d", at)
			}
			got = append(got, fmt.Sprint(m.Kind, m.Start, m.WALEnd, m.ReplyRequested, " "+string(m.Payload)))
		}
		if strings.Join(got, ";") != strings.Join(want, ";") {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// bug sql-cdc 54: estuary/connectors history: an end from the server was taken for the end of the capture.
func TestStream_EndByTheServerIsAnError(t *testing.T) {
	for name, sent := range map[string][]byte{
		"CopyDone":        msg('c'),
		"CommandComplete": msg('C', "START_REPLICATION\x00"),
		"closed":          {},
		"closed half-way": xlog(1, "abc")[:20],
	} {
		t.Run(name, func(t *testing.T) {
			s := startStream(t, &scripted{pieces: [][]byte{cat(copyBoth, sent)}}, StreamOptions{})
			if _, err := s.Next(-1); !errors.Is(err, ErrStreamEnded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStream_MalformedMessagesAreErrors(t *testing.T) {
	for name, sent := range map[string][]byte{
		"empty":            msg('d'),
		"unknown kind":     msg('d', "z123456789012345678901234567890"),
		"short XLogData":   msg('d', "w12345678123456781234567"),
		"short keepalive":  msg('d', "k1234567812345678"),
		"length below 4":   {'d', 0, 0, 0, 3},
		"unexpected":       msg('D', uint16(0)),
		"unexpected too":   msg('H'),
		"no such message":  msg('!'),
		"copy in response": msg('G', byte(0), uint16(0)),
	} {
		t.Run(name, func(t *testing.T) {
			s := startStream(t, &scripted{pieces: [][]byte{cat(copyBoth, sent)}}, StreamOptions{})
			var protocol *ProtocolError
			if _, err := s.Next(-1); !errors.As(err, &protocol) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// bug sql-cdc 82: estuary/connectors history: a very large row gave an error without the table's name. The head of the message has its OID.
func TestStream_MessageTooLarge(t *testing.T) {
	s := startStream(t, &scripted{pieces: [][]byte{cat(copyBoth, xlog(1, "I\x00\x00\x00\x2aN"+strings.Repeat("x", 5000)))}}, StreamOptions{MaxMessage: 4000})
	_, err := s.Next(-1)
	var large *MessageTooLargeError
	if !errors.As(err, &large) || large.Bytes != 5035 || large.Limit != 4000 {
		t.Fatalf("got %v", err)
	}
	if head := large.Head; head[0] != 'w' || binary.BigEndian.Uint32(head[26:]) != 42 {
		t.Errorf("got head %q", head)
	}
}

// bug sql-cdc 55: estuary/connectors history: a connection whose other end is gone without a word was waited on for ever.
func TestStream_SilenceIsAnError(t *testing.T) {
	c, server := piped(t)
	go func() { _, _ = server.Write(cat(copyBoth, keepalive(1, 0))) }()
	s, err := c.StartReplication(t.Context(), "START_REPLICATION", StreamOptions{ReceiveTimeout: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.Next(-1); err != nil || m.Kind != Keepalive {
		t.Fatalf("got %+v, %v", m, err)
	}
	begun, waits := time.Now(), 0
	for err = nil; err == nil; waits++ { // short waits do not hide it
		_, err = s.Next(5 * time.Millisecond)
	}
	if !errors.Is(err, ErrServerSilent) || time.Since(begun) < 20*time.Millisecond || waits < 2 {
		t.Errorf("got %v after %v and %d waits", err, time.Since(begun), waits)
	}
}

func TestStream_WaitEndsWithNothingAndLosesNothing(t *testing.T) {
	c, server := piped(t)
	step := make(chan struct{})
	whole := xlog(5, "hello")
	go func() {
		_, _ = server.Write(cat(copyBoth, whole[:9]))
		<-step
		_, _ = server.Write(whole[9:])
	}()
	s, err := c.StartReplication(t.Context(), "START_REPLICATION", StreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if m, err := s.Next(time.Millisecond); err != nil || m.Kind != Nothing {
			t.Fatalf("got %+v, %v", m, err)
		}
	}
	close(step)
	if m, err := s.Next(10 * time.Second); err != nil || string(m.Payload) != "hello" {
		t.Fatalf("got %+v, %v", m, err)
	}
}

func TestStream_ContextAndCloseUnblockNext(t *testing.T) {
	for name, stop := range map[string]func(*Stream, context.CancelFunc){
		"context": func(_ *Stream, cancel context.CancelFunc) { cancel() },
		"close":   func(s *Stream, _ context.CancelFunc) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c, server := piped(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _, _ = server.Write(copyBoth) }()
			s, err := c.StartReplication(ctx, "START_REPLICATION", StreamOptions{})
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(5*time.Millisecond, func() { stop(s, cancel) })
			if _, err := s.Next(-1); !errors.Is(err, context.Canceled) && !errors.Is(err, net.ErrClosed) {
				t.Errorf("got %v", err)
			}
			if err := s.SendStatus(1, 1, 1, false); err == nil {
				t.Error("a status was sent")
			}
		})
	}
}

func TestStream_Status(t *testing.T) {
	nc := &scripted{pieces: [][]byte{copyBoth}}
	s := startStream(t, nc, StreamOptions{})
	nc.written.Reset()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := s.SendStatus(3, 2, 1, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if nc.written.Len() != 10*statusSize {
		t.Fatalf("sent %d bytes", nc.written.Len())
	}
	for range 10 {
		got := nc.written.Next(statusSize)
		at := time.UnixMicro(int64(binary.BigEndian.Uint64(got[30:])) + postgresEpoch)
		want := msg('d', byte('r'), uint64(3), uint64(2), uint64(1), got[30:38], byte(1))
		if !bytes.Equal(got, want) || time.Since(at) < 0 || time.Since(at) > time.Minute {
			t.Errorf("sent %q at %v", got, at)
		}
	}
}

// Payloads stay as they are until their hold is released, whatever is read meanwhile, and the memory comes back.
func TestStream_HoldsKeepPayloads(t *testing.T) {
	sent := [][]byte{copyBoth}
	payload := func(i int) string {
		size := 1 + i*37%3000
		if i%500 == 499 {
			size = blockSize + i // a block of its own
		}
		return strings.Repeat(string(rune('a'+i%26)), size)
	}
	const n = 3000
	var all []byte
	for i := range n {
		all = append(all, xlog(uint64(i), payload(i))...)
	}
	for len(all) > 0 { // reads of uneven sizes
		size := min(len(all), 1+len(all)*7919%20000)
		sent = append(sent, all[:size])
		all = all[size:]
	}
	s := startStream(t, &scripted{pieces: sent}, StreamOptions{Blocks: 4})
	type batch struct {
		hold     Hold
		from     int
		payloads [][]byte
	}
	check := func(b *batch) {
		for i, p := range b.payloads {
			if string(p) != payload(b.from+i) {
				t.Errorf("payload %d changed", b.from+i)
			}
		}
		b.hold.Release()
	}
	out := make(chan *batch, 2)
	var consumer sync.WaitGroup
	consumer.Go(func() {
		for b := range out {
			check(b)
		}
	})
	b := &batch{}
	for i := range n {
		m, err := s.Next(-1)
		if err != nil || m.Start != uint64(i) {
			t.Fatalf("message %d: %+v, %v", i, m.Start, err)
		}
		b.payloads = append(b.payloads, m.Payload)
		if i%61 == 0 || s.Held() > 2*blockSize {
			s.Detach(&b.hold)
			if s.Held() != 0 {
				t.Errorf("%d bytes are held after Detach", s.Held())
			}
			out <- b
			b = &batch{from: i + 1}
		}
	}
	s.Detach(&b.hold)
	out <- b
	close(out)
	consumer.Wait()
	if _, err := s.Next(-1); !errors.Is(err, ErrStreamEnded) {
		t.Errorf("got %v", err)
	}
	if s.pool.out != 1 || len(s.pool.free) > 4 {
		t.Errorf("%d blocks are out, %d are free", s.pool.out, len(s.pool.free))
	}
	b.hold.Release() // again: nothing happens
	if s.pool.out != 1 {
		t.Errorf("%d blocks are out", s.pool.out)
	}
}

func TestStream_StopsReadingWhileTooMuchIsHeld(t *testing.T) {
	var sent []byte
	for i := range 100 {
		sent = append(sent, xlog(uint64(i), strings.Repeat("x", blockSize/4))...)
	}
	nc := &scripted{pieces: [][]byte{cat(copyBoth, sent)}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := onConn(nc).StartReplication(ctx, "START_REPLICATION", StreamOptions{Blocks: 3})
	if err != nil {
		t.Fatal(err)
	}
	var holds []*Hold
	messages := make(chan int)
	go func() {
		n := 0
		for {
			if _, err := s.Next(-1); err != nil {
				close(messages)
				return
			}
			n++
			h := new(Hold)
			s.Detach(h)
			holds = append(holds, h)
			messages <- n
		}
	}()
	last := 0
	for more := true; more; {
		select {
		case last = <-messages:
		case <-time.After(100 * time.Millisecond):
			more = false
		}
	}
	if last == 0 || last >= 12 {
		t.Fatalf("%d messages of a quarter block came while three blocks are allowed", last)
	}
	for _, h := range holds {
		h.Release()
	}
	if n, ok := <-messages; !ok || n != last+1 {
		t.Fatalf("after the release: %d, %v", n, ok)
	}
	cancel()
	for ok := true; ok; { // the wait for a block ends with the context
		_, ok = <-messages
	}
}

// A single goroutine that keeps more than the limit in one batch is not left waiting for itself.
func TestStream_OneBatchAboveTheLimitDoesNotDeadlock(t *testing.T) {
	var sent []byte
	for i := range 40 {
		sent = append(sent, xlog(uint64(i), strings.Repeat("x", blockSize/4))...)
	}
	s := startStream(t, &scripted{pieces: [][]byte{cat(copyBoth, sent)}}, StreamOptions{Blocks: 2})
	for range 40 {
		if _, err := s.Next(-1); err != nil {
			t.Fatal(err)
		}
	}
	if s.Held() < 10*blockSize {
		t.Errorf("%d bytes are held", s.Held())
	}
}

func TestStream_BufferedTellsWhetherNextReturnsAtOnce(t *testing.T) {
	two := cat(xlog(1, "a"), xlog(2, "b"))
	nc := &scripted{pieces: [][]byte{copyBoth, two[:len(two)-1], two[len(two)-1:]}}
	s := startStream(t, nc, StreamOptions{})
	for _, want := range []bool{false, false} { // before each message a read is needed
		reads := nc.reads
		if s.Buffered() != want {
			t.Errorf("Buffered is %v", !want)
		}
		if _, err := s.Next(-1); err != nil {
			t.Fatal(err)
		}
		if nc.reads == reads {
			t.Error("nothing was read")
		}
	}
	s = startStream(t, &scripted{pieces: [][]byte{cat(copyBoth, two)}}, StreamOptions{})
	for _, want := range []bool{true, true, false} { // all came with the answer
		if s.Buffered() != want {
			t.Errorf("Buffered is %v", !want)
		}
		_, _ = s.Next(-1)
	}
	if !s.Buffered() { // the error is at hand
		t.Error("Buffered is false after the end")
	}
}

// FuzzServer feeds anything to each reader: no panic, no endless loop, no memory beyond the limit.
func FuzzServer(f *testing.F) {
	f.Add(cat(rowDescription("a"), dataRow("1"), msg('C', "SELECT 1\x00"), ready('I')), uint8(3))
	f.Add(cat(copyOut(2), msg('d', "1\t\\N\n"), msg('c'), msg('C', "COPY 1\x00"), ready('I')), uint8(1))
	f.Add(cat(copyBoth, xlog(1, "abc"), keepalive(2, 1), timeout), uint8(200))
	f.Fuzz(func(t *testing.T, sent []byte, size uint8) {
		conn := func() *Conn {
			var pieces [][]byte
			for rest := bytes.Clone(sent); len(rest) > 0; {
				n := min(len(rest), int(size)+1)
				pieces = append(pieces, rest[:n])
				rest = rest[n:]
			}
			c := onConn(&scripted{pieces: pieces})
			c.SetMaxMessage(1 << 16)
			return c
		}
		c := conn()
		if _, err := c.Exec(t.Context(), "X"); err == nil && c.TxStatus() == 0 {
			t.Error("no status after success")
		}
		if r, err := conn().CopyOut(t.Context(), "X"); err == nil {
			for err == nil {
				var fields [][]byte
				if fields, err = r.Next(fields); err == nil && len(fields) != r.Columns() {
					t.Fatalf("%d values of %d", len(fields), r.Columns())
				}
			}
			var refusal *pgconn.PgError
			if usable := r.c.state == stateIdle; usable && err != io.EOF && !errors.As(err, &refusal) && !strings.Contains(err.Error(), "complete") {
				t.Fatalf("usable after %v", err)
			}
		}
		if s, err := conn().StartReplication(t.Context(), "X", StreamOptions{MaxMessage: 1 << 16}); err == nil {
			for err == nil {
				_, err = s.Next(-1)
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	var loop []byte
	for i := range 1000 {
		loop = append(loop, xlog(uint64(i), strings.Repeat("x", 300))...)
	}
	s := startStream(b, &endless{first: copyBoth, loop: loop, size: 64 << 10}, StreamOptions{})
	var hold Hold
	b.ReportAllocs()
	b.SetBytes(int64(len(loop) / 1000))
	n := 0
	for b.Loop() {
		if _, err := s.Next(-1); err != nil {
			b.Fatal(err)
		}
		if n++; n%500 == 0 {
			hold.Release()
			s.Detach(&hold)
		}
	}
}
