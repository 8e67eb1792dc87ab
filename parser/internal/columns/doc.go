// Package columns makes documents of rows: a plan is made once per header, and appends one JSON object per row.
//
// A plan knows the location of each column (names, projections and the schema decide, see place.go), the order in which members are written (layout.go), how
// text becomes a value of a type that the schema allows there (column.go), and what the user had added to each document (added.go). Three plans: [ForText] for
// rows of text with a header, [ForRecord] for formats whose values have types of their own, [ForJSON] for objects that are passed on as they are. It reads no
// bytes of a file, splits no rows, and checks no document against a schema. Read [TextPlan] first.
//
// Whether a plan can be made is known at the header: an error then concerns the file. What is wrong with a row is a [FieldError], and the next row may be
// appended after it. A plan is not safe for concurrent use.
package columns
