package filesource

import (
	"encoding/json"

	"github.com/estuary/connectors/protocol"
)

// Where a document tells which file it comes from.
const (
	filePointer    = "/_meta/file"
	versionPointer = "/_meta/version"
	offsetPointer  = "/_meta/offset"
)

// Resource is the configuration of a stream.
type Resource struct {
	Stream string `json:"stream" title:"Stream" doc:"Bucket and prefix, as discovered."`
}

// ResourcePath points to what identifies a stream.
var ResourcePath = []string{"/stream"}

// stream is the one that there is, with the schema of its documents.
func (s *Settings) stream(schema protocol.Schema) (protocol.Stream, error) {
	name := s.StreamName()
	resource, err := json.Marshal(Resource{Stream: name})
	return protocol.Stream{
		Name: name, RecommendedName: name, Resource: resource, Schema: schema, Key: []string{filePointer, offsetPointer}, Incremental: true,
	}, err
}

// baseSchema is what all documents have. What else is in them is told by samples, if at all.
func baseSchema() protocol.Schema {
	text := protocol.Schema{Types: []string{"string"}}
	text.Description = "Bucket and key of the file."
	version := protocol.Schema{Types: []string{"string"}, Description: "Version of the file: ETag, generation, or size, time and inode."}
	offset := protocol.Schema{Types: []string{"integer"}, Description: "Number of the document in the file, from 0."}
	return protocol.Schema{
		Types: []string{"object"},
		Properties: []protocol.Property{{Name: "_meta", Required: true, Schema: protocol.Schema{
			Types: []string{"object"},
			Properties: []protocol.Property{
				{Name: "file", Schema: text, Required: true}, {Name: "version", Schema: version, Required: true}, {Name: "offset", Schema: offset, Required: true},
			},
			Additional: &protocol.Schema{},
		}}},
		Additional: &protocol.Schema{},
	}
}
