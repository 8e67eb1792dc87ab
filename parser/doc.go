// Package parser reads files as JSON documents: CSV and its kin, JSON, W3C logs, Avro, Parquet and Protobuf, in any encoding, under up to three layers of
// compression, or as members of a zip archive. A row that cannot be read is an error that names it, or is counted and handed over; none vanishes.
//
//	r, err := parser.Open(ctx, &config, input, parser.Cursor{})
//	for err == nil {
//		doc, err = r.Next(doc[:0])
//	}
//
// The same bytes under the same config give the same documents, however the input is split into reads, and Reader.Cursor says where to go on after each of
// them. Read Config, Input and Reader. Inside: open.go and begin.go take the layers off and find out the format (detect.go), text.go decodes text and finds places in
// it again, one file per format joins a tokenizer to a plan, reader.go counts, skips what may be skipped (threshold.go) and keeps the cursor.
package parser
