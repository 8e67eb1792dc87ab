package pgwire

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgconn"
)

func TestExec_ReturnsEachStatementsResult(t *testing.T) {
	sent := cat(
		notice, rowDescription("a", "b"), dataRow("1", "NULL"), parameter, dataRow("", "x y"), msg('C', "SELECT 2\x00"),
		msg('C', "BEGIN\x00"), msg('I'), ready('T'),
	)
	eachSplit(t, sent, func(t *testing.T, nc *scripted) {
		c := onConn(nc)
		got, err := c.Exec(t.Context(), "SELECT 1; BEGIN;")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 || got[0].Tag != "SELECT 2" || got[1].Tag != "BEGIN" || got[2].Tag != "" {
			t.Fatalf("got results %+v", got)
		}
		if want := []string{"a", "b"}; !reflect.DeepEqual(got[0].Columns, want) {
			t.Errorf("got columns %q, want %q", got[0].Columns, want)
		}
		if rows, want := deref(got[0].Rows), [][]string{{"1", "NULL"}, {"", "x y"}}; !reflect.DeepEqual(rows, want) {
			t.Errorf("got rows %q, want %q", rows, want)
		}
		if got[1].Columns != nil || got[1].Rows != nil {
			t.Errorf("BEGIN has columns or rows: %+v", got[1])
		}
		if c.TxStatus() != 'T' || c.ParameterStatus("TimeZone") != "Asia/Tokyo" {
			t.Errorf("got status %q, time zone %q", c.TxStatus(), c.ParameterStatus("TimeZone"))
		}
		if want := "Q\x00\x00\x00\x15SELECT 1; BEGIN;\x00"; nc.written.String() != want {
			t.Errorf("sent %q, want %q", nc.written.String(), want)
		}
	})
}

func TestExec_ErrorHasAllFieldsAndConnectionGoesOn(t *testing.T) {
	sent := cat(
		msg('C', "BEGIN\x00"),
		serverError("SFEHLER", "VERROR", "C42501", "Mpermission denied", "Dd", "Hh", "P12", "p13", "qiq", "Ww", "sS", "tT", "cC", "dD", "nN", "FF.c", "L99", "RR", "?future"),
		ready('E'),
		msg('C', "ROLLBACK\x00"), ready('I'),
	)
	want := &pgconn.PgError{
		Severity: "ERROR", Code: "42501", Message: "permission denied", Detail: "d", Hint: "h", Position: 12, InternalPosition: 13,
		InternalQuery: "iq", Where: "w", SchemaName: "S", TableName: "T", ColumnName: "C", DataTypeName: "D", ConstraintName: "N",
		File: "F.c", Line: 99, Routine: "R",
	}
	eachSplit(t, sent, func(t *testing.T, nc *scripted) {
		c := onConn(nc)
		got, err := c.Exec(t.Context(), "BEGIN; x")
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || !reflect.DeepEqual(refusal, want) {
			t.Fatalf("got error %+v, want %+v", refusal, want)
		}
		if len(got) != 1 || got[0].Tag != "BEGIN" || c.TxStatus() != 'E' {
			t.Errorf("got results %+v, status %q", got, c.TxStatus())
		}
		if _, err := c.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Errorf("after an error: %v", err)
		}
	})
}

func TestExec_RefusesWhatCannotBe(t *testing.T) {
	c := onConn(&scripted{})
	if _, err := c.Exec(t.Context(), "SELECT '\x00'"); err == nil {
		t.Error("a zero byte was sent")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Exec(ended, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if c.netConn.(*scripted).written.Len() != 0 {
		t.Error("something was sent")
	}
}

func TestExec_CopyIsReadToItsEnd(t *testing.T) {
	c := onConn(&scripted{pieces: [][]byte{
		cat(copyOut(1), msg('d', "1\n"), msg('c'), msg('C', "COPY 1\x00"), ready('I')), cat(msg('C', "X\x00"), ready('I')),
	}})
	if _, err := c.Exec(t.Context(), "COPY t TO STDOUT"); err == nil || !strings.Contains(err.Error(), "CopyOut") {
		t.Errorf("got %v", err)
	}
	if got, err := c.Exec(t.Context(), "X"); err != nil || got[0].Tag != "X" {
		t.Errorf("afterwards: %v %v", got, err)
	}
}

func TestExec_MalformedAnswersAreErrors(t *testing.T) {
	for name, sent := range map[string][]byte{
		"length below four":       {'Z', 0, 0, 0, 3, 'I'},
		"row description cut":     msg('T', uint16(2), "a\x00", make([]byte, 18)),
		"row description unended": msg('T', uint16(1), "a"),
		"row description empty":   msg('T'),
		"row without description": dataRow("1"),
		"negative field length":   cat(rowDescription("a"), msg('D', uint16(1), uint32(0xFFFFFFFE), "abc")), // GO-2026-4518
		"field beyond the row":    cat(rowDescription("a"), msg('D', uint16(1), uint32(4), "abc")),
		"field length cut":        cat(rowDescription("a"), msg('D', uint16(1), "abc")),
		"bytes behind the row":    cat(rowDescription("a"), msg('D', uint16(1), uint32(3), "abcd")),
		"unknown message":         msg('?'),
		"copy in":                 msg('G', byte(0), uint16(0)),
	} {
		t.Run(name, func(t *testing.T) {
			c := onConn(&scripted{pieces: [][]byte{cat(sent, ready('I'))}})
			_, err := c.Exec(t.Context(), "SELECT 1")
			var protocol *ProtocolError
			if !errors.As(err, &protocol) {
				t.Fatalf("got %v", err)
			}
			if _, err := c.Exec(t.Context(), "SELECT 1"); err == nil {
				t.Error("the connection counts as usable although its place is lost")
			}
		})
	}
}

func TestExec_CloseByServerIsUnexpected(t *testing.T) {
	sent := cat(rowDescription("a"), dataRow("1"), msg('C', "SELECT 1\x00"), ready('I'))
	for i := range sent {
		c := onConn(&scripted{pieces: [][]byte{sent[:i]}})
		if _, err := c.Exec(t.Context(), "SELECT 1"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after %d bytes: %v", i, err)
		}
	}
}

func TestMessageTooLarge_TellsBytesAndHead(t *testing.T) {
	c := onConn(&scripted{pieces: [][]byte{msg('D', strings.Repeat("x", 2000))}})
	c.SetMaxMessage(1000)
	_, err := c.Exec(t.Context(), "SELECT 1")
	var large *MessageTooLargeError
	if !errors.As(err, &large) || large.Bytes != 2004 || large.Limit != 1000 || string(large.Head) != strings.Repeat("x", headSize) {
		t.Fatalf("got %+v", err)
	}
	// A length that nobody could mean is refused before anything is reserved for it.
	c = onConn(&scripted{pieces: [][]byte{append([]byte{'D', 0xFF, 0xFF, 0xFF, 0xFF}, make([]byte, headSize)...)}})
	if _, err := c.Exec(t.Context(), "SELECT 1"); !errors.As(err, &large) || large.Bytes != 0xFFFFFFFF || len(c.in.buf) != blockSize {
		t.Fatalf("got %+v, a buffer of %d bytes", err, len(c.in.buf))
	}
}

func TestMessage_GrowsAndShrinksTheBuffer(t *testing.T) {
	big := strings.Repeat("y", 3*blockSize)
	c := onConn(&scripted{pieces: [][]byte{cat(rowDescription("a"), dataRow(big), msg('C', "SELECT 1\x00"), ready('I'))}})
	got, err := c.Exec(t.Context(), "SELECT 1")
	if err != nil || *got[0].Rows[0][0] != big {
		t.Fatalf("got %v", err)
	}
	if len(c.in.buf) != blockSize {
		t.Errorf("the buffer keeps %d bytes", len(c.in.buf))
	}
}

// piped returns a Conn and the server's side of it; what the client sends is read and dropped.
func piped(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close(); server.Close() })
	go func() { _, _ = io.Copy(io.Discard, server) }()
	return onConn(client), server
}

func TestContext_UnblocksReadsAtOnce(t *testing.T) {
	because := errors.New("because")
	for name, run := range map[string]func(context.Context, *Conn) error{
		"exec": func(ctx context.Context, c *Conn) error { _, err := c.Exec(ctx, "SELECT 1"); return err },
		"copy": func(ctx context.Context, c *Conn) error { _, err := c.CopyOut(ctx, "COPY t TO STDOUT"); return err },
		"replication": func(ctx context.Context, c *Conn) error {
			_, err := c.StartReplication(ctx, "START_REPLICATION", StreamOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := piped(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(5*time.Millisecond, func() { cancel(because) })
			if err := run(ctx, c); !errors.Is(err, because) {
				t.Fatalf("got %v", err)
			}
			if _, err := c.Exec(t.Context(), "SELECT 1"); err == nil {
				t.Error("the connection counts as usable although an answer is under way")
			}
		})
	}
}

func TestContext_EndedAfterTheAnswerLeavesNoDeadline(t *testing.T) {
	c, server := piped(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.begin(ctx); err != nil {
		t.Fatal(err)
	}
	cancel() // after the answer was read, before the operation has ended
	if err := c.end(true, nil); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = server.Write(cat(msg('C', "X\x00"), ready('I'))) }()
	if _, err := c.Exec(t.Context(), "X"); err != nil {
		t.Fatalf("the next statement: %v", err)
	}
}

func TestClose_UnblocksAnotherGoroutine(t *testing.T) {
	c, _ := piped(t)
	started := make(chan struct{})
	done := make(chan error)
	go func() {
		close(started)
		_, err := c.Exec(t.Context(), "SELECT 1")
		done <- err
	}()
	<-started
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Fatalf("got %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}
