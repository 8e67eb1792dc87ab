package pgwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgconn"
)

// readAll reads a copy to its end; NULL reads as "NULL".
func readAll(r *CopyReader) (rows [][]string, err error) {
	var fields [][]byte
	for {
		if fields, err = r.Next(fields); err != nil {
			return rows, err
		}
		row := []string{}
		for _, f := range fields {
			if f == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, string(f))
			}
		}
		rows = append(rows, row)
	}
}

// copies runs a COPY whose answer ends in a transaction, cut at every place, and another statement behind it.
func copies(t *testing.T, answer []byte, want [][]string) {
	t.Helper()
	eachSplit(t, cat(answer, msg('C', "X\x00"), ready('I')), func(t *testing.T, nc *scripted) {
		c := onConn(nc)
		r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(r)
		if err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
		if _, err := r.Next(nil); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
		if err := r.Close(); err != nil || c.TxStatus() != 'T' {
			t.Errorf("closing: %v, status %q", err, c.TxStatus())
		}
		if _, err := c.Exec(t.Context(), "X"); err != nil {
			t.Errorf("the next statement: %v", err)
		}
	})
}

func TestCopy_RowsHoweverTheyAreFramed(t *testing.T) {
	end := cat(msg('c'), msg('C', "COPY 3\x00"), ready('T'))
	want := [][]string{{"1", "a\tb", "NULL"}, {"2", "", `\`}, {"3", "\n", "ü"}}
	rows := []string{"1\ta\\tb\t\\N\n", "2\t\t\\\\\n", "3\t\\n\tü\n"}
	all := strings.Join(rows, "")
	for name, sent := range map[string][]byte{
		"a message for each row": cat(msg('d', rows[0]), msg('d', rows[1]), msg('d', rows[2])),
		"all rows in one":        msg('d', all),
		"with messages between":  cat(notice, msg('d', rows[0]), parameter, msg('d'), msg('d', rows[1]), msg('A', "x"), msg('d', rows[2]), notice),
		"byte by byte": func() (b []byte) {
			for i := range len(all) {
				b = append(b, msg('d', all[i:i+1])...)
			}
			return b
		}(),
		"in three pieces": cat(msg('d', all[:2]), msg('d', all[2:14]), msg('d', all[14:])),
	} {
		t.Run(name, func(t *testing.T) {
			copies(t, cat(copyOut(3), sent, end), want)
		})
	}
}

func TestCopy_ErrorHalfWayLeavesTheConnectionUsable(t *testing.T) {
	for name, sent := range map[string][]byte{
		"between rows":    cat(msg('d', "1\n"), timeout),
		"inside a row":    cat(msg('d', "1\n2"), timeout),
		"after CopyDone":  cat(msg('d', "1\n"), msg('c'), timeout),
		"an error a word": cat(msg('d', "1\n"), timeout, notice, parameter),
	} {
		t.Run(name, func(t *testing.T) {
			eachSplit(t, cat(copyOut(1), sent, ready('E'), msg('C', "X\x00"), ready('I')), func(t *testing.T, nc *scripted) {
				c := onConn(nc)
				r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
				if err != nil {
					t.Fatal(err)
				}
				got, err := readAll(r)
				var refusal *pgconn.PgError
				if !errors.As(err, &refusal) || refusal.Code != "57014" || refusal.Severity != "ERROR" || len(got) != 1 {
					t.Fatalf("got %q, %v", got, err)
				}
				if err := r.Close(); err != nil || c.TxStatus() != 'E' {
					t.Errorf("closing: %v, status %q", err, c.TxStatus())
				}
				if _, err := c.Exec(t.Context(), "X"); err != nil {
					t.Errorf("the next statement: %v", err)
				}
			})
		})
	}
}

func TestCopy_RefusedStatements(t *testing.T) {
	for name, sent := range map[string][]byte{
		"by the server": cat(timeout, ready('I')),
		"no copy":       cat(rowDescription("a"), dataRow("1"), msg('C', "SELECT 1\x00"), ready('I')),
		"empty":         cat(msg('I'), ready('I')),
	} {
		t.Run(name, func(t *testing.T) {
			c := onConn(&scripted{pieces: [][]byte{cat(sent, msg('C', "X\x00"), ready('I'))}})
			if _, err := c.CopyOut(t.Context(), "COPY"); err == nil {
				t.Fatal("no error")
			}
			if _, err := c.Exec(t.Context(), "X"); err != nil {
				t.Errorf("the next statement: %v", err)
			}
		})
	}
	c := onConn(&scripted{pieces: [][]byte{msg('H', byte(2), uint16(1), uint16(1))}})
	if _, err := c.CopyOut(t.Context(), "COPY"); err == nil {
		t.Error("a form that does not exist is taken")
	}
}

func TestCopy_BrokenAnswersAreErrors(t *testing.T) {
	for name, sent := range map[string][]byte{
		"too few values":       msg('d', "1\n"),
		"too many values":      msg('d', "1\t2\t3\n"),
		"ended inside a row":   cat(msg('d', "1\t2"), msg('c'), msg('C', "COPY 1\x00"), ready('I')),
		"no word of success":   cat(msg('d', "1\t2\n"), msg('c'), ready('I')),
		"unexpected message":   msg('W'),
		"unexpected at end":    cat(msg('c'), msg('d', "1\t2\n")),
		"the connection ended": msg('d', "1\t2\n"),
	} {
		t.Run(name, func(t *testing.T) {
			c := onConn(&scripted{pieces: [][]byte{cat(copyOut(2), sent)}})
			r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(r)
			if err == nil || err == io.EOF {
				t.Fatalf("got %v", err)
			}
			if _, again := r.Next(nil); again != err {
				t.Errorf("then %v", again)
			}
			if err := r.Close(); err == nil {
				t.Error("closing says that the connection is usable")
			}
		})
	}
}

func TestCopy_RowInPiecesIsBounded(t *testing.T) {
	sent := copyOut(1)
	for range 20 {
		sent = append(sent, msg('d', strings.Repeat("x", 100))...)
	}
	c := onConn(&scripted{pieces: [][]byte{sent}})
	c.SetMaxMessage(1000)
	r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	var large *MessageTooLargeError
	if _, err := r.Next(nil); !errors.As(err, &large) || large.Bytes != 1100 || !bytes.HasPrefix(large.Head, []byte("xxx")) {
		t.Fatalf("got %v", err)
	}
}

func TestCopy_LargeRows(t *testing.T) {
	sent := copyOut(2)
	var want [][]string
	for i := range 6 {
		size := []int{10, 2 * blockSize, blockSize - 1, 5, 3 * blockSize, 0}[i]
		row := []string{fmt.Sprint(i), strings.Repeat(fmt.Sprint(i), size)}
		want = append(want, row)
		sent = append(sent, msg('d', row[0]+"\t"+row[1]+"\n")...)
	}
	c := onConn(&scripted{pieces: [][]byte{cat(sent, msg('c'), msg('C', "COPY 6\x00"), ready('I'))}})
	r, err := c.CopyOut(t.Context(), "COPY t TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if err != io.EOF || !reflect.DeepEqual(got, want) {
		t.Fatalf("rows differ: %d, %v", len(got), err)
	}
	if len(c.in.buf) != blockSize {
		t.Errorf("the buffer keeps %d bytes after the copy", len(c.in.buf))
	}
}

func TestCopy_ContextUnblocksNext(t *testing.T) {
	c, server := piped(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = server.Write(cat(copyOut(1), msg('d', "1\n")))
		time.Sleep(5 * time.Millisecond)
		cancel()
	}()
	r, err := c.CopyOut(ctx, "COPY t TO STDOUT")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if !errors.Is(err, context.Canceled) || len(got) != 1 {
		t.Fatalf("got %q, %v", got, err)
	}
	if err := r.Close(); err == nil {
		t.Error("closing says that the connection is usable")
	}
}
