package pgwire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgconn"
)

// MessageTooLargeError tells that the server announced a message above the limit. The connection is of no use afterwards.
type MessageTooLargeError struct {
	// Bytes is the announced size, Limit the greatest one that is read, both without the message's type byte.
	Bytes, Limit int64
	// Head is the start of the message's body, for finding out whose row it is: for a COPY the first column's text, for replication the XLogData
	// header and the start of the plugin's message. It may be shorter than either.
	Head []byte
}

// Error names both sizes.
func (e *MessageTooLargeError) Error() string {
	return "reading a message of " + strconv.FormatInt(e.Bytes, 10) + " bytes from the server: the limit is " + strconv.FormatInt(e.Limit, 10) + " bytes"
}

// ProtocolError tells that the server sent what the protocol does not allow here (or that the peer is no PostgreSQL server). The connection is of no
// use afterwards.
type ProtocolError struct{ Detail string }

// Error returns the detail.
func (e *ProtocolError) Error() string { return "reading the server's messages: " + e.Detail }

func unexpected(typ byte, during string) error {
	return &ProtocolError{Detail: fmt.Sprintf("message %q is not expected during %s", typ, during)}
}

// ErrStreamEnded tells that the server ended the replication stream although nobody asked for it. It is never the regular end of a capture.
var ErrStreamEnded = errors.New("the server ended the replication stream")

// ErrServerSilent tells that nothing at all, not even a keepalive, came within StreamOptions.ReceiveTimeout.
var ErrServerSilent = errors.New("the server sent nothing, not even a keepalive")

// parseServerError reads the fields of an ErrorResponse: pairs of a code byte and a zero-terminated text, ended by a zero byte. A field that is cut
// off is dropped, so that the rest of the report still reaches the user.
func parseServerError(body []byte) *pgconn.PgError {
	e := &pgconn.PgError{}
	for len(body) > 1 && body[0] != 0 {
		code := body[0]
		end := bytes.IndexByte(body[1:], 0)
		if end < 0 {
			break
		}
		text := string(body[1 : 1+end])
		body = body[2+end:]
		setErrorField(e, code, text)
	}
	return e
}

func setErrorField(e *pgconn.PgError, code byte, text string) {
	switch code {
	case 'S':
		// Severity may be translated; V is the same, never translated, and comes after it (servers from 9.6 on).
		if e.Severity == "" {
			e.Severity = text
		}
	case 'V':
		e.Severity = text
	case 'C':
		e.Code = text
	case 'M':
		e.Message = text
	case 'D':
		e.Detail = text
	case 'H':
		e.Hint = text
	case 'P':
		e.Position = parseInt32(text)
	case 'p':
		e.InternalPosition = parseInt32(text)
	case 'q':
		e.InternalQuery = text
	case 'W':
		e.Where = text
	case 's':
		e.SchemaName = text
	case 't':
		e.TableName = text
	case 'c':
		e.ColumnName = text
	case 'd':
		e.DataTypeName = text
	case 'n':
		e.ConstraintName = text
	case 'F':
		e.File = text
	case 'L':
		e.Line = parseInt32(text)
	case 'R':
		e.Routine = text
	}
}

// parseInt32 reads a position or line number; these only decorate a report, so what is no number counts as 0.
func parseInt32(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}
