package main

import "encoding/binary"

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 24 * 3600 * microsPerSecond
	// epoch is 2000-01-01, from which the server counts, in days since 1970-01-01.
	epoch = 10957
)

func binaryDate(_ *encoder, dst, value []byte) ([]byte, bool) {
	raw, ok := inside(value)
	if !ok || len(raw) != len("2000-01-01") {
		return dst, false
	}
	days, ok := parseDate(raw)
	return binary.BigEndian.AppendUint32(dst, uint32(days-epoch)), ok //nolint:gosec // two's complement
}

// binaryTimestamptz takes RFC 3339 with up to six decimals of a second.
func binaryTimestamptz(_ *encoder, dst, value []byte) ([]byte, bool) {
	micros, offset, ok := parseTimestamp(value)
	return binary.BigEndian.AppendUint64(dst, uint64(micros-offset)), ok //nolint:gosec // two's complement
}

// binaryTimestamp drops the offset, as the server does in text form.
func binaryTimestamp(_ *encoder, dst, value []byte) ([]byte, bool) {
	micros, _, ok := parseTimestamp(value)
	return binary.BigEndian.AppendUint64(dst, uint64(micros)), ok //nolint:gosec // two's complement
}

func binaryTime(_ *encoder, dst, value []byte) ([]byte, bool) {
	raw, ok := inside(value)
	if !ok {
		return dst, false
	}
	micros, rest, ok := parseClock(raw)
	if _, zoned := parseOffset(rest); ok && len(rest) > 0 {
		ok = zoned
	}
	return binary.BigEndian.AppendUint64(dst, uint64(micros)), ok //nolint:gosec // not negative
}

// parseTimestamp reads date, clock and offset: microseconds since 2000-01-01 as the clock on the wall shows them, and those to take away for UTC.
func parseTimestamp(value []byte) (micros, offset int64, ok bool) {
	const date = len("2000-01-01")
	raw, isString := inside(value)
	if !isString || len(raw) <= date || raw[date] != 'T' && raw[date] != 't' && raw[date] != ' ' {
		return 0, 0, false
	}
	days, dated := parseDate(raw[:date])
	clock, rest, timed := parseClock(raw[date+1:])
	if !dated || !timed {
		return 0, 0, false
	}
	if offset, ok = parseOffset(rest); !ok {
		return 0, 0, false
	}
	return (days-epoch)*microsPerDay + clock, offset, true
}

// two reads two digits; negative: they are none.
func two(b []byte) int64 {
	high, low := b[0]-'0', b[1]-'0'
	if high > 9 || low > 9 {
		return -1
	}
	return int64(high)*10 + int64(low)
}

var daysBefore = [...]int64{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// parseDate reads YYYY-MM-DD of the years 1 to 9999, and returns the days since 1970-01-01.
func parseDate(b []byte) (days int64, ok bool) {
	century, year, month, day := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	if century < 0 || year < 0 || b[4] != '-' || b[7] != '-' || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	if year += 100 * century; year == 0 {
		return 0, false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	length := daysBefore[month] - daysBefore[month-1]
	if leap && month == 2 {
		length++
	}
	if day > length {
		return 0, false
	}
	past := year - 1 // years since 0001-01-01
	days = 365*past + past/4 - past/100 + past/400 + daysBefore[month-1] + day - 1
	if leap && month > 2 {
		days++
	}
	const unixEpoch = 719162
	return days - unixEpoch, true
}

// parseClock reads HH:MM:SS with up to six decimals; rest is what follows.
func parseClock(b []byte) (micros int64, rest []byte, ok bool) {
	if len(b) < len("00:00:00") || b[2] != ':' || b[5] != ':' {
		return 0, nil, false
	}
	hours, minutes, seconds := two(b), two(b[3:]), two(b[6:])
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 {
		return 0, nil, false // also 24:00:00 and leap seconds, which the server carries over
	}
	micros = ((hours*60+minutes)*60 + seconds) * microsPerSecond
	if b = b[8:]; len(b) == 0 || b[0] != '.' {
		return micros, b, true
	}
	b = b[1:]
	digits, unit := 0, int64(microsPerSecond)
	for digits < len(b) && b[digits]-'0' <= 9 {
		unit /= 10
		micros += unit * int64(b[digits]-'0')
		digits++
	}
	return micros, b[digits:], digits > 0 && digits <= 6
}

// parseOffset reads Z or ±HH:MM, in microseconds.
func parseOffset(b []byte) (micros int64, ok bool) {
	switch {
	case len(b) == 1 && (b[0] == 'Z' || b[0] == 'z'):
		return 0, true
	case len(b) != len("+00:00") || b[3] != ':' || b[0] != '+' && b[0] != '-':
		return 0, false
	}
	hours, minutes := two(b[1:]), two(b[4:])
	if hours < 0 || hours > 15 || minutes < 0 || minutes > 59 { // the server takes no more
		return 0, false
	}
	if micros = (hours*60 + minutes) * 60 * microsPerSecond; b[0] == '-' {
		micros = -micros
	}
	return micros, true
}
