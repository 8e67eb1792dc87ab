package replay

import "strconv"

// judge looks at the version of a created or updated row, or of one from a backfill.
func (f *Fold) judge(t *folded, run int, key string, row Row, m meta) {
	if t.Version == "" {
		return
	}
	ver, err := strconv.ParseInt(string(row[t.Version]), 10, 64)
	if err != nil {
		t.fail("%s, key %s: %s is %s, want an integer in every created or updated row", t.Stream, key, t.Version, row[t.Version])
		return
	}
	if ver < 0 {
		t.fail("%s, key %s: version %d was rolled back", t.Stream, key, -ver)
		return
	}
	was := t.versions[key]
	t.versions[key] = version{n: ver, known: true, run: run}
	if t.Keyless && !f.KeepsAll {
		f.once(t, key, ver, m.Op)
	}
	if was.run != run && f.KeepsAll {
		return // the resumed run starts from an earlier STATE, and its changes come again
	}
	if !was.known {
		return
	}
	last := was.n + was.deletes
	switch {
	case ver < last:
		t.fail("%s, key %s: version %d came after version %d", t.Stream, key, ver, last)
	case ver == last && m.Source.Snapshot:
		f.Stats.Rescans++
	case ver == last:
		f.Stats.Repeats++
	case ver > last+1 && !m.Source.Snapshot: // a backfill may be ahead of the log; the log itself leaves nothing out
		t.fail("%s, key %s: version %d came right after version %d, what lies between is lost", t.Stream, key, ver, last)
	}
}

// judgeDelete looks at a deletion, which carries the old row, or only its key. It counts as a version of its own.
func (f *Fold) judgeDelete(t *folded, run int, key string, row Row) {
	if t.Version == "" {
		return
	}
	was := t.versions[key]
	old, err := strconv.ParseInt(string(row[t.Version]), 10, 64)
	hasOld := err == nil
	if hasOld && old < 0 {
		t.fail("%s, key %s: the deletion of version %d, which was rolled back", t.Stream, key, -old)
		return
	}
	if t.Keyless && !f.KeepsAll && hasOld {
		f.once(t, key, old, "d")
	}
	if was.known && (was.run == run || !f.KeepsAll) {
		if was.deletes > 0 {
			// Deletions of rows that this consumer does not have are allowed: they may be ones it kept from a killed run. From here on the version is
			// not known exactly.
			t.versions[key] = version{run: run}
			return
		}
		if hasOld && old < was.n {
			t.fail("%s, key %s: the deletion of version %d came after version %d", t.Stream, key, old, was.n)
		}
		if hasOld && old > was.n {
			t.fail("%s, key %s: the deletion of version %d came right after version %d, what lies between is lost", t.Stream, key, old, was.n)
		}
		t.versions[key] = version{n: was.n, known: true, deletes: 1, run: run}
		return
	}
	if hasOld {
		t.versions[key] = version{n: old, known: true, deletes: 1, run: run}
		return
	}
	t.versions[key] = version{run: run}
}

// once counts a change of a keyless table, each of which must come exactly once.
func (f *Fold) once(t *folded, key string, ver int64, op string) {
	if op != "d" {
		op = "" // a row of the backfill stands for its creation or its last update
	}
	id := key + "@" + strconv.FormatInt(ver, 10) + op
	t.seen[id]++
	if t.seen[id] == 2 {
		t.fail("%s, key %s: version %d came twice from a table without a key", t.Stream, key, ver)
	}
}
