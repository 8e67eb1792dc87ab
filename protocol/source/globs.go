package source

import (
	"fmt"
	"strings"

	"github.com/estuary/connectors/internal/command"
	"github.com/estuary/connectors/protocol"
)

// selectStreams returns the streams that comma-separated globs name, in their own order. Each glob must match something: a misspelt one would leave a
// stream out unnoticed.
func selectStreams(streams []protocol.Stream, globs string) ([]protocol.Stream, error) {
	chosen := make([]bool, len(streams))
	for _, g := range strings.Split(globs, ",") {
		g = strings.TrimSpace(g)
		found := false
		for i, s := range streams {
			if protocol.Glob(g, s.Name) || s.Namespace != "" && protocol.Glob(g, fullName(s)) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, noStream(streams, g)
		}
	}
	var list []protocol.Stream
	for i, s := range streams {
		if chosen[i] {
			list = append(list, s)
		}
	}
	return list, nil
}

// fullName is namespace.name; a name that repeats its namespace is full already.
func fullName(s protocol.Stream) string {
	if strings.HasPrefix(s.Name, s.Namespace+".") {
		return s.Name
	}
	return s.Namespace + "." + s.Name
}

func noStream(streams []protocol.Stream, g string) error {
	nearest, distance := "", 0
	for _, s := range streams {
		for _, name := range []string{s.Name, fullName(s)} {
			if d := command.Distance(g, name); nearest == "" || d < distance {
				nearest, distance = name, d
			}
		}
	}
	p := command.Problem(fmt.Sprintf("no stream matches %q", g), "the source has no streams")
	if nearest != "" {
		p.Fix = fmt.Sprintf("the nearest of its %d streams is %q", len(streams), nearest)
	}
	return p
}
