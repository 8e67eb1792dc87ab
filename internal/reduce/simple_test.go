package reduce

import "testing"

func TestSimple(t *testing.T) {
	const deletion = `{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"const":"d"}}}}}`
	for schema, want := range map[string]bool{
		`{}`:                              true,
		`{"reduce":{"strategy":"merge"}}`: true,
		`{"type":"object","if":` + deletion + `,"then":{"reduce":{"strategy":"merge","delete":true}},"else":{"reduce":{"strategy":"merge"}}}`:                                            true,
		`{"allOf":[{"if":` + deletion + `,"then":{"allOf":[{"reduce":{"strategy":"lastWriteWins","delete":true}}]}}],"reduce":{"strategy":"merge"}}`:                                     true,
		`{"properties":{"reduce":{"type":"object","properties":{"strategy":{"const":"sum"}}}}}`:                                                                                          true,
		`{"reduce":{"strategy":"merge","delete":true}}`:                                                                                                                                  false,
		`{"if":` + deletion + `,"then":{"reduce":{"strategy":"merge"}},"else":{"reduce":{"strategy":"merge","delete":true}}}`:                                                            false,
		`{"if":{"properties":{"_meta":{"properties":{"op":{"const":"d"}}}}},"then":{"reduce":{"strategy":"merge","delete":true}}}`:                                                       false, // met by {}
		`{"if":{"required":["_meta"],"properties":{"_meta":{"required":["op"],"properties":{"op":{"enum":["d","x"]}}}}},"then":{"reduce":{"strategy":"merge","delete":true}}}`:           false,
		`{"properties":{"a":{"reduce":{"strategy":"set"}}}}`:                                                                                                                             false,
		`{"properties":{"_meta":{"reduce":{"strategy":"merge"},"properties":{"before":{"reduce":{"strategy":"firstWriteWins"}}}}},"reduce":{"strategy":"merge"}}`:                        true,
		`{"properties":{"_meta":{"if":` + deletion + `,"then":{"reduce":{"strategy":"merge","delete":true}}}}}`:                                                                          false,
		`{"reduce":{"strategy":"merge"},"additionalProperties":{"items":{"reduce":{"strategy":"sum"}}}}`:                                                                                 false,
		`{"type":"object","if":` + deletion + `,"then":{"reduce":{"strategy":"merge","delete":true}},"properties":{"nested":{"$ref":"#"}}}`:                                              false,
		`{"reduce":{"strategy":"jsonSchemaMerge"}}`:                                                                                                                                      false,
		`{"$defs":{"x":{"reduce":{"strategy":"merge","delete":true}}},"if":` + deletion + `,"then":{"$ref":"#/$defs/x"},"allOf":[{"$ref":"#/$defs/x"}]}`:                                 false, // once guarded, once not
		`{"$defs":{"x":{"anyOf":[{"$ref":"#/$defs/x"},{"reduce":{"strategy":"merge","delete":true}}]}},"if":` + deletion + `,"then":{"$ref":"#/$defs/x"},"reduce":{"strategy":"merge"}}`: true,
	} {
		r, err := Compile([]byte(schema))
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if got := r.Simple(); got != want {
			t.Errorf("%s: simple is %v", schema, got)
		}
		if !want {
			continue
		}
		for _, doc := range []string{`{"id":1,"x":[1,{"y":null}],"_meta":{"op":"c","before":{"id":2}}}`, `{"id":1,"_meta":{"op":"d"}}`, `{}`, `{"_meta":{"op":"\u0064"}}`} {
			out, deleted, err := r.Single(nil, []byte(doc))
			if err != nil || string(out) != doc {
				t.Errorf("%s: of %s alone comes %s, %v", schema, doc, out, err)
			}
			if deleted && !IsDeletion([]byte(doc)) {
				t.Errorf("%s: %s is a deletion", schema, doc)
			}
		}
	}
}
