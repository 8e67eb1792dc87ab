package scalars

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
)

const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

const (
	secondsOfDay = 86400
	// Days from 1970-01-01 to 0000-01-01 and to 10000-01-01 of the proleptic Gregorian calendar.
	firstDay, endDay = -719528, 2932897
)

// AppendDate appends a count of days since 1970-01-01 as "YYYY-MM-DD". Years outside 0 to 9999 return false: four digits cannot hold them.
func AppendDate(dst []byte, days int64) ([]byte, bool) {
	if days < firstDay || days >= endDay {
		return dst, false
	}
	return append(appendDay(append(dst, '"'), days), '"'), true
}

// AppendTime appends nanoseconds since midnight as "HH:MM:SS" with as many decimals as it takes. Less than none and more than 24 hours return false.
func AppendTime(dst []byte, nanos int64) ([]byte, bool) {
	if nanos < 0 || nanos > secondsOfDay*1e9 {
		return dst, false
	}
	dst = appendClock(append(dst, '"'), uint32(nanos/1e9), uint32(nanos%1e9))
	return append(dst, '"'), true
}

// AppendTimestamp appends a time since 1970-01-01 as "YYYY-MM-DDTHH:MM:SS" with as many decimals as it takes, and Z when the time is one of UTC rather than one of a
// place that is not told. Years outside 0 to 9999 return false. Nanos are those of the second: 0 ≤ nanos < 1e9.
func AppendTimestamp(dst []byte, seconds int64, nanos uint32, utc bool) ([]byte, bool) {
	if seconds < firstDay*secondsOfDay || seconds >= endDay*secondsOfDay {
		return dst, false
	}
	// Counted from the first day, so that the remainder is not negative.
	fromFirst := uint64(seconds - firstDay*secondsOfDay)
	dst = appendDay(append(dst, '"'), int64(fromFirst/secondsOfDay)+firstDay)
	dst = appendClock(append(dst, 'T'), uint32(fromFirst%secondsOfDay), nanos)
	if utc {
		dst = append(dst, 'Z')
	}
	return append(dst, '"'), true
}

// appendDay counts in eras of 400 years that begin in March, so that the day that a leap year adds is the last of its year.
func appendDay(dst []byte, days int64) []byte {
	const daysOfEra = 146097
	fromMarch := uint32(days - firstDay - 60 + daysOfEra) // since -0400-03-01
	era, day := fromMarch/daysOfEra, fromMarch%daysOfEra
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	day -= (153*month+2)/5 - 1
	year += 400*era - 400
	if month < 10 {
		month += 3
	} else {
		month -= 9
		year++
	}
	hundreds, tens := year/100*2, year%100*2
	month, day = month*2, day*2
	return append(dst, pairs[hundreds], pairs[hundreds+1], pairs[tens], pairs[tens+1], '-', pairs[month], pairs[month+1], '-', pairs[day], pairs[day+1])
}

func appendClock(dst []byte, seconds, nanos uint32) []byte {
	hours, minutes, second := seconds/3600*2, seconds/60%60*2, seconds%60*2
	dst = append(dst, pairs[hours], pairs[hours+1], ':', pairs[minutes], pairs[minutes+1], ':', pairs[second], pairs[second+1])
	if nanos == 0 {
		return dst
	}
	return appendFraction(dst, nanos)
}

// appendFraction appends a point and billionths, which are not 0, without zeros at their end.
func appendFraction(dst []byte, billionths uint32) []byte {
	var text [9]byte
	for i := 8; i >= 0; i-- {
		text[i] = byte('0' + billionths%10)
		billionths /= 10
	}
	n := len(text)
	for text[n-1] == '0' {
		n--
	}
	return append(append(dst, '.'), text[:n]...)
}

// AppendInterval appends a length of time as ISO 8601 writes it: "P6M14DT20.5S"; parts that are 0 are left out, "PT0S" is none.
func AppendInterval(dst []byte, months, days, millis uint32) []byte {
	dst = append(dst, '"', 'P')
	if months > 0 {
		dst = append(strconv.AppendUint(dst, uint64(months), 10), 'M')
	}
	if days > 0 {
		dst = append(strconv.AppendUint(dst, uint64(days), 10), 'D')
	}
	if millis > 0 || months == 0 && days == 0 {
		dst = strconv.AppendUint(append(dst, 'T'), uint64(millis/1000), 10)
		if millis%1000 > 0 {
			dst = appendFraction(dst, millis%1000*1e6)
		}
		dst = append(dst, 'S')
	}
	return append(dst, '"')
}

// AppendUUID appends sixteen bytes in the form of RFC 9562.
func AppendUUID(dst []byte, id *[16]byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 38)[:n+38]
	to := dst[n:]
	to[0], to[9], to[14], to[19], to[24], to[37] = '"', '-', '-', '-', '-', '"'
	hex.Encode(to[1:], id[0:4])
	hex.Encode(to[10:], id[4:6])
	hex.Encode(to[15:], id[6:8])
	hex.Encode(to[20:], id[8:10])
	hex.Encode(to[25:], id[10:16])
	return dst
}

// AppendBase64 appends bytes as a string of standard, padded base64.
func AppendBase64(dst, b []byte) []byte {
	dst = slices.Grow(dst, base64.StdEncoding.EncodedLen(len(b))+2)
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), b), '"')
}
