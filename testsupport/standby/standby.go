// Package standby makes a server wait for a synchronous standby that is not there: commits are then in the log, and handed out by logical decoding,
// long before other sessions may see them.
package standby

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/estuary/connectors/internal/pgtest"
)

// absent is a name that no walsender has.
const absent = "a_standby_that_is_not_there"

// Block makes every later commit wait until Release.
func Block(c *pgtest.Cluster) error { return set(c, absent) }

// Release lets all waiting commits go on.
func Release(c *pgtest.Cluster) error { return set(c, "") }

func set(c *pgtest.Cluster, names string) error {
	if err := c.SetConf("synchronous_standby_names", names); err != nil {
		return err
	}
	if err := c.Reload(); err != nil {
		return fmt.Errorf("setting synchronous_standby_names to %q: %w", names, err)
	}
	return nil
}

// Toggle blocks for about blocked and releases for about free, each between half and one and a half times as long, until ctx ends. It always ends
// released, and returns how often it blocked.
func Toggle(ctx context.Context, c *pgtest.Cluster, seed uint64, blocked, free time.Duration) (times int, err error) {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test that can be repeated
	defer func() { err = errors.Join(err, Release(c)) }()
	for sleep(ctx, random, free) {
		if err := Block(c); err != nil {
			return times, err
		}
		times++
		sleep(ctx, random, blocked)
		if err := Release(c); err != nil {
			return times, err
		}
	}
	return times, nil
}

// sleep tells whether ctx is still open afterwards.
func sleep(ctx context.Context, random *rand.Rand, about time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(about/2 + time.Duration(random.Int64N(int64(about)+1))):
		return true
	}
}
