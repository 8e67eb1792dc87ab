package sweep

// retryOverhead is what an entry of `retry` takes beside key and version.
const retryOverhead = 40

func (m *Machine) dropRetry(key string) {
	d, ok := m.s.retry[key]
	if !ok {
		return
	}
	delete(m.s.retry, key)
	m.dirtyRetry[key] = struct{}{}
	m.retryBytes -= len(key) + len(d.Version) + retryOverhead
}

// dropArchived gives up the archived objects, to make room for others.
func (m *Machine) dropArchived() bool {
	n := len(m.s.retry)
	for k, d := range m.s.retry {
		if d.Why == Archived {
			m.dropRetry(k)
		}
	}
	return len(m.s.retry) < n
}

// pruneRetry forgets objects that this sweep did not list, although it listed all around them: they were deleted. Their versions were never read, so
// `seen` forgets them, too, and they are read when they are put back. What another process owns stays.
func (m *Machine) pruneRetry() {
	for k := range m.s.retry {
		if k > m.listedFrom && !m.met[k] && m.Owns(k) {
			m.dropRetry(k)
			m.forget(m.hash(k))
		}
	}
}
