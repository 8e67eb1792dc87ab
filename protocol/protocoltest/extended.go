package protocoltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fullRange is the whole key space, as it is written into a catalog.
var fullRange = map[string]string{"begin": "00000000", "end": "ffffffff"}

// extended is a runner that knows the extensions: it sends a range, projections and tail, and keeps one document to which each STATE is a merge patch.
func extended(s *session) error {
	streams, err := s.discover()
	if err != nil {
		return err
	}
	moved, projections, err := s.projections(streams)
	if err != nil {
		return err
	}
	how := incremental
	how.projections = projections
	how.root = map[string]any{"estuary.dev/range": fullRange, "estuary.dev/tail": false}
	text, err := configured(streams, how)
	if err != nil {
		return err
	}
	first, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: []byte("{}")})
	if err != nil {
		return err
	}
	s.sound("the first read", first)
	documents := s.foldPatches("the first read", first, nil)
	if len(documents) == 0 {
		return errNoState
	}
	if err := s.change(); err != nil {
		return err
	}
	var last any
	for _, n := range spread(len(documents), resumePoints) {
		what := fmt.Sprintf("a read from patch %d of %d", n, len(documents))
		kept := s.projected(first, n, moved)
		o, readErr := s.run(command{name: "read", config: s.f.Config, catalog: text, state: []byte(canonical(documents[n-1]))})
		if readErr != nil {
			return readErr
		}
		s.sound(what, o)
		for _, m := range o.of("RECORD") {
			s.foldProjected(kept, m.Record, moved)
		}
		if err := s.compare(kept, "after "+what); err != nil {
			return err
		}
		if more := s.foldPatches(what, o, documents[n-1]); len(more) > 0 {
			last = more[len(more)-1]
		}
	}
	// The extension's spelling without its prefix is read, too, and a STATE message may wrap the document.
	how.root = map[string]any{"range": map[string]string{"begin": "0", "end": "FFFFFFFF"}}
	if text, err = configured(streams, how); err != nil {
		return err
	}
	wrapped := map[string]any{"type": "LEGACY", "data": last}
	o, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: []byte(canonical(wrapped))})
	if err != nil {
		return err
	}
	s.sound("a read with nothing new", o)
	if n := len(o.of("RECORD")); n > 0 {
		s.report("a read from the folded patches printed %d RECORDs, but nothing had changed", n)
	}
	s.foldPatches("a read with nothing new", o, last)
	return nil
}

// projections moves one property of each stream below another: not a key, and not _meta.
func (s *session) projections(streams []discovered) (moved map[string]string, all map[string]map[string]string, err error) {
	moved, all = map[string]string{}, map[string]map[string]string{}
	for i, d := range streams {
		names, err := d.properties()
		if err != nil {
			return nil, nil, err
		}
		all[d.Name] = map[string]string{}
		for _, name := range names {
			isKey := slices.Contains(s.f.Streams[i].Key, name)
			if moved[d.Name] == "" && !isKey && name != "_meta" {
				moved[d.Name] = name
				all[d.Name][name] = "/moved~1here/" + name
			} else {
				all[d.Name][name] = "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			}
		}
		if moved[d.Name] == "" {
			return nil, nil, fmt.Errorf("the fixture's stream %s has nothing but its key, so that no projection can be tried", d.Name)
		}
	}
	return moved, all, nil
}

// projected folds the records that the first n STATEs cover. A patch is a checkpoint of all streams.
func (s *session) projected(o *output, n int, moved map[string]string) tables {
	kept := s.tables()
	for _, m := range o.messages {
		if m.Record != nil {
			s.foldProjected(kept, m.Record, moved)
		}
		if m.State != nil {
			if n--; n == 0 {
				break
			}
		}
	}
	return kept
}

// foldProjected puts the moved property back and folds the record.
func (s *session) foldProjected(kept tables, r *record, moved map[string]string) {
	value, err := parse(r.Data)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		s.report("a RECORD of %s cannot be read: %v", r.descriptor(), err)
		return
	}
	name := moved[r.Stream]
	if _, there := object[name]; there {
		s.report("a RECORD of %s has %s where it was, although a projection moves it: %.200s", r.descriptor(), name, r.Data)
	}
	if place, ok := object["moved/here"].(map[string]any); ok {
		object[name] = place[name]
		delete(object, "moved/here")
	}
	back := *r
	back.Data = json.RawMessage(canonical(object))
	s.fold(kept, &back)
}

// foldPatches folds the patches of a run into a document and returns it as it was after each STATE. Each STATE also has the whole state of its stream,
// which must be what the document says about it.
func (s *session) foldPatches(what string, o *output, document any) []any {
	var list []any
	for _, line := range o.lines {
		if err := strictAirbyte(line); err != nil {
			s.report("%s: %v", what, err)
		}
	}
	for _, m := range o.of("STATE") {
		if m.State.Stream == nil || !m.State.Merge || m.State.Data == nil {
			s.report("%s: a STATE is no merge patch beside a STREAM state, although the catalog has our keys: %.200s", what, m.line)
			continue
		}
		patch, err := parse(m.State.Data)
		if err != nil {
			s.report("%s: %v", what, err)
			continue
		}
		document = merge(document, patch)
		list = append(list, document)
		whole, err := parse(m.State.Stream.State)
		if err != nil {
			s.report("%s: %v", what, err)
			continue
		}
		s.sameState(what, m.State.Stream.Descriptor, document, whole)
	}
	return list
}

// orEmpty prints what streams share, which may be nothing.
func orEmpty(shared any) string {
	if shared == nil {
		return "{}"
	}
	return canonical(shared)
}

// sameState: shared is the document's shared part, and the rest is one of its bindings.
func (s *session) sameState(what string, d descriptor, document, whole any) {
	object, _ := document.(map[string]any)
	state, _ := whole.(map[string]any)
	if own, folded := orEmpty(state["~shared"]), orEmpty(object["shared"]); own != folded {
		s.report("%s: the whole state of %s and the folded patches disagree about what streams share: %.200s, %.200s", what, d, own, folded)
	}
	own := canonical(without(whole, "~shared"))
	bindings, _ := object["bindings"].(map[string]any)
	for _, binding := range bindings {
		if canonical(binding) == own {
			return
		}
	}
	if own != "{}" {
		s.report("%s: the whole state of %s is not in the folded patches: %.200s, %.300s", what, d, own, canonical(bindings))
	}
}

// splitRange gives the state of one process to two, each with half of the key space: every stream, or part of one, comes from exactly one of them.
func splitRange(s *session) error {
	streams, err := s.discover()
	if err != nil {
		return err
	}
	kept := s.tables()
	_, parent, err := s.readRange("the whole range", streams, fullRange, nil, kept)
	if err != nil {
		return err
	}
	if err := s.compare(kept, "after the whole range"); err != nil {
		return err
	}
	if err := s.change(); err != nil {
		return err
	}
	// The upper one first: a source whose position is shared may have to copy what the lower one moves on.
	upper, upperState, err := s.readRange("the upper half", streams, map[string]string{"begin": "80000000", "end": "ffffffff"}, parent, kept)
	if err != nil {
		return err
	}
	lower, lowerState, err := s.readRange("the lower half", streams, map[string]string{"begin": "00000000", "end": "7fffffff"}, parent, kept)
	if err != nil {
		return err
	}
	s.disjoint(upper, lower)
	if err := s.compare(kept, "after both halves"); err != nil {
		return err
	}
	if err := s.change(); err != nil {
		return err
	}
	if lower, _, err = s.readRange("the lower half again", streams, map[string]string{"begin": "00000000", "end": "7fffffff"}, lowerState, kept); err != nil {
		return err
	}
	if upper, _, err = s.readRange("the upper half again", streams, map[string]string{"begin": "80000000", "end": "ffffffff"}, upperState, kept); err != nil {
		return err
	}
	s.disjoint(upper, lower)
	return s.compare(kept, "after both halves again")
}

// share is what came from one process: streams, or parts of those that are divided.
type share map[descriptor]map[string]bool

func (s *session) disjoint(upper, lower share) {
	for _, stream := range s.f.Streams {
		d := stream.descriptor()
		for part := range upper[d] {
			if lower[d][part] {
				s.report("both halves of the range bring %s %s", d, part)
			}
		}
		switch {
		case len(upper[d])+len(lower[d]) == 0:
			s.report("neither half of the range brings %s", d)
		case stream.Parts != "" && (len(upper[d]) == 0 || len(lower[d]) == 0):
			s.report("all parts of %s lie in one half of the range, so that nothing was split: choose other names", d)
		}
	}
	if len(upper) == 0 || len(lower) == 0 {
		s.report("the fixture's streams all lie in one half of the range, so that nothing was split: choose other names")
	}
}

// readRange reads a part of the key space and returns what came, and the state after it.
func (s *session) readRange(what string, streams []discovered, r map[string]string, from any, kept tables) (came share, document any, err error) {
	how := incremental
	how.root = map[string]any{"estuary.dev/range": r}
	text, err := configured(streams, how)
	if err != nil {
		return nil, nil, err
	}
	given := []byte("{}")
	if from != nil {
		given = []byte(canonical(from))
	}
	o, err := s.run(command{name: "read", config: s.f.Config, catalog: text, state: given})
	if err != nil {
		return nil, nil, err
	}
	s.sound(what, o)
	came = share{}
	for _, m := range o.of("RECORD") {
		d := m.Record.descriptor()
		if came[d] == nil {
			came[d] = map[string]bool{}
		}
		if f := kept[d]; f != nil {
			if doc, err := f.stream.document(m.Record.Data); err == nil {
				came[d][doc.part] = true
			}
		}
		s.fold(kept, m.Record)
	}
	documents := s.foldPatches(what, o, from)
	if len(documents) == 0 {
		return came, from, nil
	}
	return came, documents[len(documents)-1], nil
}
