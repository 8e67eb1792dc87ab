package sweep

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Changed tells whether a patch would say anything but that another sweep has passed.
func (m *Machine) Changed() bool {
	before := m.sent
	before.sweep = m.s.sweep
	return !before.equal(m.s.mark) || m.sentAt != m.s.at || len(m.dirtySeen)+len(m.dirtyRetry) > 0
}

// Pending tells whether a patch would say anything at all.
func (m *Machine) Pending() bool { return m.sent.sweep != m.s.sweep || m.Changed() }

func (a mark) equal(b mark) bool {
	return a.since.Equal(b.since) && a.next.Equal(b.next) && a.newest.Equal(b.newest) && a.started.Equal(b.started) &&
		a.sweep == b.sweep && a.path == b.path && a.version == b.version && a.config == b.config
}

// AppendPatch appends an RFC 7396 merge patch from the state at the last call to the present one. What is to be cleared is null in it, never left out.
func (m *Machine) AppendPatch(dst []byte) []byte {
	a, b := &m.sent, &m.s.mark
	p := patch{append(dst, '{')}
	p.time("since", a.since, b.since)
	p.time("next", a.next, b.next)
	p.time("newest", a.newest, b.newest)
	p.time("started", a.started, b.started)
	if a.sweep != b.sweep {
		p.name("sweep")
		p.dst = strconv.AppendInt(p.dst, b.sweep, 10)
	}
	p.text("path", a.path, b.path)
	p.text("version", a.version, b.version)
	p.text("config", a.config, b.config)
	p.text("at", m.sentAt, m.s.at)
	m.appendTables(&p)
	m.sent, m.sentAt = m.s.mark, m.s.at
	clear(m.dirtySeen)
	clear(m.dirtyRetry)
	return append(p.dst, '}')
}

func (m *Machine) appendTables(p *patch) {
	if len(m.dirtySeen) > 0 {
		hashes := make([]uint64, 0, len(m.dirtySeen))
		for h, known := range m.dirtySeen {
			if _, is := m.s.seen[h]; is || known { // what came and went since is not told
				hashes = append(hashes, h)
			}
		}
		slices.Sort(hashes)
		p.name("seen")
		p.dst = append(p.dst, '{')
		for i, h := range hashes {
			if i > 0 {
				p.dst = append(p.dst, ',')
			}
			p.dst = append(appendHash(append(p.dst, '"'), h), '"', ':')
			if e, ok := m.s.seen[h]; ok {
				p.dst = append(e.append(append(p.dst, '"')), '"')
			} else {
				p.null()
			}
		}
		p.dst = append(p.dst, '}')
	}
	if len(m.dirtyRetry) > 0 {
		keys := make([]string, 0, len(m.dirtyRetry))
		for k := range m.dirtyRetry {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		p.name("retry")
		p.dst = append(p.dst, '{')
		for i, k := range keys {
			if i > 0 {
				p.dst = append(p.dst, ',')
			}
			p.string(k)
			p.dst = append(p.dst, ':')
			if d, ok := m.s.retry[k]; ok {
				p.dst = append(p.dst, `{"version":`...)
				p.string(d.Version)
				p.dst = append(p.dst, `,"why":`...)
				p.string(string(d.Why))
				p.dst = append(p.dst, '}')
			} else {
				p.null()
			}
		}
		p.dst = append(p.dst, '}')
	}
}

// patch is an object that is being written.
type patch struct{ dst []byte }

func (p *patch) name(name string) {
	if p.dst[len(p.dst)-1] != '{' {
		p.dst = append(p.dst, ',')
	}
	p.dst = append(append(append(p.dst, '"'), name...), '"', ':')
}

func (p *patch) null() { p.dst = append(p.dst, "null"...) }

func (p *patch) string(s string) {
	quoted, _ := json.Marshal(s) // a string always has a JSON form
	p.dst = append(p.dst, quoted...)
}

func (p *patch) text(name, before, after string) {
	if before == after {
		return
	}
	p.name(name)
	if after == "" {
		p.null()
		return
	}
	p.string(after)
}

func (p *patch) time(name string, before, after time.Time) {
	if before.Equal(after) {
		return
	}
	p.name(name)
	if after.IsZero() {
		p.null()
		return
	}
	p.dst = append(after.UTC().AppendFormat(append(p.dst, '"'), time.RFC3339Nano), '"')
}
