package filesource

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/estuary/connectors/parser"
	"github.com/estuary/connectors/protocol"
)

// Place says which files: the first part of the configuration of every file source.
type Place struct {
	Bucket    string `json:"bucket" title:"Bucket" doc:"Name of the bucket; of file:///data the directory in it."`
	Prefix    string `json:"prefix,omitempty" title:"Prefix" doc:"Only objects whose keys begin with this are read. It ends with a slash for a folder: without, a also stands for ab/c."`
	MatchKeys string `json:"matchKeys,omitempty" title:"Match keys" doc:"Only objects are read whose bucket/key holds a match of this regular expression (RE2)." example:"/orders/.*\\.csv(\\.gz)?$"`
}

// Reading says how they are read: the last part.
type Reading struct {
	Parser   parser.Config `json:"parser" title:"Parser" doc:"How files become documents; everything is detected unless set." hides:"filename,addRecordOffset,addValues,projections,schema"`
	Advanced Advanced      `json:"advanced" title:"Advanced" doc:"Rarely needed." advanced:"true"`
}

// Advanced are the settings that are rarely needed.
type Advanced struct {
	Endpoint        string        `json:"endpoint,omitempty" title:"Endpoint" doc:"URL of the service, for others than the cloud's own, with http:// or https://; file:///data reads the directory /data/<bucket> instead." alias:"/endpoint" example:"http://localhost:9000"`
	Exclude         []string      `json:"exclude,omitempty" title:"Exclude" doc:"Objects are not read whose bucket/key holds a match of one of these regular expressions (RE2)." example:"/_temporary/"`
	Lookback        time.Duration `json:"lookback" title:"Look-back" doc:"How long an object may take to appear after the time that the store gives it: a multipart upload has the time at which it began." default:"72h" min:"0s"`
	Horizon         time.Duration `json:"horizon" title:"Horizon" doc:"Objects younger than this wait for the next look at the bucket. 0s: none waits." default:"0s" min:"0s"`
	PollInterval    time.Duration `json:"pollInterval" title:"Poll interval" doc:"Time between two looks at the bucket while tailing, or five times what listing it took if that is longer." default:"1m" min:"1s"`
	OnFileError     string        `json:"onFileError" title:"On a file error" doc:"When a file cannot be read as it is: fail, or skip the rest of it, warn, and read it anew when it or the parser's configuration has changed." default:"fail" enum:"fail,skip"`
	MinimumModified string        `json:"minimumModified,omitempty" title:"Minimum modified" doc:"Objects that were modified before this time are not read; RFC 3339." alias:"minimum_modified" example:"2024-01-01T00:00:00Z"`
	AscendingKeys   bool          `json:"ascendingKeys" title:"Ascending keys" doc:"Keys only ever grow, as those that begin with a time: each look at the bucket begins behind the greatest key. What appears before it is never read." alias:"/ascendingKeys"`
	RequesterPays   bool          `json:"requesterPays" title:"Requester pays" doc:"Pay for requests and transfer, of buckets that ask for it."`
	Sample          bool          `json:"sample" title:"Sample" doc:"Look into up to 10 files during discovery, so that the stream's schema names their fields." default:"true"`
}

// Settings is what a configuration says, checked.
type Settings struct {
	Place
	Reading
	match    *regexp.Regexp
	exclude  []*regexp.Regexp
	earliest time.Time
}

// NewSettings checks what the schema of a configuration cannot say, and tells all of it at once. It touches no network.
func NewSettings(p Place, r Reading) (*Settings, error) {
	s := &Settings{Place: p, Reading: r}
	var problems []error
	bad := func(summary, fix string) { problems = append(problems, configProblem(summary, fix)) }
	s.Bucket = strings.TrimSuffix(withoutScheme(p.Bucket), "/")
	if s.Bucket == "" || strings.Contains(s.Bucket, "/") {
		bad(fmt.Sprintf("bucket %q is no name of a bucket", p.Bucket), "give the name alone, and what follows it as the prefix")
	}
	s.Prefix = p.Prefix
	if rest := withoutScheme(p.Prefix); rest != p.Prefix {
		var bucket string
		if bucket, s.Prefix, _ = strings.Cut(rest, "/"); bucket != s.Bucket {
			bad(fmt.Sprintf("prefix %q is in another bucket than %s", p.Prefix, s.Bucket), "give the bucket's name as bucket, and what follows it as prefix")
		}
	}
	s.Prefix = strings.TrimLeft(s.Prefix, "/")
	compile := func(field, expression string) *regexp.Regexp {
		re, err := regexp.Compile(expression)
		if err != nil {
			bad(fmt.Sprintf("%s %q is no regular expression", field, expression), err.Error())
		}
		return re
	}
	if p.MatchKeys != "" {
		s.match = compile("matchKeys", p.MatchKeys)
	}
	for _, expression := range r.Advanced.Exclude {
		s.exclude = append(s.exclude, compile("advanced.exclude", expression))
	}
	if text := r.Advanced.MinimumModified; text != "" {
		var err error
		if s.earliest, err = time.Parse(time.RFC3339, text); err != nil {
			bad(fmt.Sprintf("advanced.minimumModified %q is no time", text), "write it as 2024-01-01T00:00:00Z")
		}
	}
	if err := checkEndpoint(r.Advanced.Endpoint); err != nil {
		problems = append(problems, err)
	}
	for _, err := range protocol.Problems(s.Parser.RefuseReserved()) {
		bad(err.Error(), "")
	}
	for _, err := range protocol.Problems(s.Parser.Validate()) {
		bad("the parser's configuration cannot be used", err.Error())
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

// checkEndpoint wants a URL, which is not quoted: there may be a password in it.
func checkEndpoint(endpoint string) error {
	if path, ok := strings.CutPrefix(endpoint, "file://"); ok {
		if !strings.HasPrefix(path, "/") {
			return configProblem("advanced.endpoint names no absolute path", "write file:///data for the directory /data")
		}
		return nil
	}
	at, err := url.Parse(endpoint)
	if endpoint != "" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "") {
		return configProblem("advanced.endpoint is no URL", "write it as http://localhost:9000, or as file:///data for the directory /data")
	}
	return nil
}

func configProblem(summary, fix string) *protocol.Problem {
	return &protocol.Problem{Kind: protocol.Config, Summary: summary, Fix: fix}
}

// withoutScheme takes s3:// and the like off: people paste URLs.
func withoutScheme(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		return rest
	}
	return text
}

// StreamName is the name of the only stream.
func (s *Settings) StreamName() string {
	return strings.TrimSuffix(s.Bucket+"/"+s.Prefix, "/")
}

// name is how an object is called in documents and messages, and what its place in the key space is made of.
func (s *Settings) name(key string) string { return s.Bucket + "/" + key }

// wanted tells whether an object of this key is read at all.
func (s *Settings) wanted(key string) bool {
	if !strings.HasPrefix(key, s.Prefix) {
		return false
	}
	name := s.name(key)
	if s.match != nil && !s.match.MatchString(name) {
		return false
	}
	for _, re := range s.exclude {
		if re.MatchString(name) {
			return false
		}
	}
	return true
}

// Local returns the directory that stands for the bucket, where the endpoint names one.
func (s *Settings) Local() (dir string, ok bool) {
	root, ok := strings.CutPrefix(s.Advanced.Endpoint, "file://")
	if !ok {
		return "", false
	}
	return strings.TrimSuffix(root, "/") + "/" + s.Bucket, true
}
