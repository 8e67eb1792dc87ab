package materialize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// STATEs of a table that is hours in the making do not fill the memory: the last of each stream stands for those before it, patches apart.
func TestWrite_OverwrittenTablesHoldFewStates(t *testing.T) {
	defer func(n int) { heldBytes = n }(heldBytes)
	heldBytes = 500
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "overwrite", ""), stream("visits", "null", "overwrite", ""))
	var lines []string
	for i := range 40 {
		lines = append(lines, record("orders", `{"id":1}`), stateOf("orders", strconv.Itoa(i)))
		if i%10 == 0 {
			lines = append(lines, record("visits", `{"id":2}`), stateOf("visits", strconv.Itoa(i)))
		}
	}
	exit := v.write(t, c, append(lines, statusOf("visits", "COMPLETE"), statusOf("orders", "COMPLETE")))
	v.expectExit(t, exit, 0, "")
	got := v.printed(`"STATE"`)
	sums := map[string]int{}
	for _, line := range got {
		var m struct {
			State struct {
				Stream struct {
					Descriptor struct{ Name string } `json:"stream_descriptor"`
				}
				Stats struct{ RecordCount float64 } `json:"destinationStats"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		sums[m.State.Stream.Descriptor.Name] += int(m.State.Stats.RecordCount)
	}
	if len(got) > 10 || sums["orders"] != 40 || sums["visits"] != 4 || !strings.Contains(got[len(got)-1], `"stream_state":39`) {
		t.Errorf("%d STATEs count %v records, want at most ten that count 40 and 4, the last of them last:\n%s", len(got), sums, strings.Join(got, "\n"))
	}
	// What has changed since the STATE before is no use without that.
	v.events, lines = nil, nil
	for i := range 20 {
		lines = append(lines, record("orders", `{"id":1}`), fmt.Sprintf(`{"type":"STATE","state":{"type":"LEGACY","data":{"k%d":1},"estuary.dev/merge":true}}`, i))
	}
	exit = v.write(t, catalogOf(stream("orders", "null", "overwrite", "")), append(lines, statusOf("orders", "COMPLETE")))
	v.expectExit(t, exit, 0, "")
	if got := v.printed(`"STATE"`); len(got) != 20 {
		t.Errorf("%d of 20 patches are printed", len(got))
	}
}

func TestWrite_StatesFollowTheirRecordsInOrder(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""), stream("visits", "null", "append", ""))
	a, b, d := stateOf("orders", `{"n": 1.0}`), stateOf("visits", `{"n":2}`), stateOf("orders", `{"n":3}`)
	exit := v.write(t, c, []string{
		record("orders", `{"id":1}`), record("visits", `{"id":2}`), record("orders", `{"id":3}`), a, record("visits", `{"id":4}`), record("visits", `{"id":5}`), b, record("orders", `{"id":6}`), d, d,
	})
	v.expectExit(t, exit, 0, "")
	v.expect(t, "commit 6", echoed(a, 2), echoed(b, 3), echoed(d, 1), echoed(d, 0))
}

func TestWrite_StatesOfAllStreamsCountAll(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""), stream("visits", "null", "append", ""))
	g, h := global("1"), `{"type":"STATE","state":{"data":{"n":2}}}`
	exit := v.write(t, c, []string{record("orders", `{"id":1}`), record("visits", `{"id":2}`), g, record("visits", `{"id":3}`), h})
	v.expectExit(t, exit, 0, "")
	v.expect(t, "commit 3", echoed(g, 2), echoed(h, 1))
}

// A source writes several streams at a time: the STATE of one must neither wait for the others nor commit what only they cover.
func TestWrite_RecordsWithoutStateStayBehind(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""), stream("visits", "null", "append", ""))
	a := stateOf("orders", "1")
	exit := v.write(t, c, []string{record("visits", `{"id":1}`), record("orders", `{"id":2}`), record("visits", `{"id":3}`), a, record("orders", `{"id":4}`)})
	v.expectExit(t, exit, 1, "")
	errs := v.printed(`"ERROR"`)[0]
	for _, sentence := range []string{"before stream orders was complete, so 1 records after its last STATE are left out", "before stream visits was complete, so 2 records after"} {
		if !strings.Contains(errs, sentence) {
			t.Errorf("%s misses %q", errs, sentence)
		}
	}
	v.expectRows(t, "main.orders", `{"id":2}`)
	v.expectRows(t, "main.visits", "")
	if got := v.events[:2]; !slices.Equal(got, []string{"commit 1", echoed(a, 1)}) {
		t.Errorf("it began with %q: STATEs that were read come first", got)
	}
}

// PyAirbyte writes every null, floats for numbers, emitted_at in seconds, one key twice, and leaves the namespace out of records and traces.
func TestWrite_PyAirbytesForm(t *testing.T) {
	v := newVault(t)
	state := `{"type":"STATE","log":null,"spec":null,"state":{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"sales"},"stream_state":{"n":1}},"global_":null,"data":null,"sourceStats":{"recordCount":2.0},"destinationStats":null,"global_":null},"trace":null}`
	exit := v.write(t, catalogOf(stream("orders", `"sales"`, "append_dedup", "id", `"cursor_field":null`, `"generation_id":1`, `"minimum_generation_id":1`, `"sync_id":1`, `"include_files":null`)), []string{
		`{"type":"RECORD","log":null,"record":{"namespace":null,"stream":"orders","data":{"id":1,"_airbyte_raw_id":"x"},"emitted_at":1795982378,"meta":null},"state":null,"trace":null}`,
		`{"type":"RECORD","log":null,"record":{"namespace":null,"stream":"orders","data":{"id":2,"_airbyte_raw_id":"y"},"emitted_at":1795982378.5,"meta":null},"state":null,"trace":null}`,
		state,
		`{"type":"TRACE","record":null,"trace":{"type":"STREAM_STATUS","emitted_at":1795982378078.0,"error":null,"estimate":null,"stream_status":{"stream_descriptor":{"name":"orders","namespace":null},"status":"COMPLETE","reasons":null}}}`,
	})
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "sales.orders", `{"id":1,"_airbyte_raw_id":"x"} {"id":2,"_airbyte_raw_id":"y"}`)
	want := strings.Replace(state, `"destinationStats":null`, `"destinationStats":{"recordCount":2.0}`, 1)
	if got := v.printed(`"STATE"`); !slices.Equal(got, []string{want}) {
		t.Errorf("printed %q", got)
	}
}

func TestWrite_MergePatchesArePassedOnAndFolded(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "append", ""), stream("visits", "null", "append", ""))
	patch := func(p string) string { return `{"type":"STATE","state":{"data":` + p + `,"estuary.dev/merge":true}}` }
	a, b, d := patch(`{"shared":{"p":1},"bindings":{"a":1,"b":{"x":1}}}`), patch(`{"bindings":{"a":null}}`), patch(`{"bindings":{"b":{"y":2}}}`)
	exit := v.write(t, c, []string{record("orders", `{"id":1}`), a, b, d})
	v.expectExit(t, exit, 0, "")
	v.expect(t, "commit 1", echoed(a, 1), echoed(b, 0), echoed(d, 0))
	want := `[{"type":"LEGACY","data":{"shared":{"p":1},"bindings":{"b":{"x":1,"y":2}}}}]`
	if got := v.state(t, c); got != want && got != `[{"type":"LEGACY","data":{"bindings":{"b":{"x":1,"y":2}},"shared":{"p":1}}}]` {
		t.Errorf("the state is %s, want %s", got, want)
	}
	// The next run's patches go on from there.
	v.events = nil
	exit = v.write(t, c, []string{patch(`{"bindings":{"b":null}}`)})
	v.expectExit(t, exit, 0, "")
	if got := v.state(t, c); !strings.Contains(got, `"bindings":{}`) || !strings.Contains(got, `"shared":{"p":1}`) {
		t.Errorf("the state is %s", got)
	}
}

// state runs that command and returns the list.
func (v *vault) state(t *testing.T, catalog string) string {
	t.Helper()
	v.mu.Lock()
	v.events = nil
	v.mu.Unlock()
	if exit := v.run(t, nil, "state", "--config", v.config(t), "--catalog", file(t, catalog)); exit != 0 {
		t.Errorf("state ends with %d", exit)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.events, "\n")
}

func TestState_ListsTheLastOfEachStream(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", `"n"`, "append", ""), stream("visits", "null", "append", ""), stream("empty", "null", "append", ""))
	if got := v.state(t, c); got != "[]" {
		t.Errorf("before the first write: %s", got)
	}
	in := strings.Replace(stateOf("orders", `{"a":"<&>","b":1.50}`), `"name":"orders"`, `"name":"orders","namespace":"n"`, 1)
	v.write(t, c, []string{record("orders", `{"id":1}`), stateOf("orders", `{"a":0}`), stateOf("visits", `{"b":2}`), in, record("orders", `{"id":2}`)})
	want := `[{"type":"STREAM","stream":{"stream_descriptor":{"name":"orders","namespace":"n"},"stream_state":{"a":"<&>","b":1.50}}},{"type":"STREAM","stream":{"stream_descriptor":{"name":"visits"},"stream_state":{"b":2}}}]`
	if got := v.state(t, c); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestState_OfAllStreamsMustBeTheSameEverywhere(t *testing.T) {
	v := newVault(t)
	both, one := catalogOf(stream("orders", "null", "append", ""), stream("visits", "null", "append", "")), catalogOf(stream("visits", "null", "append", ""))
	v.write(t, both, []string{record("orders", `{"id":1}`), global("1")})
	if got := v.state(t, both); got != `[{"type":"GLOBAL","global":{"shared_state":1,"stream_states":[]}}]` {
		t.Errorf("got %s", got)
	}
	v.write(t, one, []string{global("2")})
	v.events = nil
	exit := v.run(t, nil, "state", "--config", v.config(t), "--catalog", file(t, both))
	v.expectExit(t, exit, 1, "the tables hold different ones: main.visits not the one of main.orders")
	if got := v.state(t, one); !strings.Contains(got, `"shared_state":2`) {
		t.Errorf("got %s", got)
	}
}

func TestState_NeedsADestinationThatKeepsThem(t *testing.T) {
	v := newVault(t)
	v.lacks = "CheckpointReader"
	exit := v.run(t, nil, "state", "--config", v.config(t), "--catalog", file(t, catalogOf(stream("orders", "null", "append", ""))))
	v.expectExit(t, exit, 1, "materialize-vault keeps no STATEs in its destination")
}
