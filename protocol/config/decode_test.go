package config_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/estuary/connectors/protocol"
	"github.com/estuary/connectors/protocol/config"
)

func TestDecode_FillsDefaults(t *testing.T) {
	got, err := config.Decode[server]([]byte("\xef\xbb\xbf" + `{"address":"db"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := server{Address: "db", User: "flow_capture", Advanced: advanced{SlotName: "flow_slot", ChunkSize: 50000, Rediscovery: 15 * time.Minute}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecode_ReadsEveryType(t *testing.T) {
	got, err := config.Decode[server]([]byte(`{
		"address": "db:5432", "user": "me", "historyMode": true, "sops": {"mac": "x"}, "_comment": 1, "estuary.dev/x": {},
		"credentials": {"auth_type": "AWSIAM", "aws_region": "eu-west-1", "aws_role_arn": "", "_note": 1},
		"advanced": {"slotName": "s", "backfill_chunk_size": 5e3, "sslmode": "require", "rediscovery_interval": "1m", "rate": 2.5,
			"include_schemas": ["a", "b"], "ca": null},
		"networkTunnel": {"sshForwarding": {"sshEndpoint": "ssh://u@h", "privateKey": "k"}},
		"headers": [{"name": "n", "value": "v"}, {"name": "m", "value": "w"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := server{
		Address: "db:5432", User: "me", History: true,
		Credentials: &credentials{AWSIAM: &awsIAM{Region: "eu-west-1"}},
		Advanced:    advanced{SlotName: "s", ChunkSize: 5000, SSLMode: "require", Rediscovery: time.Minute, Rate: 2.5, Schemas: []string{"a", "b"}},
		Tunnel:      &tunnel{SSH: &forwarding{Endpoint: "ssh://u@h", PrivateKey: "k"}},
		Headers:     []header{{"n", "v"}, {"m", "w"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecode_TakesEmptyFormFieldsForAbsentOnes(t *testing.T) {
	got, err := config.Decode[server]([]byte(`{"address":"db","user":"","advanced":{"sslmode":"","rediscovery_interval":""}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Advanced.SSLMode != "" || got.Advanced.Rediscovery != 15*time.Minute || got.User != "" {
		t.Errorf("got %+v", got)
	}
}

func TestDecode_TakesOlderKeys(t *testing.T) {
	got, err := config.Decode[server]([]byte(`{"host":"db","port":5433,"slotName":"old_slot","old":{"discover_schemas":["a"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Address != "db:5433" || got.Advanced.SlotName != "old_slot" || !reflect.DeepEqual(got.Advanced.Schemas, []string{"a"}) {
		t.Errorf("got %+v", got)
	}
}

func TestDecode_KeyOfASectionOfAnotherVariant(t *testing.T) {
	type apple struct {
		Config struct {
			Weight int `json:"weight" title:"Weight" doc:"In grams."`
		} `json:"config" title:"Options" doc:"Of apples."`
	}
	type pear struct {
		Config struct {
			Shape string `json:"shape" title:"Shape" doc:"As seen."`
		} `json:"config" title:"Options" doc:"Of pears."`
	}
	type basket struct {
		Fruit struct {
			Apple *apple `json:"apple" title:"Apple" doc:"Round."`
			Pear  *pear  `json:"pear" title:"Pear" doc:"Not round."`
		} `json:"fruit" title:"Fruit" doc:"What is in it." oneof:"kind"`
	}
	const want = `unknown key "fruit.config.shape": it belongs to another kind`
	if _, err := config.Decode[basket]([]byte(`{"fruit":{"kind":"apple","config":{"weight":1,"shape":"x"}}}`)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDecode_RefusesInOneSentence(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"missing", `{}`, `address is required: Host, or host:port, of the server`},
		{"null is missing", `{"address":null}`, `address is required: Host, or host:port, of the server`},
		{"empty is missing", `{"address":""}`, `address is required: Host, or host:port, of the server`},
		{"unknown, case", `{"address":"a","advanced":{"slotname":"x"}}`, `unknown key "advanced.slotname": did you mean "advanced.slotName"?`},
		{"unknown, typo", `{"address":"a","usre":"x"}`, `unknown key "usre": did you mean "user"?`},
		{"unknown, one letter", `{"address":"a","usex":"x"}`, `unknown key "usex": did you mean "user"?`},
		{"unknown, elsewhere", `{"address":"a","privateKey":"x"}`, `unknown key "privateKey": did you mean "networkTunnel.sshForwarding.privateKey"?`},
		{"unknown, dotted", `{"address":"a","advanced.slotName":"x"}`, `unknown key "advanced.slotName": write "slotName" inside the object "advanced"`},
		{
			"unknown, dotted older key", `{"address":"a","old.discover_schemas":["x"]}`,
			`unknown key "old.discover_schemas": it is no field of the config, which may hold address, user, credentials, historyMode, advanced, networkTunnel, headers`,
		},
		{"unknown, beside an older key", `{"address":"a","old":{"x":1}}`, `unknown key "old.x": remove it`},
		{
			"unknown, in a choice", `{"address":"a","credentials":{"auth_type":"UserPassword","password":"p","aws_region":"r"}}`,
			`unknown key "credentials.aws_region": it belongs to another auth_type`,
		},
		{"unknown, in a list", `{"address":"a","headers":[{"nam":"n","name":"n","value":"v"}]}`, `unknown key "headers[0].nam": did you mean "headers[0].name"?`},
		{
			"sops below the root", `{"address":"a","advanced":{"sops":{}}}`,
			`unknown key "advanced.sops": it is no field of advanced, which may hold slotName, backfill_chunk_size, sslmode, rediscovery_interval, rate, include_schemas, ca`,
		},
		{"old and new", `{"address":"a","host":"b"}`, `"address" and "host" mean the same field: keep "address" and remove the other`},
		{"string", `{"address":5}`, `address must be a string, not a number`},
		{"older key is named as written", `{"host":5}`, `host must be a string, not a number`},
		{"bool", `{"address":"a","historyMode":"yes"}`, `historyMode must be true or false, not a string`},
		{"int", `{"address":"a","advanced":{"backfill_chunk_size":"5"}}`, `advanced.backfill_chunk_size must be a whole number, not a string`},
		{
			"int, fraction", `{"address":"a","advanced":{"backfill_chunk_size":1.5}}`,
			`advanced.backfill_chunk_size must be a whole number from -9223372036854775808 to 9223372036854775807`,
		},
		{"uint16", `{"address":"a","port":65536}`, `port must be a whole number from 0 to 65535`},
		{"min", `{"address":"a","advanced":{"backfill_chunk_size":0}}`, `advanced.backfill_chunk_size must be at least 1, not 0`},
		{"max", `{"address":"a","advanced":{"backfill_chunk_size":1000001}}`, `advanced.backfill_chunk_size must be at most 1000000, not 1000001`},
		{"float", `{"address":"a","advanced":{"rate":[]}}`, `advanced.rate must be a number, not a list`},
		{"float range", `{"address":"a","advanced":{"rate":1e999}}`, `advanced.rate must be a number that a computer can hold`},
		{"duration", `{"address":"a","advanced":{"rediscovery_interval":"15"}}`, `advanced.rediscovery_interval must be a duration such as "15m", not "15"`},
		{"duration number", `{"address":"a","advanced":{"rediscovery_interval":15}}`, `advanced.rediscovery_interval must be a duration such as "15m", not a number`},
		{"duration min", `{"address":"a","advanced":{"rediscovery_interval":"1s"}}`, `advanced.rediscovery_interval must be at least 1m, not 1s`},
		{
			"enum", `{"address":"a","advanced":{"sslmode":"requre"}}`,
			`advanced.sslmode must be one of disable, prefer, require, verify-full, not "requre": did you mean "require"?`,
		},
		{"pattern", `{"address":"a","advanced":{"slotName":"No"}}`, `advanced.slotName must match ^[a-z0-9_]{1,63}$`},
		{"pattern, empty", `{"address":"a","advanced":{"slotName":""}}`, `advanced.slotName must match ^[a-z0-9_]{1,63}$`},
		{"list", `{"address":"a","advanced":{"include_schemas":"a"}}`, `advanced.include_schemas must be a list of strings, not a string`},
		{"list element", `{"address":"a","advanced":{"include_schemas":["a",1]}}`, `advanced.include_schemas must be a list of strings, but element 2 is a number`},
		{"list pattern", `{"address":"a","advanced":{"include_schemas":["a","b.c"]}}`, `advanced.include_schemas has element 2, which must match ^[^.]+$`},
		{"section", `{"address":"a","advanced":[]}`, `advanced must be an object, not a list`},
		{"table", `{"address":"a","headers":{}}`, `headers must be a list of objects, not an object`},
		{"row", `{"address":"a","headers":[1]}`, `headers[0] must be an object, not a number`},
		{"choice", `{"address":"a","credentials":"x"}`, `credentials must be an object, not a string`},
		{"choice without kind", `{"address":"a","credentials":{"password":"x"}}`, `credentials.auth_type is required: one of UserPassword, AWSIAM`},
		{
			"choice of nothing", `{"address":"a","credentials":{"auth_type":"userpassword"}}`,
			`credentials.auth_type must be one of UserPassword, AWSIAM: did you mean "UserPassword"?`,
		},
		{"choice, field missing", `{"address":"a","credentials":{"auth_type":"UserPassword"}}`, `credentials.password is required: Password of the role`},
		{"no object", `[]`, `the config must be an object, not a list`},
		{"syntax", "{\n \"address\": }", `the config is no valid JSON: the text breaks off or has a mistake at line 2, column 13`},
		{"cut", `{"address":"a"`, `the config is no valid JSON: the text breaks off or has a mistake at line 1, column 15`},
		{"more", `{"address":"a"} x`, `the config is no valid JSON: the text breaks off or has a mistake at line 1, column 17`},
		{"twice", `{"address":"a","address":"b"}`, `the config is no valid JSON: the key "address" is given twice in the same object`},
		{"deep", strings.Repeat("[", 100), `the config is no valid JSON: values are nested too deeply`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.Decode[server]([]byte(c.in))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if !reflect.DeepEqual(got, server{}) {
				t.Errorf("a refused config is not empty: %+v", got)
			}
			if protocol.KindOf(err) != protocol.Config {
				t.Errorf("kind %s", protocol.KindOf(err))
			}
		})
	}
}

func TestDecode_TellsAllProblemsAtOnce(t *testing.T) {
	_, err := config.Decode[server]([]byte(`{"x1":1,"user":5,"advanced":{"sslmode":"no","rate":-1}}`))
	problems := protocol.Problems(err)
	if len(problems) != 5 {
		t.Fatalf("got %d problems, want 5 (unknown, missing, type, enum, bound): %v", len(problems), err)
	}
	for _, p := range problems {
		if protocol.KindOf(p) != protocol.Config {
			t.Errorf("%v has the kind %s", p, protocol.KindOf(p))
		}
	}
}

func TestDecode_CallsValidate(t *testing.T) {
	_, err := config.Decode[server]([]byte(`{"address":"pool:6543","password":"sw\"rdfish","credentials":{"auth_type":"UserPassword","password":"p"}}`))
	problems := protocol.Problems(err)
	if len(problems) != 2 || protocol.KindOf(problems[0]) != protocol.Config || protocol.KindOf(problems[1]) != protocol.Config {
		t.Fatalf("got %v", err)
	}
	if want := `pool:6543 is a pooler; "***" cannot log in there`; problems[1].Error() != want {
		t.Errorf("got %s, want %s", problems[1], want)
	}
}

// Every place of a config is filled with a secret of the wrong type, form or name; no message may repeat it.
func TestDecode_NeverPrintsASecret(t *testing.T) {
	const secret = "hunter2hunter2"
	quoted, _ := json.Marshal(secret)
	for _, in := range []string{
		`{"address":"a","credentials":SECRET}`, `{"address":"a","password":[SECRET]}`, `{"address":"a","passwrd":SECRET}`,
		`{"address":"a","credentials":{"auth_type":"UserPassword","password":{"x":SECRET}}}`, `{"address":"a","advanced":SECRET}`,
		`{"address":"a","advanced":{"slotName":"postgres://u:hunter2hunter2@h"}}`, `{"address":"a","historyMode":SECRET}`,
		`{"address":"a","networkTunnel":{"sshForwarding":{"sshEndpoint":SECRET,"privateKey":5}}}`, `{"address":"a","port":SECRET}`,
		`{"address":"a","headers":[{"name":"n","value":[SECRET]},SECRET]}`, `{"address":"a","password":SECRET`, `{"address":"a"} SECRET`,
		`{"address":"a","advanced":{"sslmode":"-----BEGIN KEY-----\nhunter2hunter2"}}`, `{"address":"a","advanced":{"sslmode":"postgres://u:hunter2hunter2@db:5432/x"}}`,
		`{"address":"a","advanced":{"rediscovery_interval":"postgres://u:hunter2hunter2@db:5432/x"}}`,
		`{"address":"a","credentials":{"auth_type":[SECRET]}}`, `{"address":"a","credentials":{"auth_type":SECRET}}`,
	} {
		_, err := config.Decode[server]([]byte(strings.ReplaceAll(in, "SECRET", string(quoted))))
		if err == nil {
			t.Errorf("%s was accepted", in)
		} else if strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: the message shows the secret: %v", in, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[`, `{"address":"a"}`, `{"":""}`, `{"address":{"":[{}]}}`, `{"advanced":{"backfill_chunk_size":1e400,"rate":-0}}`,
		`{"credentials":{"auth_type":"AWSIAM","aws_region":"\u0000"}}`, `{"old":{"discover_schemas":[null]},"headers":[null]}`, "\xff{", `{"a":1}{"b":2}`,
		`{"address":"a","port":1e4,"networkTunnel":{"sshForwarding":{}},"advanced":{"rediscovery_interval":"-1m"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := config.Decode[server](raw)
		if err == nil && c.Address == "" {
			t.Errorf("%q was accepted without an address", raw)
		}
		if err != nil && protocol.KindOf(err) != protocol.Config {
			t.Errorf("%q: kind %s", raw, protocol.KindOf(err))
		}
	})
}
