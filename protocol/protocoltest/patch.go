package protocoltest

// merge applies an RFC 7396 merge patch to a value that parse has read. Neither is changed.
func merge(target, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if object, ok := target.(map[string]any); ok {
		for name, value := range object {
			merged[name] = value
		}
	}
	for name, value := range members {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = merge(merged[name], value)
		}
	}
	return merged
}

// without returns the object without one of its members.
func without(v any, name string) map[string]any {
	rest := map[string]any{}
	object, _ := v.(map[string]any)
	for n, value := range object {
		if n != name {
			rest[n] = value
		}
	}
	return rest
}
