package frame

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// missingSet is the words that stand for a missing value.
type missingSet struct {
	starts [256]struct { // by the first byte
		words   []string
		lengths uint64 // bit n is set if a word has n bytes, or for n = 63 more
	}
	// No bit of first of the first byte and last of the last byte is set in both if a field is plain: neither a word nor with
	// space or quotation marks around it.
	first, last [256]byte
}

func newMissingSet(words []string) *missingSet {
	s := &missingSet{}
	for b := range s.first {
		s.first[b], s.last[b] = 1, 2
		if isSpace(byte(b)) || b == '\n' || b == '"' {
			s.first[b], s.last[b] = 3, 3
		}
	}
	for _, w := range words {
		if w != "" {
			m := &s.starts[w[0]]
			m.words = append(m.words, w)
			m.lengths |= 1 << min(len(w), 63)
			s.first[w[0]] |= 4
			s.last[w[len(w)-1]] |= 4
		}
	}
	return s
}

// has reports whether a value that is not empty is one of the words.
func (s *missingSet) has(b []byte) bool {
	m := &s.starts[b[0]]
	return m.lengths>>min(len(b), 63)&1 != 0 && slices.Contains(m.words, string(b))
}

// plain reports, for most values that are present, that a field is nothing but a value, without space or quotation marks.
func (s *missingSet) plain(field []byte) bool {
	return len(field) > 0 && s.first[field[0]]&s.last[field[len(field)-1]] == 0
}

// parseInt parses an integer in the notation of strconv.Itoa, so that nothing is lost: without
// leading zeros and plus sign.
func parseInt(b []byte) (int, bool) {
	digits := b
	if b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return parseLongInt(b)
	}
	if digits[0] == '0' && (len(digits) > 1 || len(b) > 1) {
		return 0, false
	}
	v := 0
	for _, d := range digits {
		if d -= '0'; d > 9 {
			return 0, false
		}
		v = v*10 + int(d)
	}
	if len(digits) < len(b) {
		return -v, true
	}
	return v, true
}

// parseLongInt is parseInt for 19 digits and more.
func parseLongInt(b []byte) (int, bool) {
	v, err := strconv.Atoi(string(b))
	return v, err == nil && strconv.Itoa(v) == string(b)
}

// parseAnyInt parses an integer in any decimal notation.
func parseAnyInt(b []byte) (int, bool) {
	v, err := strconv.Atoi(string(b))
	return v, err == nil
}

// powers of ten that uint64 represents
var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// quotient returns a/b, rounded once; b is not zero.
func quotient(a, b uint64) float64 {
	if a < 1<<53 && b < 1<<53 { // as floats, they are exact
		return float64(a) / float64(b)
	}
	if a == 0 {
		return 0
	}
	// The quotient of a and b, shifted so that their highest bit is set, has 62 bits before its point. The last
	// bit says whether there are others after it, as the conversion to float64 needs to know for its rounding.
	shiftA, shiftB := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a <<= shiftA
	q, rest := bits.Div64(a>>1, a<<63, b<<shiftB)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63-shiftA+shiftB)<<52)
}

// parseFloat parses a decimal number, with or without an exponent, or an infinity. Integers must be such
// that parseInt accepts them, since others are rather names than numbers.
func parseFloat(b []byte) (float64, bool) {
	i, negative := 0, false
	if b[0] == '-' || b[0] == '+' {
		i, negative = 1, b[0] == '-'
	}
	if i == len(b) {
		return 0, false
	}
	mantissa, digits, fraction, start := uint64(0), 0, 0, i
	point := false
	for ; i < len(b); i++ {
		if d := b[i] - '0'; d <= 9 {
			if mantissa = mantissa*10 + uint64(d); mantissa > 0 {
				digits++
			}
			if point {
				fraction++
			}
		} else if b[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	if i == start+1 && point || i == start { // no digit
		return infinity(b[start:], negative)
	}
	if i < len(b) {
		if b[i] != 'e' && b[i] != 'E' || !isExponent(b[i+1:]) {
			return 0, false
		}
		return convertFloat(b)
	}
	if !point && string(b) == "-0" {
		return math.Copysign(0, -1), true
	}
	if !point {
		v, ok := parseInt(b)
		return float64(v), ok
	}
	if digits > 19 || fraction >= len(powers) {
		return convertFloat(b)
	}
	v := quotient(mantissa, powers[fraction])
	if negative {
		v = -v
	}
	return v, true
}

// convertFloat parses a number in any notation of package strconv. Those too large are not accepted.
func convertFloat(b []byte) (float64, bool) {
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	return v, err == nil
}

func isExponent(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) > 0 && !slices.ContainsFunc(b, func(d byte) bool { return d-'0' > 9 })
}

func infinity(b []byte, negative bool) (float64, bool) {
	if !bytes.EqualFold(b, []byte("inf")) && !bytes.EqualFold(b, []byte("infinity")) {
		return 0, false
	}
	if negative {
		return math.Inf(-1), true
	}
	return math.Inf(1), true
}

func parseBool(b []byte) (bool, bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

// timeLayouts are the formats of ISO 8601 that are recognized. time.Parse accepts a fraction after
// the seconds of each.
var timeLayouts = [...]string{time.DateOnly, time.DateTime, "2006-01-02 15:04", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04Z07:00"}

func parseTime(b []byte) (time.Time, bool) {
	if len(b) < 10 || len(b) > 35 || b[4] != '-' || b[7] != '-' {
		return time.Time{}, false
	}
	if len(b) == 10 {
		return parseDate(b)
	}
	s := unsafe.String(unsafe.SliceData(b), len(b))
	for _, layout := range timeLayouts[1:] {
		if t, err := time.Parse(layout, s); err == nil {
			return t, !t.IsZero()
		}
	}
	return time.Time{}, false
}

func parseDate(b []byte) (time.Time, bool) {
	number := func(from, to int) int {
		v := 0
		for _, d := range b[from:to] {
			if d -= '0'; d > 9 {
				return -1 << 30
			}
			v = v*10 + int(d)
		}
		return v
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	if day > 28 && day > daysIn(year, month) {
		return time.Time{}, false
	}
	t := time.Unix(86400*int64(daysBefore(year, month)+day-1-unixDays), 0).UTC()
	return t, !t.IsZero()
}

// unixDays is daysBefore of January 1970.
const unixDays = 719468

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	return daysBefore(year+month/12, month%12+1) - daysBefore(year, month)
}

// daysBefore returns the number of days from 1 March of the year 0 to the first day of a month, in the Gregorian
// calendar. A year that begins in March has its leap day at the end.
func daysBefore(year, month int) int {
	if month -= 3; month < 0 {
		month += 12
		year--
	}
	if year < 0 { // January and February of the year 0
		return (153*month+2)/5 - 366
	}
	return 365*year + year/4 - year/100 + year/400 + (153*month+2)/5
}
