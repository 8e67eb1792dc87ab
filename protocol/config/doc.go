// Package config makes everything a connector needs from one Go struct: the JSON schema of its spec (Schema), strict decoding with defaults (Decode),
// the values that no output may show (Secrets, Redact) and the table in its README (ReadmeTable). The per-stream resource struct works the same way.
//
//	type Config struct {
//		Address  string   `json:"address" title:"Address" doc:"Host, or host:port, of the server." alias:"host"`
//		User     string   `json:"user" title:"User" doc:"Role to log in as." default:"flow_capture"`
//		Password string   `json:"password,omitempty" title:"Password" doc:"Password of the role." secret:"true"`
//		Advanced Advanced `json:"advanced" title:"Advanced" doc:"Rarely needed." advanced:"true"`
//	}
//
// # Types
//
// string, bool, int and uint of any size, float64, time.Duration (written "15m"), []string, a struct (a section), a pointer to a struct (a section that
// may be left out and is nil then), []struct, and choices; and objects whose keys the user chooses: map[string]string, map[string]json.RawMessage, and
// json.RawMessage for one that is kept as it came, such as a JSON schema. A struct embedded without a json tag is part of its parent.
//
// # Tags
//
//	json:"slotName"    the key; ",omitempty" makes the field optional without a default
//	title, doc         heading and one sentence; both are demanded of every field
//	default:"x"        in the notation of the config; a list's elements are separated by commas
//	secret:"true"      strings only: masked by runners, never printed
//	advanced:"true"    folded away in forms
//	multiline:"true"   strings only: a text area
//	object:"true"      strings only: a JSON object is accepted, too, and is its text: a key that people paste either way
//	enum:"a,b"         the values allowed, of a string or of a list's elements
//	pattern:"^a+$"     RE2; of a string or of a list's elements
//	min:"1" max:"9"    bounds, inclusive, of numbers and durations
//	example:"x"        shown in forms
//	alias:"host,/h"    older keys that are still accepted, beside the field or, with a slash, at the root; not for secrets, which runners encrypt by the schema
//	hidden:"true"      still accepted, but shown in no form and no table
//	hides:"a,b"        sections only: makes these fields of it hidden, where the struct serves others, too, who do show them
//	mark:"x-delta-updates"  annotation of Flow, set to true there
//	oneof:"auth_type"  a choice: the field's type is a struct of pointers to structs, one a variant, of which Decode sets the chosen one. The variant's
//	                   json tag is the value of the key auth_type, which stands among the variant's own keys. default:"UserPassword" names the variant
//	                   that is meant when the key is missing.
//	bare:"true"        choices only: a string is taken for {"auth_type": string}, too
//
// # Required
//
// A field is required when it has neither a default nor omitempty and is no pointer and no bool (a bool without a default is false). A section is
// required when one of its fields is. A null is an absent key, and so is an empty string where it cannot be a value: in a required field, a duration, an
// enum without it.
//
// A struct that breaks these rules is a programmer's mistake: every function of this package panics and says which field.
package config
