package materialize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// stream renders a configured stream; more are further members of it, like `"generation_id":1`.
func stream(name, namespace, mode, key string, more ...string) string {
	s := fmt.Sprintf(`{"stream":{"name":%q,"namespace":%s,"json_schema":{"type":"object","properties":{"id":{"type":"integer"},"v":{},"_meta":{"type":"object","properties":{"op":{"type":"string"}}}},`+
		`"required":["id"]}},"sync_mode":"incremental","destination_sync_mode":%q`, name, namespace, mode)
	if key != "" {
		s += fmt.Sprintf(`,"primary_key":[[%q]]`, key)
	}
	return strings.Join(append([]string{s}, more...), ",") + "}"
}

// merging makes the documents of a stream's key one, as those of our own sources.
func merging(stream string) string {
	return strings.Replace(stream, `"json_schema":{`, `"json_schema":{"reduce":{"strategy":"merge"},`, 1)
}

func catalogOf(streams ...string) string { return `{"streams":[` + strings.Join(streams, ",") + `]}` }

func record(stream string, doc string) string {
	return fmt.Sprintf(`{"type":"RECORD","record":{"stream":%q,"data":%s,"emitted_at":1724500000123}}`, stream, doc)
}

func stateOf(stream, state string) string {
	return fmt.Sprintf(`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{"name":%q},"stream_state":%s}}}`, stream, state)
}

func global(state string) string {
	return fmt.Sprintf(`{"type":"STATE","state":{"type":"GLOBAL","global":{"shared_state":%s,"stream_states":[]}}}`, state)
}

func statusOf(stream, status string) string {
	return fmt.Sprintf(`{"type":"TRACE","trace":{"type":"STREAM_STATUS","emitted_at":1.0,"stream_status":{"stream_descriptor":{"name":%q},"status":%q}}}`, stream, status)
}

// echoed is a STATE as `write` prints it.
func echoed(line string, records int) string {
	return strings.TrimSuffix(line, "}}") + fmt.Sprintf(`,"destinationStats":{"recordCount":%d.0}}}`, records)
}

// expect compares what happened: commits and lines on stdout, in order.
func (v *vault) expect(t *testing.T, want ...string) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Equal(v.events, want) {
		t.Errorf("what happened is\n%s\nwant\n%s", strings.Join(v.events, "\n"), strings.Join(want, "\n"))
	}
}

func (v *vault) expectRows(t *testing.T, path, want string) {
	t.Helper()
	if got := v.rows(path); got != want {
		t.Errorf("table %s holds %s\nwant %s", path, got, want)
	}
}

// expectExit checks an exit code, and with 1 that one sentence tells why.
func (v *vault) expectExit(t *testing.T, exit, want int, sentence string) {
	t.Helper()
	errs := v.printed(`"type":"ERROR"`)
	if exit != want || (want == 0) != (len(errs) == 0) || sentence != "" && (len(errs) != 1 || !strings.Contains(errs[0], sentence)) {
		t.Errorf("exit %d, errors %q, want %d and %q", exit, errs, want, sentence)
	}
}

func TestWrite_AppendOnlyAddsRows(t *testing.T) {
	v := newVault(t)
	exit := v.write(t, catalogOf(stream("orders", "null", "append", "id")), []string{record("orders", `{"id":1}`), record("orders", `{"id":2}`), record("orders", `{"id":1}`), record("orders", `{"v":1}`), stateOf("orders", "1")})
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1} {"id":2} {"id":1} {"v":1}`)
}

func TestWrite_AppendDedupHasARowForEachKey(t *testing.T) {
	for _, own := range []bool{false, true} {
		v := newVault(t)
		c := catalogOf(stream("orders", "null", "append_dedup", "id"))
		if own { // the stream's own key is as good
			c = strings.Replace(strings.Replace(c, `,"primary_key":[["id"]]`, "", 1), `"json_schema"`, `"source_defined_primary_key":[["id"]],"json_schema"`, 1)
		}
		exit := v.write(t, c, []string{record("orders", `{"id":1,"v":1}`), record("orders", `{"id":2}`), record("orders", `{"id":1}`), stateOf("orders", "1")})
		v.expectExit(t, exit, 0, "")
		v.expectRows(t, "main.orders", `{"id":1} {"id":2}`)
		// Keys that are there already are loaded, as far as the schema needs it, and updated.
		exit = v.write(t, merging(c), []string{record("orders", `{"id":2,"v":5}`), record("orders", `{"id":3}`), stateOf("orders", "2")})
		v.expectExit(t, exit, 0, "")
		v.expectRows(t, "main.orders", `{"id":1} {"id":2,"v":5} {"id":3}`)
	}
}

func TestWrite_AppendDedupNeedsAKey(t *testing.T) {
	v := newVault(t)
	exit := v.write(t, catalogOf(stream("orders", `"public"`, "append_dedup", "")), nil)
	v.expectExit(t, exit, 1, "stream public.orders is to be deduplicated, but has no key")
}

func TestWrite_OverwriteWaitsForComplete(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "overwrite", ""))
	lines := func(id string) []string { return []string{record("orders", `{"id":`+id+`}`), stateOf("orders", id)} }
	// bug materializations 84: the final table was replaced by an empty one after an error of the source (AB #33230)
	exit := v.write(t, c, lines("1"))
	v.expectExit(t, exit, 1, "the source ended before stream orders was complete, so its table stays as it was, without 1 new records")
	v.expectRows(t, "main.orders", "")
	if len(v.printed(`"STATE"`)) != 0 {
		t.Error("a STATE is printed whose rows nobody sees")
	}
	v.events = nil
	state := stateOf("orders", "1")
	exit = v.write(t, c, append(lines("1"), statusOf("orders", "COMPLETE")))
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1}`)
	v.expect(t, statusOf("orders", "COMPLETE"), "commit 1", echoed(state, 1))
	// The next one: another row, but an end of the source that is none.
	v.events = nil
	exit = v.write(t, c, append(lines("2"), statusOf("orders", "INCOMPLETE")), "--complete-on-eof")
	v.expectExit(t, exit, 1, "stream orders was complete")
	v.expectRows(t, "main.orders", `{"id":1}`)
	v.events = nil
	exit = v.write(t, c, append(lines("3"), record("orders", `{"id":4}`)), "--complete-on-eof")
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":3} {"id":4}`)
	if v.tables["main.orders~new"] != nil {
		t.Error("the new table is still there beside the old one")
	}
}

func TestWrite_OverwriteWithAKeyKeepsOneRowEach(t *testing.T) {
	v := newVault(t)
	exit := v.write(t, merging(catalogOf(stream("orders", "null", "overwrite", "id"))),
		[]string{record("orders", `{"id":1,"v":1}`), record("orders", `{"id":1,"x":2}`), statusOf("orders", "COMPLETE"), statusOf("orders", "STARTED")})
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1,"v":1,"x":2}`)
	exit = v.write(t, catalogOf(stream("orders", "null", "overwrite", "id")), []string{statusOf("orders", "COMPLETE"), record("orders", `{"id":1}`)})
	v.expectExit(t, exit, 1, "after the stream was complete and its table replaced")
	v.expectRows(t, "main.orders", "")
}

func TestWrite_OtherStreamsDoNotWaitForAnOverwrittenOne(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("orders", "null", "overwrite", ""), stream("visits", "null", "append", ""))
	a, b := stateOf("orders", "1"), stateOf("visits", "2")
	exit := v.write(t, c, []string{record("orders", `{"id":1}`), a, record("visits", `{"id":2}`), b})
	v.expectExit(t, exit, 1, "stream orders was complete")
	v.expectRows(t, "main.visits", `{"id":2}`)
	if got := v.printed(`"STATE"`); !slices.Equal(got, []string{echoed(b, 1)}) {
		t.Errorf("printed %q", got)
	}
	// A state of all streams waits for all of them.
	v.events = nil
	g := global("3")
	exit = v.write(t, c, []string{record("orders", `{"id":1}`), g})
	v.expectExit(t, exit, 1, "stream orders was complete")
	if got := v.printed(`"STATE"`); len(got) != 0 {
		t.Errorf("printed %q", got)
	}
}

func TestWrite_Generations(t *testing.T) {
	v := newVault(t)
	run := func(id, generation, minimum string, want string) {
		t.Helper()
		v.events = nil
		c := catalogOf(stream("orders", "null", "append", "", `"generation_id":`+generation, `"minimum_generation_id":`+minimum, `"sync_id":1`))
		exit := v.write(t, c, []string{record("orders", `{"id":`+id+`}`), stateOf("orders", id), statusOf("orders", "COMPLETE")})
		v.expectExit(t, exit, 0, "")
		v.expectRows(t, "main.orders", want)
	}
	// PyAirbyte sends 1 and 1, always, for append too.
	run("1", "1", "1", `{"id":1}`)
	run("2", "1", "1", `{"id":1} {"id":2}`)
	run("3", "2", "2", `{"id":3}`)
	run("4", "2", "2", `{"id":3} {"id":4}`)
	run("5", "4", "3", `{"id":3} {"id":4} {"id":5}`) // some rows of the last generation may stay, so all do
	run("6", "4", "4", `{"id":3} {"id":4} {"id":5} {"id":6}`)
	run("7", "null", "null", `{"id":3} {"id":4} {"id":5} {"id":6} {"id":7}`)
	run("8", "5", "5", `{"id":8}`)
	// A table that remembers none: nobody knows whose rows these are, so they stay.
	v.tables["main.orders"].checkpoint = nil
	run("9", "6", "6", `{"id":8} {"id":9}`)
	run("10", "7", "7", `{"id":10}`)
}

func TestWrite_NamespacesAreSchemas(t *testing.T) {
	v := newVault(t)
	c := catalogOf(stream("sales.orders", `"sales"`, "append", ""), stream("orders", `"other"`, "append", ""), stream("a.b", "null", "append", ""), stream("visits", `""`, "append", ""))
	in := func(stream, namespace string) string {
		return fmt.Sprintf(`{"type":"RECORD","record":{"stream":%q,"namespace":%q,"data":{"id":1},"emitted_at":1}}`, stream, namespace)
	}
	exit := v.write(t, c, []string{in("sales.orders", "sales"), in("orders", "other"), record("a.b", `{"id":1}`), record("visits", `{"id":1}`)}, "--complete-on-eof")
	v.expectExit(t, exit, 0, "")
	for _, path := range []string{"sales.orders", "other.orders", "main.a.b", "main.visits"} {
		v.expectRows(t, path, `{"id":1}`)
	}
}

func TestWrite_ProjectionsOfTheSource(t *testing.T) {
	v := newVault(t)
	c := merging(catalogOf(stream("orders", "null", "append_dedup", "id", `"estuary.dev/projections":{"id":"/key/number","v":"/deep/v"}`)))
	lines := []string{record("orders", `{"key":{"number":1},"deep":{"v":2}}`), record("orders", `{"key":{"number":1},"deep":{"w":3}}`), stateOf("orders", "1")}
	exit := v.write(t, c, lines)
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"key":{"number":1},"deep":{"v":2,"w":3}}`)
}

func TestWrite_TwoStreamsIntoOneTable(t *testing.T) {
	v := newVault(t)
	exit := v.write(t, catalogOf(stream("s.orders", `"s"`, "append", ""), stream("orders", `"s"`, "append", "")), nil)
	v.expectExit(t, exit, 1, "both write into s.orders")
}

func TestWrite_EndOfInput(t *testing.T) {
	c := catalogOf(stream("orders", "null", "append", ""))
	for _, x := range []struct {
		name  string
		more  []string
		flags []string
		exit  int
		rows  string
	}{
		{"a source that crashed", nil, nil, 1, `{"id":1}`},
		{"a source that gave up", []string{statusOf("orders", "INCOMPLETE")}, nil, 1, `{"id":1}`},
		{"a source that gave up, whatever the caller says", []string{statusOf("orders", "INCOMPLETE")}, []string{"--complete-on-eof"}, 1, `{"id":1}`},
		{"complete", []string{statusOf("orders", "COMPLETE")}, nil, 0, `{"id":1} {"id":2}`},
		{"complete, by the caller's word", nil, []string{"--complete-on-eof"}, 0, `{"id":1} {"id":2}`},
		{"complete, and then not", []string{statusOf("orders", "COMPLETE"), record("orders", `{"id":3}`)}, nil, 1, `{"id":1}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			v := newVault(t)
			state := stateOf("orders", "1")
			exit := v.write(t, c, append([]string{statusOf("orders", "STARTED"), record("orders", `{"id":1}`), state, record("orders", `{"id":2}`)}, x.more...), x.flags...)
			v.expectExit(t, exit, x.exit, "")
			v.expectRows(t, "main.orders", x.rows)
			if got := v.printed(`"STATE"`); !slices.Equal(got, []string{echoed(state, 1)}) {
				t.Errorf("printed %q", got)
			}
		})
	}
}

func TestWrite_UnterminatedLastLine(t *testing.T) {
	v := newVault(t)
	c := v.config(t)
	state := stateOf("orders", "1")
	in := record("orders", `{"id":1}`) + "\n" + state + "\n" + record("orders", `{"id":2}`)[:60]
	exit := v.run(t, strings.NewReader(in), "write", "--config", c, "--catalog", file(t, catalogOf(stream("orders", "null", "append", ""))))
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1}`)
}

func TestWrite_UnknownStream(t *testing.T) {
	v := newVault(t)
	state := stateOf("orders", "1")
	exit := v.write(t, catalogOf(stream("orders", "null", "append", "")), []string{record("orders", `{"id":1}`), state, record("visits", `{"id":1}`), record("orders", `{"id":2}`), stateOf("orders", "2")})
	v.expectExit(t, exit, 1, "a record of stream visits, which the catalog does not have")
	v.expectRows(t, "main.orders", `{"id":1}`)
	if v.events[0] != "commit 1" || v.events[1] != echoed(state, 1) {
		t.Errorf("what came before is not committed: %q", v.events)
	}
}

func TestWrite_MissingNamespace(t *testing.T) {
	v := newVault(t)
	exit := v.write(t, catalogOf(stream("orders", `"sales"`, "append", "")), []string{record("orders", `{"id":1}`), statusOf("orders", "COMPLETE")})
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "sales.orders", `{"id":1}`)
	exit = v.write(t, catalogOf(stream("orders", `"sales"`, "append", ""), stream("orders", `"other"`, "append", "")), []string{record("orders", `{"id":1}`)})
	v.expectExit(t, exit, 1, "a record of stream orders, which the catalog does not have")
}

func TestWrite_OtherLines(t *testing.T) {
	v := newVault(t)
	log := `{"type":"LOG","log":{"level":"WARN","message":"slow"}}`
	trace := `{"type": "TRACE", "trace": {"type": "ESTIMATE", "emitted_at": 1.0, "estimate": {"name": "orders", "type": "STREAM"}}}`
	exit := v.write(t, catalogOf(stream("orders", "null", "append", "")),
		[]string{log, "Collecting orders …", trace, "", `[1]`, `{'type': 'RECORD'}`, `{"level":"info`, `{"type":"SPEC","spec":{}}`, `{"type":"CONTROL","control":{}}`, `{"a":1}`, record("orders", `{"id":1}`), stateOf("orders", "1")})
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1}`)
	var others []string
	for _, e := range v.events {
		if !strings.HasPrefix(e, "commit") && !strings.Contains(e, `"STATE"`) {
			others = append(others, e)
		}
	}
	want := []string{log, `{"type":"LOG","log":{"level":"INFO","message":"the source printed a line that is no message line=Collecting orders …"}}`, trace}
	if len(others) != 7 || !slices.Equal(others[:3], want) || !strings.Contains(others[3], "line=[1]") || !strings.Contains(others[6], `line={\"a\":1}`) {
		t.Errorf("printed\n%s", strings.Join(others, "\n"))
	}
}

func TestWrite_BrokenMessagesAreErrors(t *testing.T) {
	for line, sentence := range map[string]string{
		`{"type":"RECORD","record":{"stream":"orders"}}`: "RECORD that is not as the protocol has it",
		`{"type":"REC`: "a broken line, which may have been a record",
		`{"type":"RECORD","record":{"stream":"orders","data":{"id":1},"emi{"type":"LOG"}`:      "a broken line",
		record("orders", `{"id":1}`) + record("orders", `{"id":2}`):                            "a broken line",
		`{"type":"STATE","state":{"type":"STREAM","stream":{"stream_descriptor":{}}}}`:         "STATE that is not as the protocol has it",
		`{"type":"STATE","state":{"type":"LEGACY","data":[1],"estuary.dev/merge":true}}`:       "merge patch",
		`{"type":"RECORD","record":{"stream":"orders","data":[1],"emitted_at":1}}`:             "a record of stream orders is no usable document",
		`{"type":"RECORD","record":{"stream":"orders","data":{"id":null},"emitted_at":1}}`:     "a record of stream orders has no usable key: field id is null",
		`{"type":"RECORD","record":{"stream":"orders","data":{"id":"x","id":{}},"emitted_at":`: "a broken line",
	} {
		v := newVault(t)
		exit := v.write(t, catalogOf(stream("orders", "null", "append_dedup", "id")), []string{record("orders", `{"id":1}`), stateOf("orders", "1"), line})
		v.expectExit(t, exit, 1, sentence)
		v.expectRows(t, "main.orders", `{"id":1}`)
	}
}

func TestWrite_Deletions(t *testing.T) {
	for _, hard := range []bool{false, true} {
		v := newVault(t)
		v.hard = hard
		c := merging(catalogOf(stream("orders", "null", "append_dedup", "id")))
		v.write(t, c, []string{record("orders", `{"id":1,"v":1,"_meta":{"op":"c"}}`), record("orders", `{"id":2,"v":2,"_meta":{"op":"c"}}`), stateOf("orders", "1")})
		exit := v.write(t, c, []string{record("orders", `{"id":1,"_meta":{"op":"d"}}`), record("orders", `{"id":3,"_meta":{"op":"d"}}`), stateOf("orders", "2")})
		v.expectExit(t, exit, 0, "")
		want := `{"id":1,"v":1,"_meta":{"op":"d"}} {"id":2,"v":2,"_meta":{"op":"c"}}`
		if hard {
			want = `{"id":2,"v":2,"_meta":{"op":"c"}}`
		}
		v.expectRows(t, "main.orders", want)
	}
}

func TestWrite_RepeatedRecordsDoNotShowInAKeyedTable(t *testing.T) {
	v := newVault(t)
	c := merging(catalogOf(stream("orders", "null", "append_dedup", "id")))
	lines := []string{
		record("orders", `{"id":1,"v":1,"_meta":{"op":"c"}}`), record("orders", `{"id":2,"v":1,"_meta":{"op":"c"}}`), record("orders", `{"id":1,"w":2,"_meta":{"op":"u"}}`),
		record("orders", `{"id":2,"_meta":{"op":"d"}}`), record("orders", `{"id":2,"w":5,"_meta":{"op":"c"}}`), record("orders", `{"id":1,"_meta":{"op":"d"}}`), stateOf("orders", "1"),
	}
	v.write(t, c, lines)
	want := v.rows("main.orders")
	for range 2 {
		v.write(t, c, lines)
		v.expectRows(t, "main.orders", want)
	}
}

func TestWrite_LoadsAsLittleAsPossible(t *testing.T) {
	c := catalogOf(stream("orders", "null", "append_dedup", "id"))
	lines := []string{record("orders", `{"id":1}`), record("orders", `{"id":2}`), stateOf("orders", "1")}
	for _, x := range []struct {
		name, catalog string
		upsert        bool
		loads         int // of a second run
	}{
		{"documents that are joined", merging(c), true, 2},
		{"documents that replace each other, a destination that must be told", c, false, 2},
		{"documents that replace each other, a destination that finds out", c, true, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			v := newVault(t)
			v.upsert = x.upsert
			v.write(t, x.catalog, lines)
			if v.loads != 0 {
				t.Errorf("%d keys of an empty table are loaded", v.loads)
			}
			exit := v.write(t, x.catalog, append(lines, record("orders", `{"id":2,"v":3}`), record("orders", `{"id":1,"_meta":{"op":"d"}}`), stateOf("orders", "2")))
			v.expectExit(t, exit, 0, "")
			if v.loads != x.loads {
				t.Errorf("%d keys are loaded, want %d", v.loads, x.loads)
			}
			v.expectRows(t, "main.orders", `{"id":1,"_meta":{"op":"d"}} {"id":2,"v":3}`)
		})
	}
}

func TestWrite_RefusesReductionsThatCountTwice(t *testing.T) {
	v := newVault(t)
	c := strings.Replace(merging(catalogOf(stream("orders", "null", "append_dedup", "id"))), `"v":{}`, `"v":{"type":"integer","reduce":{"strategy":"sum"}}`, 1)
	lines := []string{record("orders", `{"id":1,"v":1}`), record("orders", `{"id":1,"v":2}`), stateOf("orders", "1")}
	exit := v.write(t, c, lines)
	v.expectExit(t, exit, 1, "stream orders: the reduction at /properties/v/reduce of its schema counts a record twice")
	v.events = nil
	exit = v.write(t, c, lines, "--resumed")
	v.expectExit(t, exit, 0, "")
	v.expectRows(t, "main.orders", `{"id":1,"v":3}`)
	// Rows that are only added are not reduced.
	exit = v.write(t, strings.Replace(c, "append_dedup", "append", 1), nil)
	if _, bad := v.tables["main.orders"]; exit != 0 || !bad {
		t.Errorf("append ends with %d", exit)
	}
}

func TestWrite_WhatTheDestinationCannotDo(t *testing.T) {
	for _, x := range []struct{ lacks, mode, sentence string }{
		{"Loader", "append_dedup", "materialize-vault reads no documents back, so stream orders cannot have one for each key"},
		{"Loader", "append", ""},
		{"Replacer", "overwrite", "materialize-vault cannot replace a table as a whole, as stream orders asks for"},
		{"Replacer", "append_dedup", ""},
	} {
		v := newVault(t)
		v.lacks = x.lacks
		exit := v.write(t, catalogOf(stream("orders", "null", x.mode, "id")), nil)
		want := 0
		if x.sentence != "" {
			want = 1
		}
		v.expectExit(t, exit, want, x.sentence)
	}
}

func TestWrite_FailedTransactionsPrintNothing(t *testing.T) {
	for _, phase := range []string{"load", "store", "commit", "acknowledge"} {
		v := newVault(t)
		c := merging(catalogOf(stream("orders", "null", "append_dedup", "id")))
		v.write(t, c, []string{record("orders", `{"id":1}`), stateOf("orders", "1")})
		v.events, v.fail = nil, phase
		exit := v.write(t, c, []string{record("orders", `{"id":2}`), stateOf("orders", "2")})
		v.fail = ""
		if phase == "acknowledge" { // the table has it, and nobody was told: it comes again
			if exit != 1 || len(v.printed(`"STATE"`)) != 0 {
				t.Errorf("acknowledge: exit %d, printed %q", exit, v.printed(`"STATE"`))
			}
			continue
		}
		v.expectExit(t, exit, 1, "the vault is locked")
		v.expectRows(t, "main.orders", `{"id":1}`)
		if len(v.printed(`"STATE"`)) != 0 || !strings.Contains(v.state(t, c), `"stream_state":1`) {
			t.Errorf("%s: printed %q, state %s", phase, v.printed(`"STATE"`), v.state(t, c))
		}
	}
}
