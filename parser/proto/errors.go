package proto

import "fmt"

// MessageError is about one message. Those behind it can be read.
type MessageError struct {
	Field  string // dotted path; empty: the message as a whole
	Reason string
}

func (e *MessageError) Error() string {
	if e.Field == "" {
		return "decoding a message: " + e.Reason
	}
	return fmt.Sprintf("decoding field %s: %s", e.Field, e.Reason)
}

// FramingError ends the reading: where the next message begins is not known, or what begins there is too large.
type FramingError struct {
	Byte   int64 // where the message begins, its length included
	Reason string
	Limit  bool // it is larger than allowed
	Err    error
}

func (e *FramingError) Error() string {
	text := fmt.Sprintf("reading the message at byte %d: %s", e.Byte, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *FramingError) Unwrap() error { return e.Err }
