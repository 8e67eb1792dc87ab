package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	configs "github.com/estuary/connectors/protocol/config"

	"github.com/estuary/connectors/internal/golden"
	"github.com/estuary/connectors/protocol"
)

//go:generate go test -run=^TestReadme . -update

func TestReadme_Config(t *testing.T) {
	golden.Section(t, "README.md", "config", configs.ReadmeTable[config]())
}

func decode(t *testing.T, text string) *config {
	t.Helper()
	c, err := configs.Decode[config]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestConfig_Defaults(t *testing.T) {
	c := decode(t, `{"address": "db.example.com", "password": "x"}`)
	host, port, err := c.server().HostPort()
	if err != nil || host != "db.example.com" || port != 5432 {
		t.Errorf("host and port: got %s, %d, %v", host, port, err)
	}
	if c.User != "flow_capture" || c.Database != "postgres" || c.Advanced.PublicationName != "flow_publication" || c.baseSlotName("") != "flow_slot" {
		t.Errorf("got %+v", c)
	}
	if c.Advanced.BackfillChunkSize != 50000 || c.Advanced.RediscoveryInterval != 15*time.Minute || c.Advanced.StatementTimeout != 2*time.Minute || c.Advanced.KeylessChunkPages != 131072 {
		t.Errorf("got %+v", c.Advanced)
	}
	if !c.DiscoveryFilters.DiscoverUnpublishedTables {
		t.Error("tables outside the publication are not discovered, so nothing can be while there is none")
	}
}

func TestConfig_ReadsEveryFormOfAddress(t *testing.T) {
	for text, want := range map[string]string{
		`{"address": "h"}`:                       "h 5432",
		`{"address": "h:5433"}`:                  "h 5433",
		`{"address": " h:5433\n"}`:               "h 5433",
		`{"address": "10.0.0.1:1"}`:              "10.0.0.1 1",
		`{"address": "[::1]:5433"}`:              "::1 5433",
		`{"address": "[::1]"}`:                   "::1 5432",
		`{"address": "2001:db8::7"}`:             "2001:db8::7 5432",
		`{"address": "/var/run/postgresql"}`:     "/var/run/postgresql 5432",
		`{"host": "h", "port": 5434}`:            "h 5434",
		`{"host": "h"}`:                          "h 5432",
		`{"address": "h:5433", "port": 5434}`:    "h 5433",
		`{"address": "xn--bcher-kva.example.x"}`: "xn--bcher-kva.example.x 5432",
	} {
		host, port, err := decode(t, text).server().HostPort()
		if got := host + " " + itoa(port); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestConfig_RefusesInOneSentence(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no address", `{}`, "address"},
		{"url", `{"address": "postgres://u:hunter2@h/db"}`, "host or host:port only"},
		{"two hosts", `{"address": "a,b"}`, "host or host:port only"},
		{"port no number", `{"address": "h:pg"}`, "the port, a number"},
		{"port out of range", `{"address": "h:70000"}`, "from 1 to 65535"},
		{"no host", `{"address": ":5432"}`, "host is missing"},
		{"unknown key", `{"address": "h", "advanced": {"slotname": "x"}}`, "slotName"},
		{"slot name", `{"address": "h", "advanced": {"slotName": "My-Slot"}}`, "slotName"},
		{"long publication", `{"address": "h", "advanced": {"publicationName": "` + strings.Repeat("p", 64) + `"}}`, "64 bytes"},
		{"sslmode", `{"address": "h", "advanced": {"sslmode": "verify"}}`, "verify-ca"},
		{"short interval", `{"address": "h", "advanced": {"rediscovery_interval": "5s"}}`, "rediscovery_interval"},
		{"chunk of nothing", `{"address": "h", "advanced": {"backfill_chunk_size": -1}}`, "backfill_chunk_size"},
		{"table without schema", `{"address": "h", "advanced": {"skip_backfills": "public.a, b"}}`, `"b" without its schema`},
		// bug sql-cdc 84: a pooler's address ended in a cryptic "unexpected message" (estuary/connectors history)
		{"supabase's pooler", `{"address": "aws-0-eu-central-1.pooler.supabase.com:5432"}`, "connection pooler"},
		{"supabase's transaction port", `{"address": "db.abc.supabase.co:6543"}`, "connection pooler"},
		{"neon's pooler", `{"address": "ep-cool-darkness-123456-pooler.us-east-2.aws.neon.tech"}`, "connection pooler"},
		{"azure's pooler", `{"address": "x.postgres.database.azure.com:6432"}`, "connection pooler"},
	} {
		_, err := configs.Decode[config]([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want it to contain %q", c.name, err, c.want)
			continue
		}
		if protocol.KindOf(errors.Unwrap(err)) != protocol.Config && protocol.KindOf(protocol.Problems(err)[0]) != protocol.Config {
			t.Errorf("%s: %v is no configuration problem", c.name, err)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the password of a pasted URL is shown: %v", c.name, err)
		}
	}
	for _, direct := range []string{"db.abc.supabase.co", "ep-cool-darkness-123456.us-east-2.aws.neon.tech", "x.postgres.database.azure.com", "pooler.example.com:6432"} {
		decode(t, `{"address": "`+direct+`"}`)
	}
}

func TestConfig_SlotNames(t *testing.T) {
	long := strings.Repeat("capture-", 12)
	for _, c := range []struct {
		name, configured, task string
		begin                  uint32
		want                   string
	}{
		{"default", "", "", 0, "flow_slot"},
		{"configured", "mine", "", 0, "mine"},
		{"configured wins over the task", "mine", "acme/shop", 0, "mine"},
		{"task", "", "shop", 0, "flow_shop"},
		{"task with other characters", "", "Acme Co/shop-1", 0, "flow_acme_co_shop_1_ec348546"},
		{"task of plain letters", "", "shop_2", 0, "flow_shop_2"},
		{"task with letters beyond ASCII", "", "bücher", 0, "flow_b__cher_72a6cc52"},
		{"upper half", "mine", "", 0x80000000, "mine_80000000"},
		{"upper half of a task", "", "shop", 0x0000ff00, "flow_shop_0000ff00"},
	} {
		got := partSlotName((&config{Advanced: advanced{SlotName: c.configured}}).baseSlotName(c.task), protocol.Range{Begin: c.begin, End: 0xffffffff})
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	seen := map[string]bool{}
	for _, task := range []string{long + "a", long + "b", "co_l", "co-l", "CO_l", "co.l", "данные", "товары", "acme/b_c", "acme_b/c", "acme/b/c", strings.Repeat("Ä", 40), strings.Repeat("Ö", 40)} {
		for _, begin := range []uint32{0, 1, 0x80000000} {
			name := partSlotName(new(config).baseSlotName(task), protocol.Range{Begin: begin, End: 0xffffffff})
			if len(name) > 63 || seen[name] {
				t.Errorf("slot name %q has %d bytes, or is another's", name, len(name))
			}
			seen[name] = true
		}
	}
}

func TestConfig_SkipsBackfills(t *testing.T) {
	c := decode(t, `{"address": "h", "advanced": {"skip_backfills": "public.events, sales.a.b"}}`)
	for name, want := range map[[2]string]bool{{"public", "events"}: true, {"public", "orders"}: false, {"sales", "a.b"}: true, {"Public", "events"}: false} {
		if got := c.skipsBackfill(name[0], name[1]); got != want {
			t.Errorf("%v: got %v", name, got)
		}
	}
	if !decode(t, `{"address": "h", "advanced": {"skip_backfills": "*.*"}}`).skipsBackfill("any", "table") {
		t.Error("*.* does not skip every table")
	}
}

// The form is shared by PostgreSQL connectors, and people keep configurations for years: a key that goes missing here is a break.
func TestConfig_KeysAreThoseOfTheForm(t *testing.T) {
	var spec struct {
		Properties map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(configs.Schema[config](configs.Airbyte), &spec); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"address", "user", "password", "database", "discoveryFilters", "advanced"} {
		if _, ok := spec.Properties[key]; !ok {
			t.Errorf("the spec lacks %s", key)
		}
	}
	for _, key := range []string{"publicationName", "slotName", "backfill_chunk_size", "sslmode", "on_gap"} {
		if _, ok := spec.Properties["advanced"].Properties[key]; !ok {
			t.Errorf("the spec lacks advanced.%s", key)
		}
	}
}
