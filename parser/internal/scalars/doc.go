// Package scalars writes the values of typed formats (Avro, Parquet, Protobuf) as JSON text, so that one kind of value looks the same whichever file it came from.
//
// Every function appends to dst and returns it. Those that can meet a value which JSON text of that kind cannot hold return false and dst as it was.
package scalars
