package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A value of this size is kept outside the row: the threshold is about 2,000 bytes.
const externalBytes = 4500

// rowValues makes the columns after ver for version ver, each an argument for SQL text; nil is NULL. The document has one member whose name changes
// with the version: whoever merges documents deeply keeps the old one.
func rowValues(random *rand.Rand, ver int64) map[string]any {
	nullable := func(v string) any {
		if random.IntN(6) == 0 {
			return nil
		}
		return v
	}
	return map[string]any{
		"word":   nullable(fmt.Sprintf("w%d \"quoted\" \\ back\nline\t%c é 漢 \U0001F600", random.IntN(1000), 'a'+rune(random.IntN(26)))),
		"amount": nullable(amount(random)),
		"doc":    nullable(fmt.Sprintf(`{"ver": %d, "k%d": {"nested": [1, "two", null], "at%d": %d}}`, ver, ver%3, ver%2, random.IntN(100))),
		"big":    nullable(bigText(random)),
		"at":     nullable(time.Unix(1_700_000_000+random.Int64N(50_000_000), random.Int64N(1_000_000)*1000).UTC().Format("2006-01-02 15:04:05.999999-07")),
		"tags":   nullable(fmt.Sprintf(`{t%d,"with space, and comma",NULL,"q\"uote"}`, random.IntN(10))),
		"flag":   nullable([]string{"true", "false"}[random.IntN(2)]),
	}
}

// amount is a small number with cents, or one of 30 digits.
func amount(random *rand.Rand) string {
	if random.IntN(4) == 0 {
		return fmt.Sprintf("%d%018d%08d.%02d0", 1+random.IntN(999), random.Int64N(1_000_000_000_000_000_000), random.IntN(100_000_000), random.IntN(100))
	}
	return fmt.Sprintf("%d.%02d", random.IntN(100000)-50000, random.IntN(100))
}

// bigText is sometimes short and mostly long enough to be stored out of line. Random, so that no two values are equal.
func bigText(random *rand.Rand) string {
	if random.IntN(4) == 0 {
		return fmt.Sprintf("short %x", random.Uint32())
	}
	var b strings.Builder
	for b.Len() < externalBytes {
		fmt.Fprintf(&b, "%016x", random.Uint64())
	}
	return b.String()
}
