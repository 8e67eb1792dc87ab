// Package avro reads Avro (https://avro.apache.org/docs/1.12.0/specification/): object container files, datums with a schema from outside, and schemas
// themselves. Values become JSON text without anything in between.
//
// [Parse] reads a schema. [NewFile] reads a container file, [NewMessages] datums that stand back to back: both give one record after the other with Next,
// and append the JSON of its fields with AppendField. A record is first cut into its fields, so that they can be written in any order. For a datum from
// elsewhere, [Schema.Cut] and [Schema.AppendField] do the same, [Schema.AppendRecord] writes all of it.
//
// How values are written: numbers with all their digits; NaN and the infinities, which JSON lacks, as "NaN", "Infinity", "-Infinity"; bytes in base64;
// decimals as strings with all digits of their scale; dates, times and timestamps in the forms of RFC 3339, local timestamps without a zone; durations as
// ISO 8601 has it; the value of a union as the value alone. Logical types that are unknown, or whose attributes are invalid, count as the type below
// them, as the specification wants. [Schema.JSONSchema] tells the same in a JSON schema.
//
// Whatever the bytes say, memory stays within [Limits].
package avro
