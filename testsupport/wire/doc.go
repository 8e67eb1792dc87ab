// Package wire decodes what connectors print, independently of the code that prints it: Airbyte messages and Flow capture responses. Both decoders are
// strict, the second as the strictest of Flow's runtimes: an unknown member, a member given twice or of another type is an error.
package wire
