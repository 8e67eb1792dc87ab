package pgwire

// hostileNames are names that break a careless statement (sql-cdc R18). The tests against a server use them, too.
var hostileNames = []string{
	`a`, `A`, `Mixed Case`, `"`, `""`, `a"b`, `a""b"`, `'`, `''`, `a'b`, "`", "a`b``", `.`, `a.b`, `"a"."b"`, `%`, `%s%d%%`, `/`, `a/b`, `\`, `\\`, `a\'b`, `\"`,
	`$1`, `$$`, `$a$`, `?`, `:x`, `;`, `a;b`, `--`, `a--b`, `/*`, `*/`, `{}`, `[0]`, `select`, `user`, `table`, `null`, `ünïcödé`, `日本語`, `🐘`, "a\u0301", "\u200b",
	"tab\there", "line\nbreak", "cr\rhere", ` `, ` lead`, `trail `, `0`, `1a`, `-`, `~`, `E'x'`, `U&"x"`, "\x01", "\x7f",
	`abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij123`, // 63 bytes
}
