package parser

import (
	"bytes"
	"maps"
	"mime"
	"path"
	"slices"
	"strings"

	"github.com/estuary/connectors/parser/internal/compress"
)

// Formats by file extension and by content type. Those of a config come before them.
var (
	extensions = map[string]kind{
		"csv": csvKind, "tsv": tsvKind, "tab": tsvKind, "json": jsonKind, "jsonl": jsonKind, "ndjson": jsonKind, "geojsonl": jsonKind,
		"avro": avroKind, "parquet": parqKind, "pb": protKind, "binpb": protKind,
	}
	contentTypes = map[string]kind{
		"text/csv": csvKind, "application/csv": csvKind, "text/tab-separated-values": tsvKind,
		"application/json": jsonKind, "text/json": jsonKind, "application/x-ndjson": jsonKind, "application/ndjson": jsonKind, "application/jsonl": jsonKind,
		"application/x-jsonlines": jsonKind, "application/json-seq": jsonKind,
		"application/avro": avroKind, "avro/binary": avroKind, "application/vnd.apache.avro": avroKind,
		"application/vnd.apache.parquet": parqKind, "application/x-parquet": parqKind,
		"application/x-protobuf": protKind, "application/protobuf": protKind,
	}
	compressions = map[string]compress.Format{
		"gz": compress.Gzip, "gzip": compress.Gzip, "bz2": compress.Bzip2, "xz": compress.XZ, "zst": compress.Zstd, "zstd": compress.Zstd,
		"lz4": compress.LZ4, "snappy": compress.Snappy, "sz": compress.Snappy, "zip": compress.Zip,
	}
	compressedTypes = map[string]compress.Format{
		"application/gzip": compress.Gzip, "application/x-gzip": compress.Gzip, "application/zip": compress.Zip, "application/zstd": compress.Zstd,
		"application/x-bzip2": compress.Bzip2, "application/x-xz": compress.XZ,
	}
	encodings = map[string]compress.Format{"gzip": compress.Gzip, "x-gzip": compress.Gzip, "zstd": compress.Zstd}
)

// described is what is known of a file, or of an archive's member, before it is read.
type described struct {
	name, contentType, contentEncoding string
}

// kindOf finds the format by name and content type; auto: neither tells.
func (c *Config) kindOf(d described) kind {
	for _, ending := range endings(d.name) {
		if k, ok := mapped(c.FileExtensionMappings, ending); ok {
			return k
		}
		if k, ok := extensions[ending]; ok {
			return k
		}
	}
	media, _ := mediaType(d.contentType)
	if k, ok := mapped(c.ContentTypeMappings, media); ok {
		return k
	}
	return contentTypes[media]
}

// endings are the extensions of a file's base name, the last first, in small letters.
func endings(name string) []string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	parts := strings.Split(strings.TrimLeft(base, "."), ".")
	parts = parts[1:]
	slices.Reverse(parts)
	return parts
}

func mapped(mappings map[string]string, key string) (kind, bool) {
	for _, from := range slices.Sorted(maps.Keys(mappings)) {
		if key != "" && strings.EqualFold(strings.TrimPrefix(from, "."), key) {
			return kind(mappings[from]), true
		}
	}
	return auto, false
}

// mediaType takes a content type apart; what is no media type is none.
func mediaType(contentType string) (media, charset string) {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		return "", ""
	}
	return media, parameters["charset"]
}

// promised is the compression that name and headers speak of.
func (d described) promised() compress.Format {
	if f, ok := encodings[strings.ToLower(strings.TrimSpace(d.contentEncoding))]; ok {
		return f
	}
	if all := endings(d.name); len(all) > 0 {
		if f, ok := compressions[all[0]]; ok {
			return f
		}
	}
	media, _ := mediaType(d.contentType)
	return compressedTypes[media]
}

var avroMagic, parquetMagic, parquetEncrypted = []byte("Obj\x01"), []byte("PAR1"), []byte("PARE")

// byFirstBytes finds the format by the beginning of a text without its byte order mark.
func byFirstBytes(sample []byte) kind {
	sample = bytes.TrimLeft(sample, " \t\r\n\x1e")
	switch {
	case bytes.HasPrefix(sample, []byte("{")), bytes.HasPrefix(sample, []byte("[")):
		return jsonKind
	case bytes.HasPrefix(sample, []byte("#Version:")), bytes.HasPrefix(sample, []byte("#Fields:")), bytes.HasPrefix(sample, []byte("#Software:")):
		return w3cKind
	}
	return auto
}

// isXML tells whether a text is XML, which nobody means to be read as something else: stores answer with it, too.
func isXML(sample []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(sample, " \t\r\n"), []byte("<?xml"))
}
