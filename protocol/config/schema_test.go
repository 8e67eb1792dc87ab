package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/estuary/connectors/internal/golden"
	"github.com/estuary/connectors/protocol/config"
)

func TestSchema_Golden(t *testing.T) {
	for name, flavor := range map[string]config.Flavor{"airbyte": config.Airbyte, "flow": config.Flow} {
		raw := config.Schema[server](flavor)
		if bytes.ContainsAny(raw, "\n") {
			t.Errorf("%s: the schema is more than one line", name)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "schema_"+name, append(pretty.Bytes(), '\n'))
	}
}

func TestReadmeTable_Golden(t *testing.T) {
	golden.Check(t, "readme", []byte(config.ReadmeTable[server]()))
}

func compile(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:config", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:config") // checks the draft-07 meta schema, too
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A form that follows the schema must not be surprised by Decode, nor the other way round.
func TestSchema_AgreesWithDecode(t *testing.T) {
	schemas := []*jsonschema.Schema{compile(t, config.Schema[server](config.Airbyte)), compile(t, config.Schema[server](config.Flow))}
	accepted := 0
	for _, in := range []string{
		`{}`, `{"address":"a"}`, `{"address":5}`, `{"address":"a","user":"u","historyMode":true}`, `{"address":"a","historyMode":"x"}`,
		`{"address":"a","sops":{},"_x":1}`, `{"address":"a","port":70000}`, `{"address":"a","port":5}`, `{"address":"a","port":-1}`,
		`{"address":"a","advanced":{}}`, `{"address":"a","advanced":{"slotName":"No"}}`, `{"address":"a","advanced":{"slotName":""}}`,
		`{"address":"a","advanced":{"backfill_chunk_size":0}}`, `{"address":"a","advanced":{"backfill_chunk_size":7.0}}`,
		`{"address":"a","advanced":{"backfill_chunk_size":7.5}}`, `{"address":"a","advanced":{"backfill_chunk_size":1000001}}`,
		`{"address":"a","advanced":{"sslmode":"require"}}`, `{"address":"a","advanced":{"sslmode":"x"}}`, `{"address":"a","advanced":{"rate":0.5}}`,
		`{"address":"a","advanced":{"rate":-0.5}}`, `{"address":"a","advanced":{"rediscovery_interval":"1h2m3.5s"}}`,
		`{"address":"a","advanced":{"rediscovery_interval":"1 hour"}}`, `{"address":"a","advanced":{"include_schemas":["a",""]}}`,
		`{"address":"a","advanced":{"include_schemas":[]}}`, `{"address":"a","advanced":{"include_schemas":["a.b"]}}`,
		`{"address":"a","credentials":{}}`, `{"address":"a","credentials":{"auth_type":"UserPassword","password":"p"}}`,
		`{"address":"a","credentials":{"auth_type":"UserPassword"}}`, `{"address":"a","credentials":{"auth_type":"AWSIAM","aws_region":"eu"}}`,
		`{"address":"a","credentials":{"auth_type":"AWSIAM","aws_region":"eu","aws_role_arn":""}}`,
		`{"address":"a","credentials":{"auth_type":"AWSIAM","aws_region":"eu","aws_role_arn":"x"}}`, `{"address":"a","credentials":{"auth_type":"x"}}`,
		`{"address":"a","networkTunnel":{}}`, `{"address":"a","networkTunnel":{"sshForwarding":{"sshEndpoint":"ssh://u@h"}}}`,
		`{"address":"a","headers":[]}`, `{"address":"a","headers":[{"name":"n","value":"v"}]}`, `{"address":"a","headers":[{"name":"n"}]}`, `[]`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		_, decodeErr := config.Decode[server]([]byte(in))
		if decodeErr == nil {
			accepted++
		}
		for _, s := range schemas {
			if err := s.Validate(doc); (err == nil) != (decodeErr == nil) {
				t.Errorf("%s: schema says %v, Decode says %v", in, err, decodeErr)
			}
		}
	}
	if accepted < 12 || accepted > 26 {
		t.Errorf("%d inputs were accepted: the table is lopsided", accepted)
	}
}

// What Airbyte's acceptance tests and Flow's schema parser refuse, looked for in every node of both schemas.
// bug materializations 53: $ref, missing titles and unmarked secrets in the schemas of early Flow connectors
func TestSchema_HoldsTheRulesOfItsRunner(t *testing.T) {
	allowed := strings.Fields("$schema title description type properties required items oneOf const enum pattern minimum maximum default examples order multiline")
	airbyte := append(slices.Clone(allowed), "airbyte_secret", "airbyte_hidden", "additionalProperties")
	flow := append(slices.Clone(allowed), "secret", "advanced", "discriminator")
	for _, c := range []struct {
		flavor  config.Flavor
		allowed []string
	}{{config.Airbyte, airbyte}, {config.Flow, flow}} {
		var root map[string]any
		if err := json.Unmarshal(config.Schema[server](c.flavor), &root); err != nil {
			t.Fatal(err)
		}
		secrets := walk(t, "", root, c.allowed)
		if secrets != 4 {
			t.Errorf("%d secrets are marked, want 4", secrets)
		}
	}
}

// walk checks a schema and what is below it, and counts the secrets.
func walk(t *testing.T, path string, s map[string]any, allowed []string) (secrets int) {
	for keyword, v := range s {
		if !slices.Contains(allowed, keyword) && !strings.HasPrefix(keyword, "x-") {
			t.Errorf("%s has the keyword %s", path, keyword)
		}
		if keyword == "additionalProperties" && v != true {
			t.Errorf("%s has additionalProperties %v", path, v)
		}
	}
	if _, single := s["type"].(string); !single {
		t.Errorf("%s has the type %v", path, s["type"])
	}
	if s["airbyte_secret"] == true || s["secret"] == true {
		secrets++
		if s["type"] != "string" {
			t.Errorf("%s is a secret %v", path, s["type"])
		}
	}
	if s["type"] == "boolean" && s["default"] == nil {
		t.Errorf("%s is a boolean without a default", path)
	}
	properties, _ := s["properties"].(map[string]any)
	if s["type"] == "object" && len(properties) == 0 && s["oneOf"] == nil {
		t.Errorf("%s is an empty object", path)
	}
	orders := map[any]string{}
	for name, p := range properties {
		property, at := p.(map[string]any), path+"."+name
		if property["title"] == nil || property["description"] == nil {
			t.Errorf("%s lacks title or description", at)
		}
		if other, taken := orders[property["order"]]; taken || property["order"] == nil {
			t.Errorf("%s has the order %v of %q", at, property["order"], other)
		}
		orders[property["order"]] = name
		secrets += walk(t, at, property, allowed)
	}
	if items, ok := s["items"].(map[string]any); ok {
		secrets += walk(t, path+"[]", items, allowed)
	}
	variants, _ := s["oneOf"].([]any)
	constants := map[any]bool{}
	for i, v := range variants {
		variant := v.(map[string]any)
		secrets += walk(t, fmt.Sprintf("%s<%d>", path, i), variant, allowed)
		found := 0
		for name, p := range variant["properties"].(map[string]any) {
			if value := p.(map[string]any)["const"]; value != nil {
				found++
				if constants[value] || name != "auth_type" {
					t.Errorf("%s: variant %d has the constant %s=%v", path, i, name, value)
				}
				constants[value] = true
			}
		}
		if found != 1 {
			t.Errorf("%s: variant %d has %d constants, want 1", path, i, found)
		}
	}
	return secrets
}

func TestSchema_MarksResourcesForFlow(t *testing.T) {
	type resource struct {
		Table string `json:"table" title:"Table" doc:"Name of the table." mark:"x-collection-name"`
	}
	if got := string(config.Schema[resource](config.Flow)); !strings.Contains(got, `"x-collection-name":true`) {
		t.Errorf("Flow: %s", got)
	}
	if got := string(config.Schema[resource](config.Airbyte)); strings.Contains(got, "x-collection") {
		t.Errorf("Airbyte: %s", got)
	}
}
