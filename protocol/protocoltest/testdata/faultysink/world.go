package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
)

// world is what the file holds.
type world struct {
	Tables     map[string]map[string]object
	Checkpoint json.RawMessage `json:",omitempty"`
	Fence      int
	Bindings   int `json:",omitempty"` // of the last session
}

func read(path string) *world {
	w := &world{Tables: map[string]map[string]object{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return w
	}
	if err == nil {
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		err = d.Decode(w)
	}
	if err != nil {
		fail("the file cannot be read: %v", err)
	}
	return w
}

func (w *world) write(path string) {
	text, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		fail("the file cannot be written: %v", err)
	}
}

// packedText sorts as keys do, for those that the suites use.
func packedText(key []any) string {
	text := ""
	for _, v := range key {
		switch v := v.(type) {
		case string:
			text += "2" + v + "\x00"
		case json.Number:
			n, _ := v.Int64() // whole numbers only
			text += fmt.Sprintf("3%020d", n+1<<40)
		case float64:
			text += fmt.Sprintf("3%020d", int64(v)+1<<40)
		}
	}
	return text
}

// unpack reads the tuples that the suites send.
func unpack(text string) []any {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		fail("a tuple is no base64")
	}
	list := []any{}
	for len(b) > 0 {
		code := int(b[0])
		b = b[1:]
		switch {
		case code == 0:
			list = append(list, nil)
		case code == 2:
			end := strings.IndexByte(string(b), 0)
			list = append(list, string(b[:end]))
			b = b[end+1:]
		case code == 0x21:
			bits := binary.BigEndian.Uint64(b)
			if bits>>63 == 1 {
				bits ^= 1 << 63
			} else {
				bits = ^bits
			}
			list = append(list, json.Number(fmt.Sprint(math.Float64frombits(bits))))
			b = b[8:]
		case code == 0x26 || code == 0x27:
			list = append(list, code == 0x27)
		default:
			n, negative := code-0x14, code < 0x14
			if negative {
				n = -n
			}
			var v int64
			for _, digit := range b[:n] {
				if negative {
					digit = ^digit
				}
				v = v<<8 | int64(digit)
			}
			if negative {
				v = -v
			}
			list = append(list, json.Number(fmt.Sprint(v)))
			b = b[n:]
		}
	}
	return list
}
