// Package keyrange tells which process of a split capture owns a unit of work: a table, a partition, a file. Sources with a hash space of their own
// intersect ranges instead and do not need it.
package keyrange

import (
	"github.com/minio/highwayhash"

	"github.com/estuary/connectors/protocol"
)

// hashKey is fixed for all time: another key would hand units to other processes than those that hold their state. Earlier captures of this protocol
// used the same, so that a split can mix generations.
var hashKey = [32]byte{
	0x33, 0x27, 0x57, 0xd1, 0x6f, 0x0f, 0xb1, 0xcf, 0x2d, 0x4f, 0x67, 0x6f, 0x85, 0xe3, 0x4c, 0x6a,
	0x8b, 0x85, 0xaa, 0x58, 0xf4, 0x2b, 0xb0, 0x81, 0x44, 0x9d, 0x8e, 0xb2, 0xe4, 0xed, 0x52, 0x9f,
}

// Hash places a unit in the key space: the upper half of its HighwayHash-64.
func Hash(unit string) uint32 { return uint32(Sum64(unit) >> 32) }

// Sum64 is the whole HighwayHash-64, for states that name many units briefly.
func Sum64(text string) uint64 { return highwayhash.Sum64([]byte(text), hashKey[:]) }

// Owns tells whether the process with range r owns the unit.
func Owns(r protocol.Range, unit string) bool { return r.Includes(Hash(unit)) }
