package parser

import "encoding/json"

// Config says how files are read. Its tags are those of protocol/config, which decodes it strictly; the zero value detects everything. It is not changed by
// this package and may serve many files at once.
type Config struct {
	Format      Format `json:"format" title:"Format" doc:"Format of the files; auto: by magic bytes, name, content type and first bytes." oneof:"type" bare:"true" default:"auto"`
	Compression string `json:"compression,omitempty" title:"Compression" doc:"Magic bytes decide whatever is set here; none: never decompress, any other value only warns where it disagrees." enum:"none,gzip,zip,zstd,bzip2,xz,lz4,snappy"`

	FileExtensionMappings map[string]string `json:"fileExtensionMappings,omitempty" title:"File extensions" doc:"Formats by further file extensions, as in {\"log\": \"w3cExtendedLog\"}."`
	ContentTypeMappings   map[string]string `json:"contentTypeMappings,omitempty" title:"Content types" doc:"Formats by further content types."`

	Filename        string `json:"filename,omitempty" title:"File name" doc:"Name of the file, for its extension and for messages."`
	ContentType     string `json:"contentType,omitempty" title:"Content type" doc:"Content type of the file."`
	ContentEncoding string `json:"contentEncoding,omitempty" title:"Content encoding" doc:"Content encoding of the file; it only warns where it disagrees with the bytes."`

	AddRecordOffset string                     `json:"addRecordOffset,omitempty" title:"Record offset" doc:"JSON pointer at which each document gets its number in the file, from 0; unless given: nowhere." pattern:"^(/[^/]+)*$" example:"/_meta/offset"`
	AddValues       map[string]json.RawMessage `json:"addValues,omitempty" title:"Added values" doc:"Values put into each document, by JSON pointer."`
	Projections     map[string]string          `json:"projections,omitempty" title:"Projections" doc:"JSON pointers at which fields are put, by the field's name."`
	Schema          json.RawMessage            `json:"schema,omitempty" title:"Schema" doc:"JSON schema of the documents: it gives the columns of text their places and types. Documents are not validated."`

	CSV      *CSV      `json:"csv" title:"CSV" doc:"Older place of format.config for CSV." hidden:"true"`
	TSV      *CSV      `json:"tsv" title:"TSV" doc:"Older place of format.config for TSV." hidden:"true"`
	JSON     *JSON     `json:"json" title:"JSON" doc:"Options of JSON where the format is detected." hidden:"true"`
	W3C      *W3C      `json:"w3cExtendedLog" title:"W3C Extended Log" doc:"Options of W3C logs where the format is detected." hidden:"true"`
	Avro     *Avro     `json:"avro" title:"Avro" doc:"Options of Avro where the format is detected." hidden:"true"`
	Parquet  *Parquet  `json:"parquet" title:"Parquet" doc:"Options of Parquet where the format is detected." hidden:"true"`
	Protobuf *Protobuf `json:"protobuf" title:"Protobuf" doc:"Options of Protobuf where the format is detected." hidden:"true"`

	// OnReject hears of each row that is skipped, with at most 4 KiB of it as it stands in the file, valid until it returns. Nil: nobody.
	OnReject func(rejected *Error, raw []byte) `json:"-"`
	// OnWarning hears of what is odd but no error, one sentence each: what was guessed, ignored or skipped. Nil: nobody; Stats counts them.
	OnWarning func(sentence string) `json:"-"`
	// OnInfo hears of what was found out about a file, such as its dialect. Nil: nobody.
	OnInfo func(sentence string) `json:"-"`
}

// CSV are the options of delimited text.
type CSV struct {
	Headers             []string `json:"headers,omitempty" title:"Headers" doc:"Names of the columns where the file has no header row; unless given: the first row is the header."`
	Delimiter           string   `json:"delimiter,omitempty" title:"Delimiter" doc:"One or more characters between fields; tab is TAB, auto is detected. Unless given: detected for csv, TAB for tsv."`
	LineEnding          string   `json:"lineEnding,omitempty" title:"Line ending" doc:"One character that ends rows; \\r\\n: LF, CRLF or CR. Unless given, or auto: LF or CRLF, and CR in files without LF."`
	Quote               string   `json:"quote" title:"Quote" doc:"Character around fields that hold delimiters; empty: none, auto: double or single quotes." default:"\""`
	Escape              string   `json:"escape,omitempty" title:"Escape" doc:"Character that takes the next one literally. Unless given, or auto: none; a quote is doubled."`
	Encoding            string   `json:"encoding,omitempty" title:"Encoding" doc:"Encoding of the text, a label of the WHATWG or utf-32 or cp437. Unless given, or auto: by byte order mark, content type, zero bytes and validity."`
	ErrorThreshold      int      `json:"errorThreshold" title:"Error threshold" doc:"Per cent of bad rows among the last 1000 at which the file fails; below it they are skipped. 0: the first one fails it, 100: none does." default:"0" min:"0" max:"100"`
	SkipLines           int      `json:"skipLines,omitempty" title:"Skip lines" doc:"Lines to skip at the start of the file, before the header." min:"0"`
	SkipRowsAfterHeader int      `json:"skipRowsAfterHeader,omitempty" title:"Skip rows" doc:"Rows to skip after the header, such as one of units." min:"0"`
	Comment             string   `json:"comment,omitempty" title:"Comment" doc:"Lines that begin with this are skipped; unless given: none."`
	Missing             string   `json:"missing,omitempty" title:"Missing fields" doc:"What becomes of fields at the end of the header that a row lacks; unless given: omit where the schema does not demand them." enum:"omit,null"`
	NullValues          []string `json:"nullValues,omitempty" title:"Null values" doc:"Texts that are null where the schema allows null; unless given: the empty text, NULL, null and nil."`
	TrueValues          []string `json:"trueValues,omitempty" title:"True values" doc:"Texts that are true where the schema says boolean; unless given: true."`
	FalseValues         []string `json:"falseValues,omitempty" title:"False values" doc:"Texts that are false where the schema says boolean; unless given: false."`
	Thousands           string   `json:"thousands,omitempty" title:"Thousands" doc:"Separator of thousands in numbers; unless given: none is allowed."`
	DecimalComma        bool     `json:"decimalComma" title:"Decimal comma" doc:"Numbers have a comma where others have a point."`
	QuotedEmptyIsString bool     `json:"quotedEmptyIsString" title:"Quoted empty is a string" doc:"A field of two quotes is the empty string, and never null, where the schema allows strings."`
	DefaultOffset       string   `json:"defaultOffset,omitempty" title:"Default offset" doc:"Zone, as +00:00, of times without one: where the schema says date-time, text becomes RFC 3339. Unless given: text is left alone."`
	MaxRow              int      `json:"maxRow,omitempty" title:"Longest row" doc:"Bytes of the longest row that is read; unless given: 67108864." min:"1" max:"1073741824"`
}

// W3C are the options of W3C Extended Log files.
type W3C struct {
	Encoding       string `json:"encoding,omitempty" title:"Encoding" doc:"As for CSV."`
	ErrorThreshold int    `json:"errorThreshold" title:"Error threshold" doc:"As for CSV." default:"0" min:"0" max:"100"`
}

// JSON are the options of JSON.
type JSON struct {
	Encoding       string `json:"encoding,omitempty" title:"Encoding" doc:"As for CSV."`
	ErrorThreshold int    `json:"errorThreshold" title:"Error threshold" doc:"As for CSV, where each document stands on a line of its own." default:"0" min:"0" max:"100"`
}

// Avro are the options of Avro. Container files need none.
type Avro struct {
	Schema         string `json:"schema,omitempty" title:"Schema" doc:"Schema of messages outside of container files, as JSON text." multiline:"true"`
	Framing        string `json:"framing" title:"Framing" doc:"What stands around each message: none, or single for the single-object encoding." default:"none" enum:"none,single"`
	ErrorThreshold int    `json:"errorThreshold" title:"Error threshold" doc:"As for CSV: a value that has no JSON form is a bad row." default:"0" min:"0" max:"100"`
}

// Protobuf are the options of Protobuf.
type Protobuf struct {
	ProtoFile      string `json:"protoFile" title:"Proto file" doc:"Text of the .proto file that declares the message; it may import google/protobuf files only." multiline:"true"`
	Message        string `json:"message" title:"Message" doc:"Name of the message."`
	Delimited      bool   `json:"delimited" title:"Delimited" doc:"A file holds many messages, each behind its length as a varint; otherwise it is one message."`
	ErrorThreshold int    `json:"errorThreshold" title:"Error threshold" doc:"As for CSV: a message that has no JSON form is a bad row." default:"0" min:"0" max:"100"`
}

// Parquet are the options of Parquet.
type Parquet struct {
	ErrorThreshold int `json:"errorThreshold" title:"Error threshold" doc:"As for CSV: a value that has no JSON form is a bad row." default:"0" min:"0" max:"100"`
}

// Empty are the options of formats without any.
type Empty struct{}

// DefaultCSV are the options that an empty config means.
func DefaultCSV() *CSV { return &CSV{Quote: `"`} }
