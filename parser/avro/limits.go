package avro

import "fmt"

// Limits bound what is taken into memory. A zero field stands for its default.
type Limits struct {
	Header int // bytes of a file's header, which holds the schema; 16 MiB
	Block  int // bytes of a block of a file, uncompressed; 64 MiB
	Value  int // bytes of a datum without container, and of the JSON of a record; 64 MiB
	Depth  int // records, arrays and maps inside each other; 512
}

func (l Limits) withDefaults() Limits {
	for _, limit := range []struct {
		field    *int
		standard int
	}{{&l.Header, 16 << 20}, {&l.Block, 64 << 20}, {&l.Value, 64 << 20}, {&l.Depth, 512}} {
		if *limit.field == 0 {
			*limit.field = limit.standard
		}
	}
	return l
}

// Error tells what is wrong with a file or a datum. It is final: where the next value begins cannot be told.
type Error struct {
	Byte   int64 // in the file: of the block, or of the header's part; of messages: of the datum
	Block  int64 // of a file, from 1; 0 = the header, or no file
	Reason string
	Limit  bool // a limit, not a fault
}

func (e *Error) Error() string {
	if e.Block > 0 {
		return fmt.Sprintf("reading Avro block %d at byte %d: %s", e.Block, e.Byte, e.Reason)
	}
	return fmt.Sprintf("reading Avro at byte %d: %s", e.Byte, e.Reason)
}

// ValueError tells that a value has no JSON form. The record may be skipped: Next goes on behind it.
type ValueError struct {
	Column string // the field of the record, not the ones inside it
	Reason string
	Value  string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("writing the field %s: %s: %s", e.Column, e.Reason, e.Value)
}
