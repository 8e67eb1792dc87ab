package main

import "errors"

var errHstore = errors.New(`rendering an hstore: it is not in the form "key"=>"value", "key"=>NULL`)

// appendHstore prints "a"=>"1", "b"=>NULL as {"a":"1","b":null}.
func appendHstore(dst, value []byte) ([]byte, error) {
	dst = append(dst, '{')
	for i := 0; i < len(value); {
		if i > 0 {
			if value[i] != ',' {
				return dst, errHstore
			}
			if i++; i < len(value) && value[i] == ' ' {
				i++
			}
			dst = append(dst, ',')
		}
		if i >= len(value) || value[i] != '"' {
			return dst, errHstore
		}
		key, next, ok := unquote(value, i+1)
		if !ok || next+2 > len(value) || value[next] != '=' || value[next+1] != '>' {
			return dst, errHstore
		}
		dst, _ = appendString(dst, key)
		dst = append(dst, ':')
		switch i = next + 2; {
		case i+4 <= len(value) && string(value[i:i+4]) == "NULL":
			dst = append(dst, "null"...)
			i += 4
		case i < len(value) && value[i] == '"':
			text, next, ok := unquote(value, i+1)
			if !ok {
				return dst, errHstore
			}
			dst, _ = appendString(dst, text)
			i = next
		default:
			return dst, errHstore
		}
	}
	return append(dst, '}'), nil
}
