package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/protocol"
)

const (
	defaultSlot = "flow_slot"
	// maxNameBytes is NAMEDATALEN - 1: the server refuses longer slot names and silently cuts other identifiers.
	maxNameBytes = 63
	// allTables in skip_backfills stands for every table.
	allTables = "*.*"
)

// config is the connector's configuration, in the form that PostgreSQL connectors share.
type config struct {
	Address          string           `json:"address" title:"Server address" doc:"Host, or host:port, of the server itself, not of a connection pooler; the port is 5432 unless given." alias:"host" example:"db.example.com:5432"`
	Port             int              `json:"port,omitempty" title:"Port" doc:"Older place of the port; write it into the address." min:"1" max:"65535" hidden:"true"`
	User             string           `json:"user" title:"User" doc:"Role to log in as. It needs the REPLICATION attribute, and SELECT on the captured tables." default:"flow_capture"`
	Password         string           `json:"password,omitempty" title:"Password" doc:"Password of the role." secret:"true"`
	Database         string           `json:"database" title:"Database" doc:"Logical database to capture from." default:"postgres"`
	DiscoveryFilters discoveryFilters `json:"discoveryFilters" title:"Discovery filters" doc:"Which tables discovery offers. What is already configured stays configured."`
	Advanced         advanced         `json:"advanced" title:"Advanced" doc:"Rarely needed." advanced:"true"`
}

// discoveryFilters narrow what discovery offers; they never touch what is already configured.
type discoveryFilters struct {
	IncludeSchemas            []string `json:"include_schemas,omitempty" title:"Include schemas" doc:"Offer tables of these schemas only; empty: of all."`
	ExcludeSchemas            []string `json:"exclude_schemas,omitempty" title:"Exclude schemas" doc:"Offer no tables of these schemas."`
	TablePatterns             []string `json:"table_patterns,omitempty" title:"Table patterns" doc:"Offer only tables whose name, or schema.name, matches one of these patterns of * and ?; empty: all." example:"public.order*"`
	DiscoverUnpublishedTables bool     `json:"discover_unpublished_tables" title:"Discover unpublished tables" doc:"Also offer tables that the publication does not have yet." default:"true"`
}

type advanced struct {
	PublicationName     string        `json:"publicationName" title:"Publication" doc:"Name of the publication. It is created, and tables are added to it, where the role may." default:"flow_publication"`
	SlotName            string        `json:"slotName,omitempty" title:"Replication slot" doc:"Name of the replication slot, which is created when missing and never dropped. Unless given: flow_slot, or flow_ and the capture's name where the runner tells it, and a hash of a name that has other characters than a to z, 0 to 9 and _." pattern:"^[a-z0-9_]{1,63}$"`
	BackfillChunkSize   int           `json:"backfill_chunk_size" title:"Backfill chunk size" doc:"Rows that one query of a backfill reads." default:"50000" min:"1"`
	SkipBackfills       string        `json:"skip_backfills,omitempty" title:"Skip backfills" doc:"Comma-separated schema.table names whose existing rows are not read, only their changes; *.* for every table." example:"public.events,public.audit"`
	SSLMode             string        `json:"sslmode,omitempty" title:"SSL mode" doc:"As in libpq; unless given: prefer. verify-ca and verify-full use the system's certificate authorities, or the file that PGSSLROOTCERT names." enum:"disable,allow,prefer,require,verify-ca,verify-full"`
	SourceTag           string        `json:"source_tag,omitempty" title:"Source tag" doc:"Copied into /_meta/source/tag of each document."`
	RediscoveryInterval time.Duration `json:"rediscovery_interval" title:"Rediscovery interval" doc:"Mean time between two looks at the catalog during a run; whether a table was replaced or its key changed is looked at 15 times as often." default:"15m" min:"1m" max:"8760h"`
	StatementTimeout    time.Duration `json:"statement_timeout" title:"Statement timeout" doc:"Time limit of one query of a backfill; the rows that came before it count. 0s: none." default:"2m" min:"0s"`
	ReadOnlyCapture     bool          `json:"read_only_capture" title:"Read-only capture" doc:"Write nothing into the log, not even the small messages that mark positions."`
	KeylessChunkPages   int           `json:"keyless_chunk_pages" title:"Keyless chunk pages" doc:"Tables without a usable key up to this many pages of 8 KiB are read in one snapshot, each row exactly once; larger ones range by range, at least once." default:"131072" min:"1"`
	OnGap               string        `json:"on_gap" title:"On a gap" doc:"When the log no longer holds the changes after a stream's position: fail, or read the table anew." default:"fail" enum:"fail,rebackfill"`
	OnTruncate          string        `json:"on_truncate" title:"On TRUNCATE" doc:"When a table is truncated and the runner cannot empty its copy: warn and go on, or fail." default:"warn" enum:"warn,fail"`
	OnRewrite           string        `json:"on_rewrite" title:"On a rewrite" doc:"When a column with a default is added or a type changes, which the log does not show for existing rows: warn, or read the table anew." default:"warn" enum:"warn,rebackfill"`
	MaxRuntime          time.Duration `json:"max_runtime,omitempty" title:"Maximum run time" doc:"End a tailing run at the first checkpoint after this time, so that the next start releases the log; unless given: never." min:"0s"`
	MaxUnackedBytes     int64         `json:"max_unacked_bytes,omitempty" title:"Maximum unacknowledged bytes" doc:"End a tailing run at the first checkpoint after this many bytes of log, so that the next start releases it; unless given: never." min:"0"`
	ArrayFormat         string        `json:"array_format" title:"Array format" doc:"object: dimensions and elements; flat: a list of all elements; nested: lists in lists." default:"object" enum:"object,flat,nested"`
}

// resource is the per-stream configuration: which table a stream is.
type resource struct {
	Namespace string `json:"namespace" title:"Schema" doc:"Schema of the table."`
	Stream    string `json:"stream" title:"Table" doc:"Name of the table."`
}

// Validate looks at what the schema of the configuration cannot say. It touches no network.
func (c *config) Validate() error {
	if err := c.server().RefusePooler("logical replication"); err != nil { // or the address is none
		return err
	}
	if n := len(c.Advanced.PublicationName); n > maxNameBytes {
		return &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("advanced.publicationName is %d bytes long", n), Fix: fmt.Sprintf("use at most %d bytes", maxNameBytes),
		}
	}
	for _, entry := range splitList(c.Advanced.SkipBackfills) {
		if entry != allTables && !strings.Contains(entry, ".") {
			return &protocol.Problem{
				Kind: protocol.Config, Summary: fmt.Sprintf("advanced.skip_backfills names %q without its schema", entry),
				Fix: "write schema.table, or *.* for every table",
			}
		}
	}
	return nil
}

func (c *config) server() *pgserver.Server {
	return &pgserver.Server{Address: c.Address, Port: c.Port, User: c.User, Password: c.Password, Database: c.Database, SSLMode: c.Advanced.SSLMode}
}

// typeOptions are the choices about types.
func (c *config) typeOptions() typeOptions {
	return typeOptions{ArrayFormat: arrayFormat(c.Advanced.ArrayFormat)}
}

// skipsBackfill tells whether only the changes of a table are wanted.
func (c *config) skipsBackfill(schema, table string) bool {
	for _, entry := range splitList(c.Advanced.SkipBackfills) {
		if entry == allTables || entry == schema+"."+table {
			return true
		}
	}
	return false
}

func splitList(text string) []string {
	var list []string
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			list = append(list, entry)
		}
	}
	return list
}
