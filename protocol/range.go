package protocol

// Range is an inclusive part of the 32-bit key space that this process owns (internal/keyrange hashes units into it).
type Range struct {
	Begin, End uint32
}

// FullRange owns everything.
var FullRange = Range{0, 0xffffffff}

// Includes tells whether a unit with this hash belongs to r.
func (r Range) Includes(hash uint32) bool { return r.Begin <= hash && hash <= r.End }
