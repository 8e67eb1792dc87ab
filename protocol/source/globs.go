package source

import (
	"fmt"
	"strings"

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
			if glob(g, s.Name) || s.Namespace != "" && glob(g, fullName(s)) {
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
			if d := editDistance(g, name); nearest == "" || d < distance {
				nearest, distance = name, d
			}
		}
	}
	p := problem(fmt.Sprintf("no stream matches %q", g), "the source has no streams")
	if nearest != "" {
		p.Fix = fmt.Sprintf("the nearest of its %d streams is %q", len(streams), nearest)
	}
	return p
}

// glob matches a whole name; * stands for any characters, ? for one.
func glob(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case star >= 0: // let the last star take one more
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// editDistance counts the insertions, deletions and replacements that lead from a to b.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			cost := diagonal
			if from[i] != to[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
