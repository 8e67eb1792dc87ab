package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v4"

	"github.com/estuary/connectors/internal/pgtest"
)

const compared = `CREATE TABLE compared (k int PRIMARY KEY, b bigint, t text, n numeric, f float8, u uuid, j jsonb, z timestamptz, s timestamp, d date, a text[], i int[], o boolean, y bytea, v varchar(9));
INSERT INTO compared VALUES (1, -9223372036854775808, E'q"\\\t\u00e9', 100.00, 1e100, '00112233-4455-6677-8899-aabbccddeeff', '{"b": 1.0, "a": [null]}', '2024-01-15 14:30:00.12+05:30',
	'2024-01-15 14:30:00', '2024-02-29', '{{a,NULL},{"c,d",e}}', '{}', true, '\xdeadbeef', 'NULL');
INSERT INTO compared (k) VALUES (2)`

const (
	one = `{"k":1,"b":-9223372036854775808,"t":"q\"\\\t\u00e9","n":"100.00","f":1e+100,"u":"00112233-4455-6677-8899-aabbccddeeff","j":{"a":[null],"b":1.0},"z":"2024-01-15T09:00:00.12Z",
		"s":"2024-01-15T14:30:00Z","d":"2024-02-29","a":{"dimensions":[2,2],"elements":["a",null,"c,d","e"]},"i":{"dimensions":[],"elements":[]},"o":true,"y":"3q2+7w==","v":"NULL","_meta":{"op":"c","source":{}}}`
	two = `{"k":2,"b":null,"t":null,"n":null,"f":null,"u":null,"j":null,"z":null,"s":null,"d":null,"a":null,"i":null,"o":null,"y":null,"v":null,"_meta":{"op":"c","source":{}}}`
)

func TestCompare(t *testing.T) {
	c := pgtest.Start(t, pgtest.Options{})
	conn, err := pgx.Connect(t.Context(), c.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	compare := func(documents ...string) []Difference {
		f := New(false, Table{Stream: "public.compared", Key: []string{"k"}})
		for _, document := range documents {
			f.Document(0, "public.compared", json.RawMessage(document))
		}
		if err := f.Err(); err != nil {
			t.Fatal(err)
		}
		differences, rows, err := Compare(t.Context(), conn, "public", "compared", f, "public.compared")
		if err != nil || rows != 2 {
			t.Fatalf("%d rows, %v", rows, err)
		}
		return differences
	}
	if err := c.Exec("postgres", compared); err != nil {
		t.Fatal(err)
	}
	if d := compare(one, two); len(d) != 0 {
		t.Fatalf("equal tables differ: %v", d)
	}
	for _, test := range []struct{ column, from, to string }{
		{"b", "-9223372036854775808", "-9223372036854775807"},
		{"b", "-9223372036854775808", "-9.223372036854775808e18"},
		{"t", `q\"`, `q`},
		{"n", `"100.00"`, `"100.0"`},
		{"n", `"100.00"`, `100.00`},
		{"f", "1e+100", "1e+99"},
		{"f", "1e+100", `"1e+100"`},
		{"u", "ddeeff", "ddeefe"},
		{"j", `"b":1.0`, `"b":1`},
		{"j", `{"a":[null],"b":1.0}`, `{"a":[null],"b":1.0,"c":0}`},
		{"z", "09:00:00.12Z", "09:00:00.120001Z"},
		{"s", "14:30:00Z", "14:30:00+01:00"},
		{"d", "2024-02-29", "2024-02-28"},
		{"a", "[2,2]", "[4]"},
		{"a", `"a",null`, `"a","null"`},
		{"i", `"dimensions":[],`, ``},
		{"o", `"o":true`, `"o":"true"`},
		{"y", "3q2+7w==", "3q2+7g=="},
		{"v", `"v":"NULL"`, `"v":null`},
		{"v", `,"v":"NULL"`, ``},
		{"extra", `"k":1`, `"k":1,"extra":1`},
	} {
		changed := strings.Replace(one, test.from, test.to, 1)
		if changed == one {
			t.Fatalf("%q is not in the document", test.from)
		}
		d := compare(changed, two)
		if len(d) != 1 || d[0].Column != test.column || d[0].Key != "1" || d[0].Table != "compared" {
			t.Errorf("%s → %s: found %v, want one difference in column %s of key 1", test.from, test.to, d, test.column)
		}
	}
	if d := compare(one, strings.Replace(two, `"v":null`, `"v":"NULL"`, 1)); len(d) != 1 || d[0].Column != "v" {
		t.Errorf("the text NULL passed for NULL: %v", d)
	}
	if d := compare(one); len(d) != 1 || d[0].Key != "2" || d[0].Column != "" {
		t.Errorf("a missing row: %v", d)
	}
	if d := compare(one, two, strings.Replace(two, `"k":2`, `"k":3`, 1)); len(d) != 1 || d[0].Key != "3" {
		t.Errorf("a row too many: %v", d)
	}
}
