package parsertest

// texts are texts, and what a schema says of their location. offset is the option defaultOffset.
var texts = []struct{ says, schema, text, offset string }{
	{"nothing", `{}`, "12", ""},
	{"string", `{"type":"string"}`, "12", ""},
	{"string", `{"type":"string"}`, "", ""},
	{"string or null", `{"type":["string","null"]}`, "", ""},
	{"string or null", `{"type":["string","null"]}`, "NULL", ""},
	{"integer", `{"type":"integer"}`, "12", ""},
	{"integer", `{"type":"integer"}`, " 12.0 ", ""},
	{"integer", `{"type":"integer"}`, "", ""},
	{"integer", `{"type":"integer"}`, "x", ""},
	{"integer or string", `{"type":["integer","string"]}`, "x", ""},
	{"number", `{"type":"number"}`, "1.50", ""},
	{"number", `{"type":"number"}`, "1,234.5", ""},
	{"number", `{"type":"number"}`, "NaN", ""},
	{"boolean", `{"type":"boolean"}`, "TRUE", ""},
	{"array", `{"type":"array"}`, "[1]", ""},
	{"object", `{"type":"object"}`, `{"a":1}`, ""},
	{"string, format date-time", `{"type":"string","format":"date-time"}`, "2024-01-02 03:04:05", ""},
	{"the same, with `defaultOffset: +01:00`", `{"type":"string","format":"date-time"}`, "2024-01-02 03:04:05", "+01:00"},
}
