package parser

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
)

// archiveOf packs one member by a method that the standard library does not know, with flags.
func archiveOf(t testing.TB, name string, method, flags uint16, packed, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: name, Method: method, Flags: flags, CRC32: crc32.ChecksumIEEE(plain), CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(plain)),
	})
	if err == nil {
		_, err = w.Write(packed)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestZip_ReadsMembersByTheirMethod(t *testing.T) {
	plain := []byte("a,b\n1,2\n")
	bzip2, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWb+HQH8AAANZAAAQAAQwADAAIAAwwAhpsogjJ4u5IpwoSF/DoD+A")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, flags uint16
		packed        []byte
		err           string
	}{
		{0, 0, plain, ""},
		{12, 0, bzip2, ""},
		{93, 0, pack(t, "zstd", plain), ""},
		{95, 0, pack(t, "xz", plain), ""},
		{93, 0, bzip2, "data.zip:x.csv: zstd: the compressed bytes are broken"},
		{8, 1, plain, "data.zip:x.csv: the member is encrypted: pack it without a password"},
		{99, 0, plain, "data.zip:x.csv: the member is compressed by method 99 (AES encryption), which is not supported"},
		{9, 0, plain, "data.zip:x.csv: the member is compressed by method 9 (deflate64), which is not supported: pack it with deflate, bzip2, zstd or xz"},
		{14, 0, plain, "method 14 (lzma)"},
		{77, 0, plain, "method 77 (unknown)"},
	} {
		got, _, _, err := read(t, configOf(t, ""), inputOf("data.zip", archiveOf(t, "x.csv", c.method, c.flags, c.packed, plain), 7), Cursor{})
		switch {
		case c.err == "" && (err != nil || !slices.Equal(got, []string{`{"a":"1","b":"2"}`})):
			t.Errorf("method %d: got %q, %v", c.method, got, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("method %d, flags %d: got %v", c.method, c.flags, err)
		}
	}
	wrong := archiveOf(t, "x.csv", 0, 0, plain, []byte("a,b\n1,3\n"))
	if _, _, _, err := read(t, configOf(t, ""), inputOf("data.zip", wrong, 7), Cursor{}); err == nil || !strings.Contains(err.Error(), "data.zip:x.csv: the zip archive is broken: zip: checksum error") {
		t.Errorf("a wrong checksum: got %v", err)
	}
}

func TestZip_RefusesBrokenDirectories(t *testing.T) {
	whole := packMember(t, "a.csv", []byte("a,b\n1,2\n"))
	for _, n := range []int{4, 30, len(whole) - 1} {
		if _, _, _, err := read(t, configOf(t, ""), inputOf("a.zip", whole[:n], 65536), Cursor{}); err == nil || !strings.Contains(err.Error(), "the zip archive's directory cannot be read") {
			t.Errorf("cut after %d bytes: got %v", n, err)
		}
	}
	// An end record that points at a directory of 100 MiB.
	const size = 100 << 20
	end := binary.LittleEndian.AppendUint32([]byte("PK\x05\x06\x00\x00\x00\x00\xff\xff\xff\xff"), size)
	end = append(binary.LittleEndian.AppendUint32(end, 4), 0, 0)
	head := append([]byte("PK\x03\x04"), bytes.Repeat(directoryEntry(), 100)...)
	in := Input{Name: "a.zip", Size: 4 + size + int64(len(end)), Open: func(_ context.Context, off, n int64) (io.ReadCloser, error) {
		all := io.MultiReader(bytes.NewReader(head), &repeated{pattern: directoryEntry(), left: size - len(head) + 4}, bytes.NewReader(end))
		if _, err := io.CopyN(io.Discard, all, off); err != nil {
			return nil, err
		}
		return io.NopCloser(all), nil
	}}
	if _, _, _, err := read(t, configOf(t, ""), in, Cursor{}); err == nil || err.Error() != "a.zip: the zip archive's directory is larger than 64 MiB" {
		t.Errorf("a large directory: got %v", err)
	}
}

// directoryEntry is an entry of a central directory, 1000 bytes long.
func directoryEntry() []byte {
	e := make([]byte, 1000)
	copy(e, "PK\x01\x02")
	binary.LittleEndian.PutUint16(e[28:], 1000-46)
	return e
}

// repeated is a pattern, over and over.
type repeated struct {
	pattern []byte
	at      int
	left    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.pattern[r.at:])
	r.at = (r.at + n) % len(r.pattern)
	r.left -= n
	return n, nil
}

// An archive is read by ranges: its directory, and the bytes of its members once.
func TestZip_ReadsByRanges(t *testing.T) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := range 20 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d.csv", i), Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte("a,b\n" + strings.Repeat("1,2\n", 100000)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	in := inputOf("a.zip", out.Bytes(), 65536)
	opens, open := 0, in.Open
	in.Open = func(ctx context.Context, off, n int64) (io.ReadCloser, error) {
		opens++
		return open(ctx, off, n)
	}
	c := configOf(t, "")
	r, err := Open(t.Context(), c, in, Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var cursor Cursor
	documents := 0
	var doc []byte
	for {
		if doc, err = r.Next(doc[:0]); err != nil {
			break
		}
		if documents++; documents == 1900001 {
			cursor = r.Cursor()
		}
	}
	if err != io.EOF || documents != 2000000 || opens > 8 || r.Stats().Bytes > int64(out.Len())*11/10 {
		t.Errorf("%d documents, %d opened, %+v of %d bytes, %v", documents, opens, r.Stats(), out.Len(), err)
	}
	r, err = Open(t.Context(), c, in, cursor)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for documents = 0; err == nil; documents++ {
		doc, err = r.Next(doc[:0])
	}
	if documents != 100000 || r.Stats().Bytes > 1<<20 {
		t.Errorf("resumed in the last member: %d documents, %+v", documents-1, r.Stats())
	}
}
