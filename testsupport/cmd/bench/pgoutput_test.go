package main

import (
	"encoding/binary"
	"strings"
	"testing"
)

// row is a tuple of two columns: a text, and NULL.
func row(text string) string {
	length := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
	return "\x00\x02t" + string(length) + text + "n"
}

func TestCountMessages(t *testing.T) {
	const (
		oid      = "\x00\x00\x40\x01"
		begin    = "B" + "12345678" + "12345678" + "1234" + "\n"
		commit   = "C" + "\x00" + "12345678" + "12345678" + "12345678" + "\n"
		relation = "R" + oid + "public\x00" + "wide\x00" + "d" + "\x00\x02" + "\x01id\x00" + "1234" + "1234" + "\x00note\x00" + "1234" + "1234" + "\n"
		typed    = "Y" + oid + "public\x00" + "mood\x00" + "\n"
	)
	// The values look like newlines and like messages.
	insert := "I" + oid + "N" + row("two\nI lines\n") + "\n"
	update := "U" + oid + "N" + row("\n") + "\n"
	moved := "U" + oid + "K" + row("old") + "N" + row("new") + "\n"
	remove := "D" + oid + "K" + row("U") + "\n"
	all := begin + relation + typed + insert + insert + update + moved + remove + commit
	got, err := countMessages(strings.NewReader(all))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[byte]int64{'B': 1, 'R': 1, 'Y': 1, 'I': 2, 'U': 2, 'D': 1, 'C': 1} {
		if got[kind] != want {
			t.Errorf("%q: %d, want %d", kind, got[kind], want)
		}
	}
	if ops := got.byOp(); ops["c"] != 2 || ops["u"] != 2 || ops["d"] != 1 {
		t.Errorf("by op: %v", ops)
	}
	for name, file := range map[string]string{
		"cut in a row":       begin + insert[:len(insert)-5],
		"cut before its end": begin + insert[:len(insert)-1],
		"no newline":         strings.TrimSuffix(insert, "\n") + begin,
		"unknown kind":       begin + "?\n",
		"an insert of a key": "I" + oid + "K" + row("x") + "\n",
		"a delete of a row":  "D" + oid + "N" + row("x") + "\n",
		"unknown column":     "I" + oid + "N\x00\x01?\n",
	} {
		if got, err := countMessages(strings.NewReader(file)); err == nil {
			t.Errorf("%s: counted %v", name, got)
		}
	}
}
