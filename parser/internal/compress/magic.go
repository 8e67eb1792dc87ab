package compress

import (
	"bytes"
	"encoding/binary"
)

// Format is a form of compression; the empty one is none.
type Format string

// What is recognised. Zip is an archive: Open leaves it to the caller.
const (
	None   Format = ""
	Gzip   Format = "gzip"
	Bzip2  Format = "bzip2"
	XZ     Format = "xz"
	Zstd   Format = "zstd"
	LZ4    Format = "lz4"
	Snappy Format = "snappy"
	Zip    Format = "zip"
)

// magicBytes is what Detect needs to see of a file: the longest magic.
const magicBytes = 10

// Magic numbers. The block and end marks of bzip2 are BCD digits of pi and of its root; "BZh" alone may begin a text.
var (
	magicGzip   = []byte{0x1f, 0x8b, 8}
	magicBlock  = []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}
	magicEnd    = []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90}
	magicXZ     = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	magicSnappy = []byte{0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'}
	magicZip    = []byte{'P', 'K', 3, 4}
	magicNoZip  = []byte{'P', 'K', 5, 6} // an archive without members
)

// Little-endian magic numbers of frames.
const (
	frameZstd      = 0xfd2fb528
	frameSkippable = 0x184d2a50 // the last digit is free; of zstd and of lz4
	frameLZ4       = 0x184d2204
	frameLZ4Legacy = 0x184c2102
)

// Detect tells the compression of a file that begins with head, of which up to 10 bytes are looked at.
func Detect(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, magicGzip):
		return Gzip
	case len(head) >= 10 && head[0] == 'B' && head[1] == 'Z' && head[2] == 'h' && head[3] >= '1' && head[3] <= '9' &&
		(bytes.Equal(head[4:10], magicBlock) || bytes.Equal(head[4:10], magicEnd)):
		return Bzip2
	case bytes.HasPrefix(head, magicXZ):
		return XZ
	case bytes.HasPrefix(head, magicSnappy):
		return Snappy
	case bytes.HasPrefix(head, magicZip), bytes.HasPrefix(head, magicNoZip):
		return Zip
	case len(head) < 4:
		return None
	}
	switch magic := binary.LittleEndian.Uint32(head); {
	case magic == frameZstd, magic&^0xf == frameSkippable:
		return Zstd
	case magic == frameLZ4, magic == frameLZ4Legacy:
		return LZ4
	}
	return None
}
