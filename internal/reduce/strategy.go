package reduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/estuary/connectors/internal/rawjson"
)

// The strategies. The zero strategy is lastWriteWins without members.
const (
	lastWriteWins   = ""
	firstWriteWins  = "firstWriteWins"
	merge           = "merge"
	appendItems     = "append"
	sum             = "sum"
	minimize        = "minimize"
	maximize        = "maximize"
	set             = "set"
	jsonSchemaMerge = "jsonSchemaMerge"
)

// membersOf lists what an annotation may hold besides the strategy.
var membersOf = map[string][]string{
	"lastWriteWins": {"associative", "delete"}, firstWriteWins: nil, merge: {"delete", "key"}, appendItems: nil, sum: nil, minimize: {"key"}, maximize: {"key"},
	set: {"key"}, jsonSchemaMerge: nil,
}

// strategy is a parsed annotation.
type strategy struct {
	name   string
	delete bool
	key    []rawjson.Pointer // nil: none
}

// idempotent tells whether the same document may be reduced twice.
func (s *strategy) idempotent() bool { return s.name != sum && s.name != appendItems && s.name != set }

func parseStrategy(annotation []byte) (*strategy, error) {
	var members map[string]json.RawMessage
	var name string
	if json.Unmarshal(annotation, &members) != nil || json.Unmarshal(members["strategy"], &name) != nil {
		return nil, errors.New(`it must be an object with a member "strategy"`)
	}
	known, ok := membersOf[name]
	if !ok {
		names := make([]string, 0, len(membersOf))
		for n := range membersOf {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("there is no strategy %q, the known ones are %s", name, strings.Join(names, ", "))
	}
	s := &strategy{name: name}
	if name == "lastWriteWins" {
		s.name = lastWriteWins
	}
	for member, value := range members {
		if member == "strategy" {
			continue
		}
		if !slices.Contains(known, member) {
			return nil, fmt.Errorf("the strategy %s has no member %q", name, member)
		}
		if err := s.set(member, value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *strategy) set(member string, value json.RawMessage) error {
	if member == "key" {
		var pointers []string
		if json.Unmarshal(value, &pointers) != nil || len(pointers) == 0 {
			return errors.New(`its "key" must be a list of JSON pointers`)
		}
		for _, text := range pointers {
			p, err := rawjson.ParsePointer(text)
			if err != nil {
				return err
			}
			s.key = append(s.key, p)
		}
		return nil
	}
	var on bool
	if json.Unmarshal(value, &on) != nil {
		return fmt.Errorf("its %q must be true or false", member)
	}
	if member == "delete" {
		s.delete = on
	}
	return nil // associative: taking the later value is associative in any case
}
