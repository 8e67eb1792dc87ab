package config

import (
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/estuary/connectors/protocol"
)

// minLine is the length from which a line of a secret text, such as a private key, counts as a secret by itself.
const minLine = 16

// Secrets returns what no output may show: every non-empty secret of the config v (a struct or a pointer to one), in the spellings in which it may turn
// up in a message: as it is, inside JSON, inside a URL, and the long lines of a text. Longest first, without doubles.
func Secrets(v any) []string {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() != reflect.Struct {
		return nil
	}
	var found []string
	collectSecrets(modelOf(value.Type()), value, &found)
	slices.SortFunc(found, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(found)
}

func collectSecrets(fields []*field, v reflect.Value, found *[]string) {
	for _, f := range fields {
		fv := v.FieldByIndex(f.index)
		if fv.Kind() == reflect.Pointer {
			if fv.IsNil() {
				continue
			}
			fv = fv.Elem()
		}
		switch {
		case f.secret && fv.String() != "":
			*found = append(*found, spellings(fv.String())...)
		case f.kind == sectionKind || f.kind == choiceKind:
			collectSecrets(f.fields, fv, found)
		case f.kind == tableKind:
			for i := range fv.Len() {
				collectSecrets(f.fields, fv.Index(i), found)
			}
		}
	}
}

func spellings(secret string) []string {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.TrimPrefix(url.UserPassword("", secret).String(), ":")}
	if quoted, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	if strings.ContainsAny(secret, "\r\n") {
		for _, line := range strings.FieldsFunc(secret, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if len(line) >= minLine && !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	return forms
}

// minAnywhere is the length from which a secret is replaced even inside a word. A password "a" must not turn "failed" into "f***iled".
const minAnywhere = 6

// Redact replaces the secrets (as Secrets returns them) in a message by ***.
func Redact(message string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= minAnywhere {
			message = strings.ReplaceAll(message, s, "***")
		} else if s != "" {
			message = redactWord(message, s)
		}
	}
	return message
}

// redactWord replaces s where no letter or digit touches it.
func redactWord(message, s string) string {
	var out strings.Builder
	for rest := message; ; {
		i := strings.Index(rest, s)
		if i < 0 {
			out.WriteString(rest)
			return out.String()
		}
		before, _ := utf8.DecodeLastRuneInString(message[:len(message)-len(rest)+i])
		after, _ := utf8.DecodeRuneInString(rest[i+len(s):])
		out.WriteString(rest[:i])
		if wordy(before) || wordy(after) {
			out.WriteString(s)
		} else {
			out.WriteString("***")
		}
		rest = rest[i+len(s):]
	}
}

func wordy(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// validated turns what Validate returned into problems of kind Config without secrets.
func validated(err error, secrets []string) error {
	var problems []error
	for _, e := range protocol.Problems(err) {
		p := &protocol.Problem{Summary: e.Error()}
		if given, ok := errors.AsType[*protocol.Problem](e); ok {
			p = &protocol.Problem{Summary: given.Summary, Fix: given.Fix, SQL: given.SQL}
		}
		p.Kind = protocol.Config
		p.Summary, p.Fix, p.SQL = Redact(p.Summary, secrets), Redact(p.Fix, secrets), Redact(p.SQL, secrets)
		problems = append(problems, p)
	}
	return errors.Join(problems...)
}
