package main

import (
	"strings"
	"testing"

	"github.com/estuary/connectors/protocol/materialize"
)

// A runner that starts again after it was killed in the middle of an apply opens first, with the fields that it wants: it must learn of the checkpoint.
func TestOpen_OfATableThatLacksAColumn(t *testing.T) {
	s := newSite(t, 15)
	narrow := bind("t", 1, "id integer!", "flow_document")
	s.apply(nil, narrow)
	s.open(narrow).commit(`{"at":1}`, `{"id":1}`)

	wider := s.open(bind("t", 1, "id integer!", "name string", "flow_document"))
	equal(t, "owner", wider.opened.Checkpoint.Owner, materialize.Stored)
	equal(t, "checkpoint", string(wider.opened.Checkpoint.JSON), `{"at":1}`)
	if err := wider.store(put{0, `{"id":2,"name":"x"}`}); err == nil || !strings.Contains(err.Error(), `table lake.t has no column for field "name"`) {
		t.Errorf("storing what there is no column for: %v", err)
	}
}
