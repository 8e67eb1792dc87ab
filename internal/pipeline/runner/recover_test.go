package runner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/internal/pipeline/store"
)

// Whose checkpoint counts.
func TestRemember(t *testing.T) {
	f := &config.File{Name: "shop", Path: "shop.yaml", Sink: config.Connector{Name: "materialize-x", Config: json.RawMessage(`{"address":"db:5432","database":"lake","password":"p"}`)}}
	cp := func(epoch, txn uint64) json.RawMessage {
		return store.Checkpoint{Pipeline: "shop", Epoch: epoch, Txn: txn, Backfill: map[string]uint32{"a": 1}}.JSON()
	}
	const refused = 1 << 20
	for _, c := range []struct {
		name            string
		epoch           uint64 // of the store; 0: it is new
		ours, theirs    json.RawMessage
		wantEpoch, want uint64 // transaction
		adopted         bool
	}{
		{"both are new", 0, nil, json.RawMessage("{}"), 1, 0, false},
		{"the store counts", 1, cp(1, 7), nil, 1, 7, false},
		{"nothing is known, and the sink keeps nothing", 0, nil, nil, 1, 0, false},
		{"level", 1, cp(1, 7), cp(1, 7), 1, 7, false},
		{"the destination is ahead", 1, cp(1, 7), cp(1, 8), 1, 8, true},
		{"the store is ahead, but the destination was put back", 1, cp(1, 9), cp(1, 8), 1, 8, true},
		{"the store is lost", 0, nil, cp(3, 8), 3, 8, true},
		{"after a reset the old epoch does not count", 2, nil, cp(1, 8), 2, 0, false},
		{"the destination was emptied", 1, cp(1, 7), json.RawMessage("{}"), 0, refused, false},
		{"the destination knows another epoch", 3, cp(3, 7), cp(2, 8), 0, refused, false},
		{"emptied before anything was committed", 1, nil, json.RawMessage(" {} "), 1, 0, false},
	} {
		got, err := remember(f, store.Record{Epoch: c.epoch, Checkpoint: c.ours, Backfill: map[string]uint32{"a": 3}}, c.theirs)
		if c.want == refused {
			const sentence = "Destination db:5432/lake knows nothing of pipeline shop, which has committed 7 transactions: wrong database, or restored empty. To start over: pipeline reset shop.yaml"
			if err == nil || err.Error() != sentence {
				t.Errorf("%s: got %v", c.name, err)
			}
			continue
		}
		if err != nil || got.Epoch != c.wantEpoch || got.Txn != c.want || got.adopted != c.adopted || got.Backfill["a"] != 3 {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	if _, err := remember(f, store.Record{}, json.RawMessage(`{"txn":"seven"}`)); err == nil || !strings.Contains(err.Error(), "none that pipeline wrote") {
		t.Errorf("a foreign checkpoint: %v", err)
	}
}
