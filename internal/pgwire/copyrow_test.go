package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgconn"
)

// binaryCopyOut announces columns in binary form.
func binaryCopyOut(columns uint16) []byte {
	body := []any{byte(1), columns}
	for range columns {
		body = append(body, uint16(1))
	}
	return msg('H', body...)
}

// binaryOf is a row in binary form; "NULL" stands for NULL.
func binaryOf(values ...string) string {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(values)))
	for _, v := range values {
		if v == "NULL" {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
	}
	return string(b)
}

// An extension of four bytes stands in the header, as a later server may send one.
const (
	plainHeader    = binarySignature + "\x00\x00\x00\x00\x00\x00\x00\x00"
	extendedHeader = binarySignature + "\x00\x00\x00\x01\x00\x00\x00\x04wxyz"
	binaryTail     = "\xff\xff"
)

func TestBinaryCopy_RowsHoweverTheyAreFramed(t *testing.T) {
	end := cat(msg('c'), msg('C', "COPY 3\x00"), ready('T'))
	want := [][]string{{"1", "a\tb", "NULL"}, {"2", "", `\`}, {"3", "\n", "ü"}}
	var rows []string
	for _, row := range want {
		rows = append(rows, binaryOf(row...))
	}
	all := strings.Join(rows, "")
	whole := extendedHeader + all + binaryTail
	for name, sent := range map[string][]byte{
		"as servers do":         cat(msg('d', plainHeader+rows[0]), msg('d', rows[1]), msg('d', rows[2]), msg('d', binaryTail)),
		"the header by itself":  cat(msg('d', plainHeader), msg('d', rows[0]), msg('d', rows[1]+rows[2]+binaryTail)),
		"all in one":            msg('d', whole),
		"with messages between": cat(notice, msg('d', plainHeader+rows[0]), parameter, msg('d'), msg('d', rows[1]), msg('A', "x"), msg('d', rows[2]), notice, msg('d', binaryTail)),
		"byte by byte": func() (b []byte) {
			for i := range len(whole) {
				b = append(b, msg('d', whole[i:i+1])...)
			}
			return b
		}(),
		"in three pieces": cat(msg('d', whole[:29]), msg('d', whole[29:51]), msg('d', whole[51:])),
	} {
		t.Run(name, func(t *testing.T) {
			copies(t, cat(binaryCopyOut(3), sent, end), want)
		})
	}
}

func TestBinaryCopy_NoRowsAndNoColumns(t *testing.T) {
	for name, c := range map[string]struct {
		columns uint16
		sent    string
		want    [][]string
	}{
		"no rows":    {2, plainHeader + binaryTail, nil},
		"no columns": {0, plainHeader + binaryOf() + binaryOf() + binaryTail, [][]string{{}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := onConn(&scripted{pieces: [][]byte{cat(binaryCopyOut(c.columns), msg('d', c.sent), msg('c'), msg('C', "COPY 0\x00"), ready('I'))}})
			r, err := conn.CopyOut(t.Context(), "COPY")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := readAll(r); err != io.EOF || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestBinaryCopy_ErrorHalfWayLeavesTheConnectionUsable(t *testing.T) {
	for name, sent := range map[string][]byte{
		"between rows": cat(msg('d', plainHeader+binaryOf("1")), timeout),
		"inside a row": cat(msg('d', plainHeader+binaryOf("1")+"\x00"), timeout),
	} {
		t.Run(name, func(t *testing.T) {
			eachSplit(t, cat(binaryCopyOut(1), sent, ready('E'), msg('C', "X\x00"), ready('I')), func(t *testing.T, nc *scripted) {
				c := onConn(nc)
				r, err := c.CopyOut(t.Context(), "COPY")
				if err != nil {
					t.Fatal(err)
				}
				got, err := readAll(r)
				if refusal, ok := errors.AsType[*pgconn.PgError](err); !ok || refusal.Code != "57014" || len(got) != 1 {
					t.Fatalf("got %q, %v", got, err)
				}
				if _, err := c.Exec(t.Context(), "X"); err != nil {
					t.Errorf("the next statement: %v", err)
				}
			})
		})
	}
}

func TestBinaryCopy_BrokenAnswersAreErrors(t *testing.T) {
	end := cat(msg('c'), msg('C', "COPY 1\x00"), ready('I'))
	for name, sent := range map[string][]byte{
		"another signature":           cat(msg('d', "PGCOPY\n\xff\r\n!"+plainHeader+binaryOf("1", "2")+binaryTail), end),
		"unknown flags":               cat(msg('d', binarySignature+"\x00\x01\x00\x00\x00\x00\x00\x00"+binaryOf("1", "2")+binaryTail), end),
		"too few values":              cat(msg('d', plainHeader+binaryOf("1")+binaryTail), end),
		"too many values":             cat(msg('d', plainHeader+binaryOf("1", "2", "3")+binaryTail), end),
		"a negative length":           cat(msg('d', plainHeader+"\x00\x02\xff\xff\xff\xfe"), end),
		"ended inside a row":          cat(msg('d', plainHeader+binaryOf("1", "2")[:9]), end),
		"ended without its mark":      cat(msg('d', plainHeader+binaryOf("1", "2")), end),
		"ended without its header":    end,
		"rows behind the mark":        cat(msg('d', plainHeader+binaryTail+binaryOf("1", "2")), end),
		"no word of success":          cat(msg('d', plainHeader+binaryTail), msg('c'), ready('I')),
		"the connection ended inside": msg('d', plainHeader+binaryOf("1", "2")),
	} {
		t.Run(name, func(t *testing.T) {
			c := onConn(&scripted{pieces: [][]byte{cat(binaryCopyOut(2), sent)}})
			r, err := c.CopyOut(t.Context(), "COPY")
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
		})
	}
}

func TestCopy_TellsWhatIsKnownOfARowThatIsTooLarge(t *testing.T) {
	for name, sent := range map[string][]byte{
		"text":                      cat(copyOut(3), msg('d', "41\tab\t"+strings.Repeat("x", 2000)+"\n")),
		"binary, the first row":     cat(binaryCopyOut(3), msg('d', plainHeader+binaryOf("41", "ab", strings.Repeat("x", 2000)))),
		"binary, a later row":       cat(binaryCopyOut(3), msg('d', plainHeader+binaryOf("1", "", "")), msg('d', binaryOf("41", "ab", strings.Repeat("x", 2000)))),
		"binary, a row in pieces":   cat(binaryCopyOut(3), msg('d', plainHeader+binaryOf("41", "ab", strings.Repeat("x", 2000))[:600]), msg('d', strings.Repeat("x", 600))),
		"binary, behind its header": cat(binaryCopyOut(3), msg('d', plainHeader), msg('d', binaryOf("41", "ab", strings.Repeat("x", 2000)))),
	} {
		t.Run(name, func(t *testing.T) {
			c := onConn(&scripted{pieces: [][]byte{sent}})
			c.SetMaxMessage(1000)
			r, err := c.CopyOut(t.Context(), "COPY")
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(r)
			large, ok := errors.AsType[*MessageTooLargeError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if known := r.Known(large.Head); len(known) != 2 || string(known[0]) != "41" || string(known[1]) != "ab" {
				t.Errorf("known are %q", known)
			}
		})
	}
}

// Whatever bytes come, reading ends, and rows do not depend on the messages' sizes.
func FuzzBinaryCopy(f *testing.F) {
	f.Add([]byte(plainHeader+binaryOf("1", "NULL")+binaryOf("", "x")+binaryTail), 5)
	f.Add([]byte(extendedHeader+binaryTail), 1)
	f.Add([]byte(plainHeader+"\x00\x02\x7f\xff\xff\xff"), 3)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		read := func(size int) ([][]string, bool) {
			sent := binaryCopyOut(2)
			for piece := range slices.Chunk(data, size) {
				sent = append(sent, msg('d', string(piece))...)
			}
			c := onConn(&scripted{pieces: [][]byte{cat(sent, msg('c'), msg('C', "COPY 1\x00"), ready('I'))}})
			r, err := c.CopyOut(t.Context(), "COPY")
			if err != nil {
				t.Fatal(err)
			}
			rows, err := readAll(r)
			return rows, err == io.EOF
		}
		rows, good := read(max(1, len(data)))
		again, also := read(max(1, min(size, 1<<16)))
		if good != also || !reflect.DeepEqual(rows, again) {
			t.Errorf("in one message %q, %v; in pieces of %d %q, %v", rows, good, size, again, also)
		}
	})
}
