package sqlcapture

import (
	"bytes"
	"sort"

	"github.com/estuary/connectors/sqlcapture/rowkey"
)

// keySet holds the keys of one chunk. Keys are added in the chunk's order; has may be called once seal was.
type keySet struct {
	arena []byte
	ends  []int // key i is arena[ends[i-1]:ends[i]]
	order []int // indexes sorted by key; nil when they came sorted
}

func (k *keySet) add(key rowkey.Key) {
	k.arena = append(k.arena, key...)
	k.ends = append(k.ends, len(k.arena))
}

func (k *keySet) at(i int) []byte {
	if k.order != nil {
		i = k.order[i]
	}
	start := 0
	if i > 0 {
		start = k.ends[i-1]
	}
	return k.arena[start:k.ends[i]]
}

// seal prepares for has; sorted tells that the keys came in ascending order.
func (k *keySet) seal(sorted bool) {
	if sorted {
		return
	}
	order := make([]int, len(k.ends))
	for i := range order {
		order[i] = i
	}
	raw := func(i int) []byte {
		start := 0
		if i > 0 {
			start = k.ends[i-1]
		}
		return k.arena[start:k.ends[i]]
	}
	sort.Slice(order, func(a, b int) bool { return bytes.Compare(raw(order[a]), raw(order[b])) < 0 })
	k.order = order
}

// has tells whether the chunk holds the key. A nil set holds none.
func (k *keySet) has(key rowkey.Key) bool {
	if k == nil {
		return false
	}
	i := sort.Search(len(k.ends), func(i int) bool { return bytes.Compare(k.at(i), key) >= 0 })
	return i < len(k.ends) && bytes.Equal(k.at(i), key)
}
