package blob

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/estuary/connectors/protocol"
)

// What a caller can tell apart with errors.Is, whatever the store. All else is told by the kind alone (protocol.KindOf): config where a person must act,
// transient where another try may help.
var (
	// ErrNotFound says that the object is not, or no longer, there.
	ErrNotFound = errors.New("no such object")
	// ErrChanged says that another version of the object is there now than the one asked for.
	ErrChanged = errors.New("the object was replaced")
	// ErrArchived says that the object's storage class must be restored before it can be read.
	ErrArchived = errors.New("the object is archived")
	// ErrDenied says that these credentials may not do this. Of one object it may be true for that object alone.
	ErrDenied = errors.New("access denied")
)

// Unanswered is the problem of a request that got no answer: what was being done, the network's own reason without the request's address, and where to look.
func Unanswered(doing, endpoint string, err error) *protocol.Problem {
	reason, fix := err, "check the network"
	if request, ok := errors.AsType[*url.Error](err); ok {
		reason = request.Err
	}
	if at, failed := url.Parse(endpoint); failed == nil && endpoint != "" {
		fix += ", and advanced.endpoint, which is " + at.Redacted()
	}
	return &protocol.Problem{Kind: protocol.Transient, Summary: fmt.Sprintf("%s: no answer came: %v", doing, reason), Fix: fix, Err: err}
}
