package config

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

// json appends a value of the file as JSON, members in the order of the file.
func (d *decoder) json(dst []byte, value any, at string) []byte {
	switch v := value.(type) {
	case yaml.MapSlice:
		dst = append(dst, '{')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			name := fmt.Sprint(item.Key)
			dst = d.json(append(appendString(dst, name), ':'), item.Value, at+"."+name)
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.json(dst, item, fmt.Sprintf("%s[%d]", at, i))
		}
		return append(dst, ']')
	case string:
		return appendString(dst, d.resolve(v, at))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			d.problem(at, at+" is no number that JSON can write", "put it between quotes if a text is meant")
			return append(dst, "null"...)
		}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		d.problem(at, at+" cannot be used", err.Error())
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

func appendString(dst []byte, s string) []byte {
	raw, _ := json.Marshal(s) // a string always has a JSON form
	return append(dst, raw...)
}

// reference is ${env:NAME} or ${file:PATH}. Of $${…} only one dollar sign is taken away.
var reference = regexp.MustCompile(`\$?\$\{([^}]*)(\}|$)`)

// resolve replaces the references in a text, and notes what they stand for: it is likely to be secret.
func (d *decoder) resolve(text, at string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if rest, escaped := strings.CutPrefix(found, "$$"); escaped {
			return "$" + rest
		}
		if !strings.HasSuffix(found, "}") {
			d.problem(at, at+" holds ${ without a }", "close it, or write $${ for a dollar sign and a brace")
			return ""
		}
		if d.plain {
			return ""
		}
		kind, what, ok := strings.Cut(found[2:len(found)-1], ":")
		value := ""
		switch {
		case ok && kind == "env":
			var set bool
			if value, set = os.LookupEnv(what); !set {
				d.problem(at, fmt.Sprintf("%s needs the variable %s, which is not set", at, what), "export it before starting pipeline")
				return ""
			}
		case ok && kind == "file":
			if !filepath.IsAbs(what) {
				what = filepath.Join(d.folder, what)
			}
			raw, err := os.ReadFile(what)
			if err != nil {
				d.problem(at, at+" needs a file that cannot be read", err.Error())
				return ""
			}
			value = strings.TrimRight(string(raw), "\r\n")
		default:
			d.problem(at, fmt.Sprintf("%s holds %s", at, found), "known are ${env:NAME} and ${file:PATH}; write $${ for a dollar sign and a brace")
			return ""
		}
		if value != "" {
			d.file.Secrets = append(d.file.Secrets, value)
		}
		return value
	})
}
