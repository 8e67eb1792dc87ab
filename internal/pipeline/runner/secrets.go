package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/estuary/connectors/internal/command"
)

// learnSecrets hides the values of a connector's configuration that its schema marks as secret.
func learnSecrets(hide *command.Secrets, schema, config json.RawMessage) error {
	var s, c any
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("reading the schema of the configuration: %w", err)
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	var found []string
	collectSecrets(s, c, &found)
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	hide.Add(found)
	return nil
}

func collectSecrets(schema, value any, found *[]string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if text, isText := value.(string); isText && text != "" && (s["secret"] == true || s["airbyte_secret"] == true) {
		*found = append(*found, text)
		if quoted, err := json.Marshal(text); err == nil && string(quoted[1:len(quoted)-1]) != text {
			*found = append(*found, string(quoted[1:len(quoted)-1]))
		}
	}
	if members, isObject := value.(map[string]any); isObject {
		properties, _ := s["properties"].(map[string]any)
		for name, member := range members {
			collectSecrets(properties[name], member, found)
		}
	}
	for _, combinator := range []string{"oneOf", "anyOf", "allOf"} {
		variants, _ := s[combinator].([]any)
		for _, v := range variants {
			collectSecrets(v, value, found)
		}
	}
}
