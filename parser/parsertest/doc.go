// Package parsertest has what tests of those who read files share: TypeTable renders the README's table of types from what the parser makes of a value of
// each. For tests only.
package parsertest
