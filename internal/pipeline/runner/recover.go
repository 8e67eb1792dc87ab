package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/store"
	"github.com/estuary/connectors/protocol"
)

// position is where a pipeline goes on.
type position struct {
	store.Checkpoint
	// destination is the checkpoint that the sink holds, byte for byte: {} is none yet, nil: it leaves that to us.
	destination json.RawMessage
	// adopted: the destination's checkpoint counts and the store did not have it.
	adopted bool
}

// remember decides whose checkpoint counts: the destination's where it keeps one, else the store's. destination is what the sink returned when it was
// opened. A destination without the checkpoint of a pipeline that has committed is another one, or was emptied: that is refused.
func remember(f *config.File, rec store.Record, destination json.RawMessage) (position, error) {
	p := position{destination: destination}
	ours := store.Checkpoint{}
	if rec.Checkpoint != nil {
		var err error
		if ours, err = store.Parse(rec.Checkpoint); err != nil {
			return position{}, err
		}
	}
	p.Checkpoint = ours
	switch {
	case destination == nil:
	case isEmptyObject(destination):
		if ours.Txn > 0 {
			return position{}, unknownDestination(f, ours.Txn)
		}
	default:
		theirs, err := store.Parse(destination)
		if err != nil {
			return position{}, err
		}
		switch {
		case rec.Epoch == 0 || theirs.Epoch == rec.Epoch:
			p.Checkpoint, p.adopted = theirs, !bytes.Equal(destination, rec.Checkpoint)
		case ours.Txn > 0: // it knows another epoch only
			return position{}, unknownDestination(f, ours.Txn)
		}
	}
	p.Pipeline, p.Epoch = f.Name, max(p.Epoch, rec.Epoch, 1)
	p.Backfill, p.Resets = greatest(p.Backfill, rec.Backfill), greatest(p.Resets, rec.Resets)
	if p.MaxKeys == nil {
		p.MaxKeys = map[string][]byte{}
	} else {
		p.MaxKeys = maps.Clone(p.MaxKeys)
	}
	return p, nil
}

// greatest joins counters, which only ever rise.
func greatest(a, b map[string]uint32) map[string]uint32 {
	out := map[string]uint32{}
	for _, m := range []map[string]uint32{a, b} {
		for path, n := range m {
			out[path] = max(out[path], n)
		}
	}
	return out
}

func isEmptyObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && len(members) == 0
}

func unknownDestination(f *config.File, txn uint64) error {
	return &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf(
		"Destination %s knows nothing of pipeline %s, which has committed %d transactions: wrong database, or restored empty. To start over: pipeline reset %s",
		destinationName(f.Sink), f.Name, txn, f.Path,
	)}
}

// destinationName names a destination for people by what most configurations have; without that, by its connector.
func destinationName(c config.Connector) string {
	var known struct{ Address, Host, Database, Bucket, Path string }
	if json.Unmarshal(c.Config, &known) == nil {
		for _, name := range []string{known.Address, known.Host, known.Bucket, known.Path} {
			if name != "" && known.Database != "" {
				return name + "/" + known.Database
			}
			if name != "" {
				return name
			}
		}
	}
	return c.Name
}
