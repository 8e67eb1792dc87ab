package config

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object with ordered keys: people read specs, and the order of a map would scatter what belongs together.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON renders the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // no < in patterns and descriptions
	buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			buf.WriteByte(',')
		}
		if err := enc.Encode(m.key); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}
