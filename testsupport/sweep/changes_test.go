package sweep

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// fill makes the files that are there at the beginning. In a store whose clock the test moves they are up to eight days old.
func (l *life) fill() error {
	const days = 8 * 24 * time.Hour
	rows := make([]int, l.files)
	for i := range l.big {
		rows[i] = bigRows
	}
	for i := range l.huge {
		rows[i] = hugeRows
	}
	l.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	made := map[bool]int{}
	for _, n := range rows {
		form := &forms[made[n == bigRows]%len(forms)]
		if n == hugeRows {
			form = &forms[0]
		} else {
			made[n == bigRows]++
		}
		b, err := l.body(form, n, nil)
		if err != nil {
			return err
		}
		if _, err := l.put(l.newKey(form), b, initial, false); err != nil {
			return err
		}
		l.store.pass(days / time.Duration(l.files))
	}
	return nil
}

// newKey is one in some folder, whose name sorts before, among or behind those of files.
func (l *life) newKey(f *form) string {
	folder := ""
	if n := l.rng.IntN(12); n < 8 {
		folder = fmt.Sprintf("%d%s", n/2, []string{"/", "-x/", ".x/", "/0/"}[l.rng.IntN(4)])
	}
	l.made++
	return fmt.Sprintf("%s%03d-%04d%s", folder, l.rng.IntN(1000), l.made, f.ending)
}

// body makes the content of a file; another one than that of old. Without a number of rows there are a few.
func (l *life) body(f *form, rows int, old *body) (*body, error) {
	switch {
	case rows >= bigRows:
		variant := l.rng.IntN(variants)
		b, err := big(f, rows, variant)
		if b == old {
			b, err = big(f, rows, variant+1)
		}
		return b, err
	case rows == 0 && l.rng.IntN(30) == 0:
		rows = someRows
	case rows == 0:
		rows = 1 + l.rng.IntN(fewRows)
	}
	l.made++
	return small(f, l.made, rows)
}

// put puts a file and notes it.
func (l *life) put(key string, b *body, how kind, hourOld bool) (*version, error) {
	o, err := l.store.put(key, b, hourOld)
	if err != nil {
		return nil, err
	}
	return l.note(key, o, b, how)
}

func (l *life) note(key string, o object, b *body, how kind) (*version, error) {
	v := &version{object: o, key: key, body: b, how: how, run: l.runs}
	return v, l.ledger.put(v)
}

// change makes one change.
func (l *life) change() error {
	keys := slices.Sorted(maps.Keys(l.ledger.there))
	n, crowded := l.rng.IntN(20), len(keys) > l.files*11/10
	switch {
	case n < 3 && !crowded || len(keys) < l.files*9/10:
		_, err := l.add(added, false)
		return err
	case n >= 3 && n < 8:
		return l.replace(l.pick(keys), replaced, false)
	case n < 12:
		key := l.pick(keys)
		l.ledger.delete(key)
		l.bites.deleted++
		return l.store.remove(key)
	case n < 15:
		how := hourBack
		if l.ended.IsZero() { // nothing was late yet
			how = replaced
		}
		if crowded || l.rng.IntN(2) == 0 {
			return l.replace(l.pick(keys), how, true)
		}
		_, err := l.add(how, true)
		return err
	case n < 17:
		return l.appear()
	}
	return l.again(keys)
}

// add puts a new file: a big one where some are gone.
func (l *life) add(how kind, hourOld bool) (*version, error) {
	form, rows := &forms[l.rng.IntN(len(forms))], 0
	if len(l.bigs()) < l.big && l.rng.IntN(2) == 0 {
		rows = bigRows
		for i := range forms {
			if l.bites.of[forms[i].name] < l.bites.of[form.name] {
				form = &forms[i]
			}
		}
	}
	b, err := l.body(form, rows, nil)
	if err != nil {
		return nil, err
	}
	return l.put(l.newKey(form), b, how, hourOld)
}

func (l *life) bigs() (keys []string) {
	for key, v := range l.ledger.there {
		if v.body.big() {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// pick chooses a file: often the one that is being printed, or a big one of a format that was hit too seldom.
func (l *life) pick(keys []string) string {
	switch n := l.rng.IntN(6); {
	case n == 0 && l.at != nil && !l.at.gone:
		return l.at.key
	case n < 3:
		for _, key := range l.bigs() {
			if f := l.ledger.there[key].body.form.name; l.bites.of[f] < l.each && l.rng.IntN(3) == 0 {
				return key
			}
		}
	}
	return keys[l.rng.IntN(len(keys))]
}

// replace puts another content in a file's place: mostly of its kind, now and then a short one for a long one.
func (l *life) replace(key string, how kind, hourOld bool) error {
	old, rows := l.ledger.there[key].body, 0
	if old.big() && l.rng.IntN(8) > 0 {
		rows = old.rows
	}
	b, err := l.body(old.form, rows, old)
	if err != nil {
		return err
	}
	_, err = l.put(key, b, how, hourOld)
	return err
}

// again replaces a file inside the second in which it was put: one of which a state tells already, or one that is put for this.
func (l *life) again(keys []string) error {
	now := l.store.now()
	young := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		v := l.ledger.there[key]
		return v.kept == 0 || now.Sub(v.modified) >= time.Second
	})
	if len(young) > 0 && l.rng.IntN(4) > 0 {
		done, err := l.twice(young[l.rng.IntN(len(young))], twin)
		if done || err != nil {
			return err
		}
	}
	for key := l.pick(keys); ; {
		if err := l.replace(key, replaced, false); err != nil {
			return err
		}
		if done, err := l.twice(key, pair); done || err != nil {
			return err
		}
	}
}

// twice replaces a file at the same size, and tells whether that was inside one second: a machine may be slow.
func (l *life) twice(key string, how kind) (done bool, err error) {
	first := l.ledger.there[key]
	b, err := l.sameSize(first.body)
	if err != nil {
		return false, err
	}
	v, err := l.put(key, b, how, false)
	if err != nil {
		return false, err
	}
	if done = v.modified.Sub(first.modified) < time.Second; !done {
		v.how = replaced
	}
	return done, nil
}

// sameSize makes another content of the same size.
func (l *life) sameSize(old *body) (*body, error) {
	for {
		b, err := l.body(old.form, old.rows, old)
		if err != nil || len(b.data) == len(old.data) {
			return b, err
		}
	}
}

// appear lets a file appear that was begun before the last sweep, or begins one.
func (l *life) appear() error {
	for i, key := range l.coming {
		if at := l.begun[key]; at.at.Before(l.ended) {
			l.coming = slices.Delete(l.coming, i, i+1)
			o, err := l.store.end(key)
			if err != nil {
				return err
			}
			_, err = l.note(key, o, at.body, slow)
			return err
		}
	}
	return l.beginOne()
}

func (l *life) beginOne() error {
	form := &forms[l.rng.IntN(len(forms))]
	b, err := l.body(form, 0, nil)
	if err != nil {
		return err
	}
	l.made++
	key := fmt.Sprintf("%d-%d/%s", l.rng.IntN(5), l.made, "file"+form.ending)
	if err := l.store.begin(key, b); err != nil {
		return err
	}
	l.coming = append(l.coming, key)
	l.begun[key] = beginning{b, l.store.now()}
	return nil
}

// between lets time pass between two runs, and sees to it that some files are being put slowly.
func (l *life) between() error {
	if l.rng.IntN(6) == 0 {
		l.store.pass(time.Duration(1+l.rng.IntN(15)) * time.Second)
	}
	if len(l.coming) < 3 {
		return l.beginOne()
	}
	return nil
}
