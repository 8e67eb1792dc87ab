package materialize

import (
	"context"
	"encoding/json"
)

// What only some destinations can do, beside Loader. `write` asks for those that it needs, and says in one sentence what the destination cannot do.

// CheckpointReader is a Materializer that keeps the checkpoints of `write` in its destination (OpenRequest.Task is empty). `state` prints them, and `write`
// looks at them before it decides whether a table is to be replaced.
type CheckpointReader interface {
	// ReadCheckpoints returns, for each resource path, the member that the last Commit stored of it, byte for byte; nil: there is none. It makes no table.
	// Sessions that are open are fenced off, so that what it returns is true until the next Open: a source that starts from it repeats nothing.
	ReadCheckpoints(ctx context.Context, paths [][]string) ([]json.RawMessage, error)
}

// Replacer is a Transactor that can build a table beside the one that readers see, and put it in that one's place.
//
// A binding with Replace set is written from scratch: Validate looks at no existing table, Apply makes an empty table beside the existing one (and removes
// what an earlier run left of it), NewTables lists the binding, Store and Load use the new table, and Commit makes its rows durable there while readers go on
// seeing the old ones. Such a binding's member is missing from the checkpoint until the table is replaced.
type Replacer interface {
	// Replace makes the next Commit put the new table in the old one's place, in the transaction that stores the checkpoint. Nothing is stored into
	// the binding after that Commit.
	Replace(ctx context.Context, binding int) error
}

// Upserter is a Transactor whose Store takes Doc.Exists for a hint: a document with Exists that is not there is inserted, unless Delete is set as well. `write`
// then loads nothing where later documents replace earlier ones as a whole.
type Upserter interface {
	Upserts(binding int) bool
}

// NeighbourChecker is a Materializer whose destination knows which tasks write to its tables. It is asked when a task is validated and applied, not by `write`,
// where the newest session of a table has it.
type NeighbourChecker interface {
	// CheckNeighbours returns an errors.Join of *protocol.Problem when another task than this one writes to any of these resource paths. It writes nothing.
	CheckNeighbours(ctx context.Context, task string, paths [][]string) error
}
