package pgwire

import "strings"

// QuoteIdentifier returns name as a quoted identifier, in SQL and in replication commands; every identifier in a statement of ours goes through it. A zero
// byte stays in, and Exec, CopyOut and StartReplication refuse the statement.
func QuoteIdentifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteLiteral returns s as a string literal, in SQL and in replication commands (which do not know the E form). It holds for sessions whose
// standard_conforming_strings is on, which those of our connectors set. A zero byte stays in, and Exec, CopyOut and StartReplication refuse the statement.
func QuoteLiteral(s string) string {
	return `'` + strings.ReplaceAll(s, `'`, `''`) + `'`
}
