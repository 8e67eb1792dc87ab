package runner

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/internal/pipeline/config"
	"github.com/estuary/connectors/protocol"
)

// offered is a stream that a source offers, whatever the protocol.
type offered struct {
	name      string // the stream's name
	namespace string // "": none
	path      []string
	resource  []byte // of a Flow source
	schema    []byte
	key       []string
	fallback  bool // key is a substitute: documents of one key are no versions of one thing
	complete  bool // the schema names every property
}

// full is namespace.name; a name that repeats its namespace is full already.
func (o *offered) full() string {
	if o.namespace == "" || strings.HasPrefix(o.name, o.namespace+".") {
		return o.name
	}
	return o.namespace + "." + o.name
}

// table is the name without its namespace.
func (o *offered) table() string {
	if rest, ok := strings.CutPrefix(o.name, o.namespace+"."); ok && rest != "" && o.namespace != "" {
		return rest
	}
	return o.name
}

// chosen is an offered stream with the entry that names it.
type chosen struct {
	*offered
	entry *config.Stream
}

// choose returns the streams that the entries name. A stream belongs to the first entry that matches, an exact name before any pattern. An entry that
// matches nothing is a problem: a misspelt one would leave a stream out unnoticed.
func choose(streams []offered, entries []config.Stream) ([]chosen, []error) {
	taken := make([]int, len(streams)) // entry + 1
	var problems []error
	for _, exact := range []bool{true, false} {
		for e := range entries {
			pattern := entries[e].Pattern
			if exact == strings.ContainsAny(pattern, "*?") {
				continue
			}
			found, fresh := false, false
			for i := range streams {
				if !matches(pattern, streams[i].name) && !matches(pattern, streams[i].full()) {
					continue
				}
				found = true
				if taken[i] == 0 {
					taken[i] = e + 1
					fresh = true
				}
			}
			switch {
			case !found:
				problems = append(problems, noStream(streams, pattern))
			case exact && !fresh:
				problems = append(problems, &protocol.Problem{
					Kind: protocol.Config, Summary: fmt.Sprintf("the stream %q is named twice", pattern),
					Fix: "leave one of the entries out: a stream goes into one table; a second pipeline, with a name of its own, fills a second one",
				})
			}
		}
	}
	var list []chosen
	for e := range entries {
		for i := range streams {
			if taken[i] == e+1 {
				list = append(list, chosen{&streams[i], &entries[e]})
			}
		}
	}
	return list, problems
}

// matches tells whether a pattern with * and ? stands for a whole name.
func matches(pattern, name string) bool {
	expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	ok, err := regexp.MatchString("(?s)^"+expression+"$", name)
	return err == nil && ok
}

// bare is a stream's name without its namespace, which no dot is part of.
func bare(full string) string {
	if _, name, ok := strings.Cut(full, "."); ok {
		return name
	}
	return full
}

func noStream(streams []offered, pattern string) error {
	names := make([]string, 0, 2*len(streams))
	for i := range streams {
		names = append(names, streams[i].name, streams[i].full())
	}
	p := &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("the source has no stream %q", pattern), Fix: "it has no streams at all"}
	if near := nearest(pattern, names); near != "" {
		p.Fix = fmt.Sprintf("the nearest of its %d streams is %q", len(streams), near)
	}
	return p
}

func nearest(name string, names []string) string {
	best, distance := "", 0
	for _, n := range names {
		if d := command.Distance(name, n); best == "" || d < distance {
			best, distance = n, d
		}
	}
	return best
}

// Matching returns the names that comma-separated patterns stand for. Each has to stand for one at least.
func Matching(names []string, patterns string) (chosen []string, err error) {
	taken := make([]bool, len(names))
	for _, pattern := range strings.Split(patterns, ",") {
		pattern = strings.TrimSpace(pattern)
		found := false
		for i, name := range names {
			if matches(pattern, name) || matches(pattern, bare(name)) {
				taken[i], found = true, true
			}
		}
		if !found {
			return nil, &protocol.Problem{Kind: protocol.Config, Summary: fmt.Sprintf("the source has no stream %q", pattern), Fix: fmt.Sprintf("the nearest is %q", nearest(pattern, names))}
		}
	}
	for i, name := range names {
		if taken[i] {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}
