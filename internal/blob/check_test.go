package blob_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/estuary/connectors/internal/blob"
	"github.com/estuary/connectors/internal/blob/memblob"
	"github.com/estuary/connectors/protocol"
)

// bug streams-files-parser 55: predecessor, check demanded rights that reading does not need
func TestCheck_ListsAndLooks(t *testing.T) {
	down := errors.New("down")
	for _, c := range []struct {
		name   string
		failed memblob.Op
		fault  error
		want   error
	}{
		{"all is well", memblob.Open, down, nil},
		{"it may not be listed", memblob.List, blob.ErrDenied, blob.ErrDenied},
		{"objects may not be read", memblob.Stat, blob.ErrDenied, blob.ErrDenied},
	} {
		b := memblob.New("b")
		b.Put(memblob.Entry{Key: "p/k"})
		b.Fault = func(call memblob.Call) memblob.Fault {
			if call.Op == memblob.Stat && (!strings.HasPrefix(call.Key, "p/") || len(call.Key) < 20) {
				t.Errorf("looked at %q", call.Key)
			}
			if call.Op == c.failed {
				return memblob.Fault{Err: c.fault}
			}
			return memblob.Fault{}
		}
		if err := blob.Check(t.Context(), b, "p/"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCheck_HasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memblob.New("b")
		b.Hang = true
		if err := blob.Check(t.Context(), b, ""); protocol.KindOf(err) != protocol.Transient || !strings.Contains(err.Error(), "30s") {
			t.Error(err)
		}
	})
}
