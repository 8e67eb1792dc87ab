package main

import (
	"fmt"

	"github.com/estuary/connectors/internal/pgserver"
	"github.com/estuary/connectors/protocol"
)

// config is the connector's configuration, in the form that PostgreSQL connectors share.
type config struct {
	Address    string   `json:"address" title:"Server address" doc:"Host, or host:port, of the server itself, not of a connection pooler; the port is 5432 unless given." alias:"host" example:"db.example.com:5432"`
	Port       int      `json:"port,omitempty" title:"Port" doc:"Older place of the port; write it into the address." min:"1" max:"65535" hidden:"true"`
	User       string   `json:"user" title:"User" doc:"Role to log in as. It owns the tables that it makes." default:"flow_materialize"`
	Password   string   `json:"password,omitempty" title:"Password" doc:"Password of the role." secret:"true"`
	Database   string   `json:"database" title:"Database" doc:"Logical database to write to." default:"postgres"`
	Schema     string   `json:"schema" title:"Schema" doc:"Schema of the table of checkpoints, and of tables for which neither their own settings nor the runner name one (pipeline and write name the stream's namespace). It is created when missing." default:"public"`
	HardDelete bool     `json:"hardDelete" title:"Hard delete" doc:"Delete the rows of deleted documents. Otherwise they stay, with the column _meta/op = d."`
	Advanced   advanced `json:"advanced" title:"Advanced" doc:"Rarely needed." advanced:"true"`
}

type advanced struct {
	SSLMode        string `json:"sslmode,omitempty" title:"SSL mode" doc:"As in libpq; unless given: prefer. verify-ca and verify-full use the system's certificate authorities, or the file that PGSSLROOTCERT names." enum:"disable,allow,prefer,require,verify-ca,verify-full"`
	NoFlowDocument bool   `json:"no_flow_document" title:"No root document" doc:"The column flow_document need not be selected: documents that later ones are reduced into are rebuilt from the other columns."`
	OnNul          string `json:"on_nul" title:"On U+0000" doc:"What to do about the character U+0000, which PostgreSQL's text cannot hold: strip it, or refuse the document." default:"strip" enum:"strip,refuse"`
	JSONType       string `json:"json_type" title:"JSON type" doc:"Type of new columns for objects, arrays, several types and documents: json keeps the text byte for byte, jsonb can be indexed." default:"json" enum:"json,jsonb"`
	AdoptTables    bool   `json:"adopt_tables" title:"Adopt tables" doc:"Write to tables that exist already and were not made by a materialization."`
}

// resource is the per-binding configuration: which table a collection goes to.
type resource struct {
	Table                    string `json:"table" title:"Table" doc:"Name of the table." mark:"x-collection-name"`
	Schema                   string `json:"schema,omitempty" title:"Schema" doc:"Schema of the table, created when missing; unless given: the one of the configuration." mark:"x-schema-name"`
	DeltaUpdates             bool   `json:"delta_updates" title:"Delta updates" doc:"Add a row for each document instead of keeping one row for each key." mark:"x-delta-updates"`
	AdditionalTableCreateSQL string `json:"additional_table_create_sql,omitempty" title:"Additional SQL" doc:"Statements that run right after the table is created, in the same transaction." multiline:"true"`
}

// Validate looks at what the schema of the configuration cannot say. It touches no network.
func (c *config) Validate() error {
	server := c.server()
	if _, _, err := server.HostPort(); err != nil {
		return err
	}
	return server.RefusePooler("the temporary tables of a materialization")
}

// Validate refuses what no table can be called.
func (r *resource) Validate() error {
	if r.Table == "" {
		return &protocol.Problem{Kind: protocol.Config, Summary: "table is empty", Fix: "name the table"}
	}
	return nil
}

func (c *config) server() *pgserver.Server {
	return &pgserver.Server{Address: c.Address, Port: c.Port, User: c.User, Password: c.Password, Database: c.Database, SSLMode: c.Advanced.SSLMode}
}

// path is where a binding's table is: its schema and its name, as the server keeps them.
func (c *config) path(r *resource) (schema, table string, err error) {
	schema = r.Schema
	if schema == "" {
		schema = c.Schema
	}
	schema, table = fold(schema), fold(r.Table)
	if schema == fold(c.Schema) && table == checkpointTable {
		return "", "", &protocol.Problem{
			Kind: protocol.Config, Summary: fmt.Sprintf("table %s.%s holds the checkpoints of materializations", schema, table), Fix: "use another table's name",
		}
	}
	return schema, table, nil
}
