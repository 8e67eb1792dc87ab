package main

import (
	"slices"
	"testing"
)

func TestWithout(t *testing.T) {
	for _, c := range []struct {
		indexes []int
		want    []string
	}{
		{nil, []string{"a", "b", "c"}}, {[]int{1}, []string{"a", "c"}}, {[]int{0, 2}, []string{"b"}}, {[]int{0, 1, 2}, []string{}},
	} {
		if got := without([]string{"a", "b", "c"}, c.indexes); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, want %v", c.indexes, got, c.want)
		}
	}
	if got := without[string](nil, []int{1}); got != nil {
		t.Errorf("the row that is not there became %v", got)
	}
}
