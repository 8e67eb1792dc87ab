package avro

import (
	"fmt"
)

// magic begins an object container file.
const magic = "Obj\x01"

// header is what stands before the blocks of a file: the magic bytes, a map of attributes, and the marker that ends each block.
type header struct {
	schema []byte
	codec  string
	sync   [16]byte
	end    int64 // where the blocks begin
}

func readHeader(in *input, limits Limits) (*header, error) {
	begin := make([]byte, 0, len(magic))
	begin, err := in.read(begin, len(magic))
	if err != nil && !cut(err) {
		return nil, failing(err, in.at, 0, "its header")
	}
	if string(begin) != magic {
		return nil, &Error{Reason: "this is no Avro object container file, which begins with \"Obj\\x01\""}
	}
	h := &header{}
	for {
		var count int64
		if count, err = in.long(); err != nil {
			return nil, failing(err, in.at, 0, "its header")
		}
		if count == 0 {
			break
		}
		if count < 0 {
			count = -count
			if _, err = in.long(); err != nil { // the block's size in bytes
				return nil, failing(err, in.at, 0, "its header")
			}
		}
		if count < 0 || count > int64(limits.Header) {
			return nil, &Error{Byte: in.at, Reason: fmt.Sprintf("the header declares %d attributes", count)}
		}
		for ; count > 0; count-- {
			if err := h.readAttribute(in, limits); err != nil {
				return nil, err
			}
		}
	}
	sync, err := in.read(nil, len(h.sync))
	if err != nil {
		return nil, failing(err, in.at, 0, "its header")
	}
	copy(h.sync[:], sync)
	h.end = in.at
	if h.schema == nil {
		return nil, &Error{Byte: in.at, Reason: "the header has no avro.schema"}
	}
	return h, nil
}

func (h *header) readAttribute(in *input, limits Limits) error {
	var pair [2][]byte
	for i := range pair {
		n, err := in.long()
		if err != nil {
			return failing(err, in.at, 0, "its header")
		}
		if n < 0 || in.at+n > int64(limits.Header) || n > int64(limits.Header) {
			return &Error{
				Byte: in.at, Limit: n >= 0,
				Reason: fmt.Sprintf("an attribute of the header declares %d bytes; at most %d are allowed in all", n, limits.Header),
			}
		}
		if pair[i], err = in.read([]byte{}, int(n)); err != nil {
			return failing(err, in.at, 0, "its header")
		}
	}
	switch string(pair[0]) {
	case "avro.schema":
		h.schema = pair[1]
	case "avro.codec":
		h.codec = string(pair[1])
	}
	return nil
}
