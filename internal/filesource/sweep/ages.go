package sweep

import "cmp"

// age is an entry of `seen` by its time.
type age struct {
	second int64
	hash   uint64
}

func (a age) compare(b age) int {
	return cmp.Or(cmp.Compare(a.second, b.second), cmp.Compare(a.hash, b.hash))
}

// ages is a heap, oldest first.
type ages []age

func (a ages) Len() int           { return len(a) }
func (a ages) Less(i, j int) bool { return a[i].compare(a[j]) < 0 }
func (a ages) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *ages) Push(x any)        { *a = append(*a, x.(age)) } //nolint:forcetypeassert // container/heap hands back what was pushed
func (a *ages) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}
