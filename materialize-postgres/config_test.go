package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/estuary/connectors/internal/golden"
	"github.com/estuary/connectors/internal/sqlsink"
	"github.com/estuary/connectors/protocol"
	configs "github.com/estuary/connectors/protocol/config"
)

//go:generate go test -run=^TestReadme . -update

func TestReadme_Config(t *testing.T) {
	golden.Section(t, "README.md", "config", configs.ReadmeTable[config]())
}

func TestReadme_Resource(t *testing.T) {
	golden.Section(t, "README.md", "resource", configs.ReadmeTable[resource]())
}

// shapes are the rows of the README's table of types: how a schema says it, in the notation of field.
var shapes = []struct {
	shape       sqlsink.Shape
	schema, say string
}{
	{sqlsink.Boolean, "boolean", "boolean"},
	{sqlsink.Integer, "integer", "integer"},
	{sqlsink.BigInteger, "", "integer with a bound beyond 64 bits"},
	{sqlsink.Number, "number", "number"},
	{sqlsink.Float, "number,string:number", "number or string, format number"},
	{sqlsink.IntegerString, "string:integer", "string, format integer; integer or string, format integer"},
	{sqlsink.DecimalString, "string:number", "string, format number; integer or string, format number"},
	{sqlsink.Text, "string", "string"},
	{sqlsink.Date, "string:date", "string, format date"},
	{sqlsink.DateTime, "string:date-time", "string, format date-time"},
	{sqlsink.Time, "string:time", "string, format time"},
	{sqlsink.Duration, "string:duration", "string, format duration"},
	{sqlsink.UUID, "string:uuid", "string, format uuid"},
	{sqlsink.IP, "string:ipv6", "string, format ipv4 or ipv6"},
	{sqlsink.MAC, "string:macaddr", "string, format macaddr"},
	{sqlsink.MAC8, "string:macaddr8", "string, format macaddr8"},
	{sqlsink.Binary, "string:base64", "string in base64"},
	{sqlsink.Object, "object", "object"},
	{sqlsink.Array, "array", "array"},
	{sqlsink.Multiple, "boolean,string", "several types, or any"},
}

func TestReadme_Types(t *testing.T) {
	var b strings.Builder
	b.WriteString("| JSON schema | column | as a key |\n|---|---|---|\n")
	rules := types{json: "json"}
	for _, s := range shapes {
		if s.schema != "" {
			p := field("x " + s.schema)
			if got := sqlsink.ShapeOf(&p.Inference); got != s.shape {
				t.Errorf("%s has the shape %d, not %d", s.say, got, s.shape)
			}
		}
		key := "`" + rules.Type(s.shape, true) + "`"
		if s.shape == sqlsink.Float {
			key = "refused" // by sqlsink, before a table is made
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", s.say, rules.Type(s.shape, false), key)
	}
	golden.Section(t, "README.md", "types", b.String())
}

// bug materializations 53: estuary/connectors history: titles, secrets and long texts were lost from the schema of a configuration
//
// A difference here is a change of what people have stored: it needs an alias or a migration, and a line in the changelog.
func TestSpec_IsWhatWasReleased(t *testing.T) {
	for name, schema := range map[string][]byte{
		"spec.airbyte.json": configs.Schema[config](configs.Airbyte), "spec.flow.json": configs.Schema[config](configs.Flow),
		"resource.flow.json": configs.Schema[resource](configs.Flow),
	} {
		var b bytes.Buffer
		if err := json.Indent(&b, schema, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, append(b.Bytes(), '\n'))
	}
}

func TestConfig_Defaults(t *testing.T) {
	c, err := configs.Decode[config]([]byte(`{"address": "db.example.com", "password": "x"}`))
	if err != nil {
		t.Fatal(err)
	}
	// bug materializations 92: estuary/connectors history: the driver put a port of its own into the address
	host, port, err := c.server().HostPort()
	if err != nil || host != "db.example.com" || port != 5432 {
		t.Errorf("host and port: got %s, %d, %v", host, port, err)
	}
	// bug materializations 54: estuary/connectors history: older members were removed, and tasks that had them broke
	if old, err := configs.Decode[config]([]byte(`{"host": "h", "port": 5433}`)); err != nil || old.server().Endpoint() != "h:5433" {
		t.Errorf("host and port: got %s, %v", old.server().Endpoint(), err)
	}
	if c.User != "flow_materialize" || c.Database != "postgres" || c.Schema != "public" || c.HardDelete || c.Advanced.OnNul != "strip" || c.Advanced.JSONType != "json" {
		t.Errorf("got %+v", c)
	}
}

func TestConfig_RefusesInOneSentence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no address", `{}`, "address"},
		{"url", `{"address": "postgres://u:hunter2@h/db"}`, "host or host:port only"},
		{"port no number", `{"address": "h:pg"}`, "the port, a number"},
		{"unknown key", `{"address": "h", "hard_delete": true}`, "hardDelete"},
		{"on_nul", `{"address": "h", "advanced": {"on_nul": "drop"}}`, "strip"},
		{"supabase's pooler", `{"address": "aws-0-eu-central-1.pooler.supabase.com:5432"}`, "connection pooler"},
		{"neon's pooler", `{"address": "ep-cool-darkness-123456-pooler.us-east-2.aws.neon.tech"}`, "connection pooler"},
	} {
		_, err := configs.Decode[config]([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want it to contain %q", c.name, err, c.want)
			continue
		}
		if protocol.KindOf(protocol.Problems(err)[0]) != protocol.Config {
			t.Errorf("%s: %v is no configuration problem", c.name, err)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the password of a pasted URL is shown: %v", c.name, err)
		}
	}
}

func TestResource_Paths(t *testing.T) {
	c := config{Schema: "public"}
	for _, x := range []struct{ schema, table, want string }{
		{"", "orders", "public.orders"},
		{"shop", "orders", "shop.orders"},
		{"", strings.Repeat("ü", 40), "public." + strings.Repeat("ü", 31)}, // bug materializations 34: estuary/connectors history: names that were cut were not found again
		{"", "a\x00b", "public.a\uFFFDb"},
		{"", "Mixed Case \"q\"", "public.Mixed Case \"q\""},
	} {
		schema, table, err := c.path(&resource{Schema: x.schema, Table: x.table})
		if err != nil || schema+"."+table != x.want {
			t.Errorf("%q.%q: got %s.%s, %v", x.schema, x.table, schema, table, err)
		}
	}
	// bug materializations 57: airbytehq/airbyte #45666: a user's table collided with the connector's own
	if _, _, err := c.path(&resource{Table: "flow_checkpoints_v1"}); err == nil {
		t.Error("the table of checkpoints may be a binding's")
	}
}
