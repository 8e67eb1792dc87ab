package columns

import (
	"fmt"
	"strings"
	"testing"
)

// TestText_Coercion has one line per text and set of allowed types; the member's name is v. In the header stands "v,end", so that an absent v shows.
func TestText_Coercion(t *testing.T) {
	for _, c := range []struct{ text, types, want string }{
		// The empty text and its kin.
		{``, `"integer","null"`, `null`},
		{`NULL`, `"integer","null"`, `null`},
		{`null`, `"string","null"`, `null`},
		{`nil`, `"boolean","null"`, `null`},
		{`"NULL"`, `"string","null"`, `null`},
		{`""`, `"string","null"`, `null`},
		{`\N`, `"string","null"`, `"\\N"`},
		{`NA`, `"string","null"`, `"NA"`},
		{`N/A`, `"string","null"`, `"N/A"`},
		{`Null`, `"string","null"`, `"Null"`},
		{`\N`, `"integer","null"`, `is not an integer`},
		{`NULL`, `"string"`, `"NULL"`},
		{``, `"integer"`, `absent`},
		{``, `"boolean"`, `absent`},
		{``, `"array","object"`, `absent`},
		{`  `, `"number"`, `absent`},
		{`  `, `"number","null"`, `null`},
		{`  `, `"number","string"`, `"  "`},
		{``, `"string"`, `""`},
		{``, `"string","integer"`, `""`},
		{"a\x00b", `"string"`, `"a\u0000b"`},
		{"a\u2028<&>", `"string"`, "\"a\u2028<&>\""},
		// Integers and numbers.
		{`12`, `"integer"`, `12`},
		{`12`, `"number"`, `12`},
		{`-12`, `"integer","null"`, `-12`},
		{`0`, `"integer"`, `0`},
		{`12.0`, `"integer"`, `12`},
		{`12.000`, `"integer","null"`, `12`},
		{`12.5`, `"integer"`, `is not an integer`},
		{`12.0`, `"integer","string"`, `"12.0"`},
		{`-0`, `"integer"`, `0`},
		{`-0.0`, `"integer"`, `0`},
		{`-0`, `"number"`, `-0`},
		{`007`, `"number","string"`, `"007"`},
		{`+1`, `"number","string"`, `"+1"`},
		{`.5`, `"number","string"`, `".5"`},
		{`5.`, `"number","string"`, `"5."`},
		{`0x1F`, `"number","string"`, `"0x1F"`},
		{`1_000`, `"number","string"`, `"1_000"`},
		{`"1,234.5"`, `"number","string"`, `"1,234.5"`},
		{`007`, `"number"`, `is not a number`},
		{`+1`, `"number"`, `is not a number`},
		{`.5`, `"number"`, `is not a number`},
		{`5.`, `"number"`, `is not a number`},
		{`0x1F`, `"number"`, `is not a number`},
		{`1_000`, `"number"`, `is not a number`},
		{`"1,234.5"`, `"number"`, `is not a number`},
		{`-`, `"number"`, `is not a number`},
		{`--1`, `"integer"`, `is not an integer`},
		{`1e`, `"number"`, `is not a number`},
		{`1.2.3`, `"number"`, `is not a number`},
		{`-.5`, `"number"`, `is not a number`},
		{`00.5`, `"number"`, `is not a number`},
		{`0.5`, `"number"`, `0.5`},
		{`-0.5`, `"number"`, `-0.5`},
		{` 12 `, `"integer"`, `12`},
		{"\u00a012\u00a0", `"integer"`, `12`},
		{"\t12", `"number"`, `12`},
		{` x `, `"string"`, `" x "`},
		{` x `, `"integer","string"`, `" x "`},
		{`12345678901234567890123`, `"integer"`, `12345678901234567890123`},
		{`12345678901234567890123`, `"number"`, `12345678901234567890123`},
		{`12345678901234567890123`, `"integer","string"`, `"12345678901234567890123"`},
		{`12345678901234567890123`, `"number","string","null"`, `"12345678901234567890123"`},
		{`18446744073709551615`, `"integer"`, `18446744073709551615`},
		{`18446744073709551615`, `"integer","string"`, `18446744073709551615`},
		{`18446744073709551616`, `"integer","string"`, `"18446744073709551616"`},
		{`-9223372036854775808`, `"integer","string"`, `-9223372036854775808`},
		{`-9223372036854775809`, `"integer","string"`, `"-9223372036854775809"`},
		{`9223372036854775808`, `"integer","string"`, `9223372036854775808`},
		{`1e400`, `"number"`, `is beyond the numbers of 64 bits, which reach to 1.8e308`},
		{`1e400`, `"number","string"`, `"1e400"`},
		{`1` + strings.Repeat("0", 400), `"integer"`, `is beyond the numbers of 64 bits, which reach to 1.8e308`},
		{`1.7976931348623157e308`, `"number"`, `1.7976931348623157e308`},
		{`1.7976931348623159e308`, `"number"`, `is beyond the numbers of 64 bits, which reach to 1.8e308`},
		{`0.00017e312`, `"number"`, `0.00017e312`},
		{`0.00018e312`, `"number"`, `is beyond the numbers of 64 bits, which reach to 1.8e308`},
		{`0e999`, `"number"`, `0e999`},
		{`1e-400`, `"number"`, `1e-400`},
		{`1e99999999999999999999`, `"number"`, `is beyond the numbers of 64 bits, which reach to 1.8e308`},
		{`1e5`, `"integer"`, `100000`},
		{`1E+5`, `"integer","null"`, `100000`},
		{`1.5e1`, `"integer"`, `15`},
		{`1200e-2`, `"integer"`, `12`},
		{`0.00012e5`, `"integer"`, `12`},
		{`-1.20e3`, `"integer"`, `-1200`},
		{`0.0e7`, `"integer"`, `0`},
		{`1.5e0`, `"integer"`, `is not an integer`},
		{`1e-5`, `"integer"`, `is not an integer`},
		{`1e39`, `"integer"`, `1` + strings.Repeat("0", 39)},
		{`1e40`, `"integer"`, `is an integer of more than 40 digits`},
		{`1e999999`, `"integer"`, `is an integer of more than 40 digits`},
		{`1e999999`, `"integer","string"`, `"1e999999"`},
		{`1e5`, `"number"`, `1e5`},
		{`1e5`, `"integer","string"`, `"1e5"`},
		// bug streams-files-parser 15: predecessor
		{`12E45678`, `"number","string"`, `"12E45678"`},
		{`12E4`, `"number","string"`, `"12E4"`},
		{`12E4`, `"number"`, `12E4`},
		{`1.10`, `"number"`, `1.10`},
		{`1.10`, `"number","string"`, `1.10`},
		{`0.1234567890123456789012345`, `"number"`, `0.1234567890123456789012345`},
		{`NaN`, `"number"`, `is not a number`},
		{`Infinity`, `"number"`, `is not a number`},
		{`-inf`, `"number","null"`, `is not a number`},
		{`NaN`, `"number","string"`, `"NaN"`},
		{`-inf`, `"number","string"`, `"-inf"`},
		// Booleans.
		{`true`, `"boolean"`, `true`},
		{`false`, `"boolean","null"`, `false`},
		{`TRUE`, `"boolean"`, `true`},
		{`False`, `"boolean","integer"`, `false`},
		{` true `, `"boolean"`, `true`},
		{`TRUE`, `"boolean","string"`, `"TRUE"`},
		{`true`, `"boolean","string"`, `true`},
		{`t`, `"boolean"`, `is not a boolean`},
		{`1`, `"boolean"`, `is not a boolean`},
		{`1`, `"boolean","integer"`, `1`},
		{`x`, `"boolean","integer"`, `is neither a boolean nor an integer`},
		{`x`, `"boolean","integer","array","null"`, `is neither a JSON array, a boolean nor an integer`},
		// JSON.
		{`"{""a"":1}"`, `"object"`, `{"a":1}`},
		{`[1]`, `"array"`, `[1]`},
		{`" [ 1 , ""x y"" ] "`, `"array","null"`, `[1,"x y"]`},
		{"\"{\n\"\"a\"\" :\t1\r\n}\"", `"object","string"`, `{"a":1}`},
		{`[1]`, `"object"`, `is not a JSON object`},
		{`[1`, `"array","string"`, `"[1"`},
		{`[1`, `"array"`, `is not a JSON array`},
		{`[1]`, `"string"`, `"[1]"`},
		{`"[NaN]"`, `"array"`, `is not a JSON array`},
		{`x`, `"null"`, `is not null`},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), `"array"`, `is not a JSON array`},
	} {
		got := coerce(t, c.text, Options{Schema: schema(t, `{"type":"object","properties":{"v":{"type":[`+c.types+`]}}}`)})
		if got != c.want {
			t.Errorf("%s as %s:\n got %s\nwant %s", c.text, c.types, got, c.want)
		}
	}
}

// coerce returns the JSON of a text, absent, or what the error says of it.
func coerce(t *testing.T, text string, o Options) string {
	t.Helper()
	p, warnings, err := ForText([]string{"v", "end"}, o)
	if err != nil || warnings != nil {
		t.Errorf("planning: %v, %q", err, warnings)
		return ""
	}
	out, err := p.Append(nil, row(text+",x"), &dialect, 0)
	r := row(text + ",x")
	r.Text = append(r.Text, "\"0123456789abcdef"...)[:len(r.Text)]
	again, errAgain := p.Append(nil, r, &dialect, 0)
	if string(again) != string(out) || fmt.Sprint(errAgain) != fmt.Sprint(err) {
		t.Errorf("%s: alone %s, %v; in front of others %s, %v", text, out, err, again, errAgain)
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), `" is `)
		return "is " + reason
	}
	got, ok := strings.CutSuffix(string(out), `"end":"x"}`)
	if value, is := strings.CutPrefix(got, `{"v":`); ok && is {
		return strings.TrimSuffix(value, ",")
	}
	if got == "{" && ok {
		return "absent"
	}
	return string(out)
}

func TestText_RejectsWhatIsNotUTF8(t *testing.T) {
	for _, c := range []struct{ text, types string }{
		{"caf\xe9", `"string"`},
		{"caf\xe9", `"string","null"`},
		{"caf\xe9", `"string","integer"`},
		{"\xff", `"string"`},
		{"\"a long text, \"\"quoted\"\", and then \xc3\"", `"string"`},
		{"{\"\xc3\":1}", `"string","object"`},
	} {
		if got := coerce(t, c.text, Options{Schema: schema(t, `{"type":"object","properties":{"v":{"type":[`+c.types+`]}}}`)}); got != "is not valid UTF-8" {
			t.Errorf("%q as %s: %s", c.text, c.types, got)
		}
	}
	if got := coerce(t, "caf\xe9", Options{}); got != "is not valid UTF-8" {
		t.Errorf("without a schema: %s", got)
	}
	if got := coerce(t, "café", Options{}); got != `"café"` {
		t.Errorf("%s", got)
	}
	if got := runNames(t, []string{"a", "b\xe9"}, "", Options{}); got != `file: reading the header: the name of column 2, "b\xe9", is not valid UTF-8; set the option encoding to that of the file` {
		t.Error(got)
	}
}

func TestText_RequiredEmptyText(t *testing.T) {
	for _, c := range []struct{ types, text, want string }{
		{`"integer"`, ``, `is no value, and the schema requires one`},
		{`"integer"`, ` `, `is no value, and the schema requires one`},
		{`"integer","null"`, ``, `null`},
		{`"string"`, ``, `""`},
		{`"object"`, `""`, `is no value, and the schema requires one`},
	} {
		got := coerce(t, c.text, Options{Schema: schema(t, `{"type":"object","properties":{"v":{"type":[`+c.types+`]}},"required":["v"]}`)})
		if got != c.want {
			t.Errorf("%q as %s: %s, not %s", c.text, c.types, got, c.want)
		}
	}
}

// What a schema says of a location counts however it says it.
// bug streams-files-parser 16: predecessor
// bug streams-files-parser 17: predecessor
func TestText_TypesThroughTheSchema(t *testing.T) {
	for _, c := range []struct{ name, schema, text, want string }{
		{"no schema", ``, `12`, `"12"`},
		{"no schema, empty", ``, ``, `""`},
		{"nothing said", `{}`, `12`, `"12"`},
		{"nothing said of it", `{"type":"object","properties":{"w":{"type":"integer"}}}`, `12`, `"12"`},
		{"declared, not said", `{"properties":{"v":{"description":"x"}}}`, `12`, `"12"`},
		{"one type", `{"properties":{"v":{"type":"integer"}}}`, `12`, `12`},
		{"$ref", `{"properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, `12`, `12`},
		{"$ref to the whole", `{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"v":{"type":"integer"}}}}}`, `12`, `12`},
		{"a reference that leads nowhere", `{"properties":{"v":{"$ref":"#/$defs/n"}}}`, `12`, `"12"`},
		{"allOf is what all say", `{"properties":{"v":{"allOf":[{"type":["integer","string"]},{"type":["integer","null"]}]}}}`, `12`, `12`},
		{"allOf of objects", `{"allOf":[{"properties":{"v":{"type":"integer"}}},{"properties":{"w":{}}}]}`, `12`, `12`},
		{"anyOf is what one says", `{"properties":{"v":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, ``, `null`},
		{"oneOf", `{"properties":{"v":{"oneOf":[{"type":"boolean"},{"type":"integer"}]}}}`, `true`, `true`},
		{"oneOf of objects", `{"oneOf":[{"properties":{"v":{"type":"boolean"}}},{"properties":{"v":{"type":"integer"}}}]}`, `12`, `12`},
		{"one branch may be anything", `{"properties":{"v":{"anyOf":[{"type":"integer"},{}]}}}`, `12`, `"12"`},
		{"then and else", `{"properties":{"v":{"if":{"const":1},"then":{"type":"integer"},"else":{"type":"boolean"}}}}`, `true`, `true`},
		{"then alone", `{"properties":{"v":{"if":{"const":1},"then":{"type":"integer"}}}}`, `1`, `"1"`},
		{"patternProperties", `{"patternProperties":{"^v$":{"type":"integer"}}}`, `12`, `12`},
		{"patternProperties and properties", `{"properties":{"v":{"type":["integer","null"]}},"patternProperties":{"v":{"type":["integer","string"]}}}`, ``, `absent`},
		{"additionalProperties", `{"properties":{"end":{}},"additionalProperties":{"type":"integer"}}`, `12`, `12`},
		{"nullable", `{"properties":{"v":{"type":"integer","nullable":true}}}`, ``, `null`},
		{"enum", `{"properties":{"v":{"enum":[1,2,null]}}}`, `2`, `2`},
		{"enum of texts", `{"properties":{"v":{"enum":["1","2"]}}}`, `2`, `"2"`},
		{"const", `{"properties":{"v":{"const":true}}}`, `true`, `true`},
		{"type and enum", `{"properties":{"v":{"type":["string","integer"],"enum":[1,2]}}}`, `x`, `is not an integer`},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"n":{"type":"integer"}},"properties":{"v":{"$ref":"#/definitions/n"}}}`, `12`, `12`},
		// bug streams-files-parser 28: predecessor
		{"times stay as they are", `{"properties":{"v":{"type":"string","format":"date-time"}}}`, `2022-04-01 10:00:00`, `"2022-04-01 10:00:00"`},
		{"dates, too", `{"properties":{"v":{"type":"string","format":"date"}}}`, `2022-04-01`, `"2022-04-01"`},
	} {
		if got := coerce(t, c.text, Options{Schema: schema(t, c.schema)}); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

func TestText_ForbiddenColumns(t *testing.T) {
	for _, c := range []struct{ name, header, schema, want string }{
		{
			"additionalProperties false", "a,b,c", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`,
			`file: placing columns: the schema allows no value for "b" at /b, "c" at /c; let it allow them, or project the columns to other locations`,
		},
		{"no type is possible", "a", `{"properties":{"a":{"allOf":[{"type":"string"},{"type":"integer"}]}}}`, `file: placing columns: the schema allows no value for "a" at /a; let it allow them, or project the columns to other locations`},
		{"no value is possible", "a", `{"properties":{"a":false}}`, `file: placing columns: the schema allows no value for "a" at /a; let it allow them, or project the columns to other locations`},
		{"no object", "a", `{"type":"string"}`, `file: placing columns: the schema allows no value for "a" at /a; let it allow them, or project the columns to other locations`},
	} {
		if got := run(t, c.header, "", Options{Schema: schema(t, c.schema)}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestText_OptionsOfValues(t *testing.T) {
	typed := func(types string) string { return `{"type":"object","properties":{"v":{"type":[` + types + `]}}}` }
	yes, no := []string{"t", "yes", "1", "on"}, []string{"f", "no", "0", "off"}
	for _, c := range []struct {
		name, types, text, want string
		o                       Options
	}{
		{"a word for null", `"string","null"`, `\N`, `null`, Options{Nulls: []string{`\N`}}},
		{"instead of the usual ones", `"string","null"`, `NULL`, `"NULL"`, Options{Nulls: []string{`\N`}}},
		{"one that is empty no more", `"string","null"`, ``, `""`, Options{Nulls: []string{`\N`}}},
		{"nothing is null", `"integer","null"`, ``, `null`, Options{Nulls: []string{}}},
		{"a word like a number", `"integer","null"`, `-999`, `null`, Options{Nulls: []string{"-999"}}},
		{"a word like a number with a point", `"number","null"`, `-9.9`, `null`, Options{Nulls: []string{"-9.9"}}},
		{"a long word", `"string","null"`, strings.Repeat("n", 100), `null`, Options{Nulls: []string{strings.Repeat("n", 100)}}},
		{"words for booleans", `"boolean"`, `yes`, `true`, Options{Trues: yes, Falses: no}},
		{"in capitals", `"boolean"`, `OFF`, `false`, Options{Trues: yes, Falses: no}},
		{"instead of the usual ones", `"boolean"`, `true`, `is not a boolean`, Options{Trues: yes, Falses: no}},
		{"as written where strings are allowed", `"boolean","string"`, `OFF`, `"OFF"`, Options{Trues: yes, Falses: no}},
		{"an empty text is kept", `"string","null"`, `""`, `""`, Options{QuotedEmptyIsString: true}},
		{"nothing is null all the same", `"string","null"`, ``, `null`, Options{QuotedEmptyIsString: true}},
		{"no string to be kept", `"integer","null"`, `""`, `null`, Options{QuotedEmptyIsString: true}},
		{"thousands", `"number"`, `"1,234.5"`, `1234.5`, Options{Thousands: ","}},
		{"millions", `"integer"`, `"-1,234,567"`, `-1234567`, Options{Thousands: ","}},
		{"thousands need not be separated", `"integer"`, `1234567`, `1234567`, Options{Thousands: ","}},
		{"thousands by blanks that do not break", `"integer"`, "1\u00a0234", `1234`, Options{Thousands: "\u00a0"}},
		{"no groups of two", `"number"`, `"12,34"`, `is not a number`, Options{Thousands: ","}},
		{"no groups of four", `"number"`, `"1234,567"`, `is not a number`, Options{Thousands: ","}},
		{"no empty group", `"number"`, `",123"`, `is not a number`, Options{Thousands: ","}},
		{"no zero in front", `"number"`, `"0,123"`, `is not a number`, Options{Thousands: ","}},
		{"thousands stay text where strings are allowed", `"number","string"`, `"1,234.5"`, `"1,234.5"`, Options{Thousands: ","}},
		{"a decimal comma", `"number"`, `"1,5"`, `1.5`, Options{DecimalComma: true}},
		{"a decimal comma and thousands", `"number"`, `"-1.234.567,89"`, `-1234567.89`, Options{DecimalComma: true, Thousands: "."}},
		{"a point that separates thousands", `"number"`, `1.234`, `1234`, Options{DecimalComma: true, Thousands: "."}},
		{"a point that is none", `"number"`, `1.5`, `is not a number`, Options{DecimalComma: true}},
		{"a plain number", `"number"`, `15`, `15`, Options{DecimalComma: true}},
		{"an integer with a decimal comma", `"integer"`, `"15,0"`, `15`, Options{DecimalComma: true}},
		{"no value", `"integer","null"`, `-`, `null`, Options{NoValue: "-"}},
		{"no value, no null", `"string"`, `-`, `absent`, Options{NoValue: "-"}},
		{"text that is no longer", `"string"`, `x`, `"x"`, Options{NoValue: "-"}},
		{"text that is longer", `"string"`, `--`, `"--"`, Options{NoValue: "-"}},
		{"a number for no value", `"integer","null"`, `0`, `null`, Options{NoValue: "0"}},
		{"a boolean for no value", `"boolean","null"`, `true`, `null`, Options{NoValue: "true"}},
		{"a boolean for null", `"boolean","null"`, `false`, `null`, Options{Nulls: []string{"false"}}},
		{"a quoted word for null", `"string","null"`, `"say ""no"""`, `null`, Options{Nulls: []string{`say "no"`}}},
		{"no value in quotes is text", `"string"`, `"-"`, `"-"`, Options{NoValue: "-"}},
	} {
		c.o.Schema = schema(t, typed(c.types))
		if got := coerce(t, c.text, c.o); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	if got := coerce(t, "-", Options{NoValue: "-"}); got != "absent" {
		t.Errorf("no value without a schema: %s", got)
	}
	required := Options{NoValue: "-", Schema: schema(t, `{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]}`)}
	if got := coerce(t, "-", required); got != "is no value, and the schema requires one" {
		t.Errorf("no value where one is required: %s", got)
	}
	for _, o := range []Options{{Thousands: "."}, {Thousands: ",", DecimalComma: true}, {Thousands: "1"}, {Thousands: "-"}, {DefaultOffset: "UTC"}, {DefaultOffset: "+0100"}, {DefaultOffset: "+24:00"}} {
		if _, _, err := ForText([]string{"a"}, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestText_TimesIfWanted(t *testing.T) {
	o := Options{DefaultOffset: "+02:00", Schema: schema(t, `{"type":"object","properties":{"v":{"type":["string","null"],"format":"date-time"},"free":{"type":"string"}}}`)}
	for _, c := range []struct{ text, want string }{
		{"2022-04-01 10:00:00", `"2022-04-01T10:00:00+02:00"`},
		{"2022-04-01T10:00:00", `"2022-04-01T10:00:00+02:00"`},
		{"2022-04-01 10:00:00.25", `"2022-04-01T10:00:00.25+02:00"`},
		{"2022-04-01 10:00:00Z", `"2022-04-01T10:00:00Z"`},
		{"2022-04-01 10:00:00 UTC", `"2022-04-01T10:00:00Z"`},
		{"2022-04-01 10:00:00 +0130", `"2022-04-01T10:00:00+01:30"`},
		{"2022-04-01 10:00:00-03", `"2022-04-01T10:00:00-03:00"`},
		{"2022-04-01T10:00:00.123456789-03:30", `"2022-04-01T10:00:00.123456789-03:30"`},
		{"2022-02-30 10:00:00", `"2022-02-30 10:00:00"`},
		{"2022-04-01 25:00:00", `"2022-04-01 25:00:00"`},
		{"2022-04-01", `"2022-04-01"`},
		{"2022-04-01 10:00:00 or so", `"2022-04-01 10:00:00 or so"`},
		{"2022-04-01 10:00:00.", `"2022-04-01 10:00:00."`},
		{"2022-04-01 10:00:00.1234567890", `"2022-04-01 10:00:00.1234567890"`},
		{"2022-04-01x10:00:00", `"2022-04-01x10:00:00"`},
		{"", `null`},
	} {
		if got := coerce(t, c.text, o); got != c.want {
			t.Errorf("%s: %s, not %s", c.text, got, c.want)
		}
	}
	if got := run(t, "free,x", "2022-04-01 10:00:00,2022-04-01 10:00:00", o); got != `{"free":"2022-04-01 10:00:00","x":"2022-04-01 10:00:00"}` {
		t.Error(got)
	}
}
