package rawjson

import "bytes"

// MergePatch appends doc, an object, after a merge patch (RFC 7396), an object, too. What the patch does not touch is copied as it stands; members that are
// new come last, in the patch's order. The time is that of reading both, whatever the number of members: states name tens of thousands of files.
func MergePatch(dst, doc, patch []byte) ([]byte, error) {
	p, err := patchOf(patch)
	if err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	first := len(dst)
	err = Object(doc, func(name, value []byte) error {
		i, patched := p.find(name)
		if !patched {
			dst = appendMember(dst, first, name)
			dst = append(dst, value...)
			return nil
		}
		change := &p.members[i]
		repeated := change.used
		change.used = true
		if repeated || IsNull(change.value) {
			return nil
		}
		dst = appendMember(dst, first, name)
		dst, err = appendMerged(dst, value, change.value)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range p.members {
		if m := &p.members[i]; !m.used && !IsNull(m.value) {
			dst = appendMember(dst, first, m.name)
			if dst, err = appendMerged(dst, nil, m.value); err != nil {
				return nil, err
			}
		}
	}
	return append(dst, '}'), nil
}

// appendMerged appends a member's value after a patch; value nil: there is none yet.
func appendMerged(dst, value, patch []byte) ([]byte, error) {
	if patch[0] != '{' {
		return append(dst, patch...), nil
	}
	if len(value) == 0 || value[0] != '{' {
		value = []byte("{}")
	}
	return MergePatch(dst, value, patch)
}

func appendMember(dst []byte, first int, name []byte) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), '"', ':')
}

// patchMembers are the members of a patch; of one name the last.
type patchMembers struct {
	members []patchMember
	index   map[string]int // by name without escapes
	scratch []byte
}

type patchMember struct {
	name, value []byte
	used        bool
}

func patchOf(patch []byte) (*patchMembers, error) {
	p := &patchMembers{index: map[string]int{}}
	err := Object(patch, func(name, value []byte) error {
		if i, ok := p.find(name); ok {
			p.members[i].value = value
			return nil
		}
		p.index[string(p.plain(name))] = len(p.members)
		p.members = append(p.members, patchMember{name: name, value: value})
		return nil
	})
	return p, err
}

func (p *patchMembers) find(name []byte) (int, bool) {
	i, ok := p.index[string(p.plain(name))]
	return i, ok
}

// plain undoes a name's escapes.
func (p *patchMembers) plain(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 {
		return name
	}
	p.scratch = AppendUnquoted(p.scratch[:0], name)
	return p.scratch
}
