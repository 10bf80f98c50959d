package frame

import (
	"bytes"
	"encoding/binary"
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

// digits returns the number that up to eight digits stand for, the first one in the lowest byte, and whether they are digits.
func digits(word uint64, n int) (uint64, bool) {
	word = (word ^ everyByte*'0') << (64 - 8*n) // zeros before the digits
	// In the pairs of bytes, of pairs and of these, the sum of the first one times 10, 100 or 10,000 and the second one.
	sum := word*10 + word>>8
	const low = 0x000000ff000000ff
	sum = (sum&low*(100+1e6<<32) + sum>>16&low*(1+1e4<<32)) >> 32
	return sum, (word+everyByte*(0x80-10)|word)&(everyByte*0x80) == 0
}

// parseInt parses an integer in the notation of strconv.Itoa, so that nothing is lost: without
// leading zeros and plus sign. What follows the slice in its array may be read too.
func parseInt(b []byte) (int, bool) {
	if len(b) <= 8 && cap(b) >= 8 && b[0] > '0' { // in most cases: up to eight digits without sign
		v, ok := digits(binary.LittleEndian.Uint64(b[:8]), len(b))
		return int(v), ok
	}
	number := b
	if b[0] == '-' {
		number = b[1:]
	}
	if len(number) == 0 || len(number) > 18 {
		return parseLongInt(b)
	}
	if number[0] == '0' && (len(number) > 1 || len(b) > 1) {
		return 0, false
	}
	v := 0
	for _, d := range number {
		if d -= '0'; d > 9 {
			return 0, false
		}
		v = v*10 + int(d)
	}
	if len(number) < len(b) {
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

// powers of ten that uint64 represents, and the same as floats, which are exact
var (
	powers      = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
	floatPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
)

// scaled returns a divided by a power of ten, rounded once.
func scaled(a uint64, power int) float64 {
	if a < 1<<53 { // exact as a float
		return float64(int64(a)) / floatPowers[power]
	}
	// The quotient of a and the power, shifted so that their highest bit is set, has 61 bits before its point. The last
	// bit says whether there are others after it, as the conversion to float64 needs to know for its rounding.
	b := powers[power]
	shiftA, shiftB := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a <<= shiftA
	q, rest := bits.Div64(a>>2, a<<62, b<<shiftB)
	if rest != 0 {
		q |= 1
	}
	return float64(int64(q)) * math.Float64frombits(uint64(1023-62-shiftA+shiftB)<<52)
}

// parseFloat parses a decimal number, with or without an exponent, or an infinity. Integers must be such
// that parseInt accepts them, since others are rather names than numbers. What follows the slice in its array may be read too.
func parseFloat(b []byte) (float64, bool) {
	rest, negative := b, b[0] == '-'
	if negative || b[0] == '+' {
		rest = b[1:]
	}
	// Most numbers have a point, no exponent, and at most 19 digits after leading zeros.
	mantissa, fraction := uint64(0), -1 // the number of digits after the point, if that was found
	for n := 0; len(rest) > 0; rest = rest[n:] {
		if cap(rest) < 8 {
			return parseAnyFloat(b)
		}
		n = min(len(rest), 8)
		word, count := binary.LittleEndian.Uint64(rest[:8]), n
		if fraction < 0 {
			// The subtraction sets the highest bit of the first byte that is zero, and of none before it.
			point := word ^ everyByte*'.'
			point = (point - everyByte) &^ point & (everyByte * 0x80)
			if at := bits.TrailingZeros64(point) / 8; at < n {
				before := uint64(1)<<(8*at) - 1 // a mask of the digits before the point, which move to its place
				word = word&before<<8 | word&^(before<<8|0xff) | '0'
				fraction, count = len(rest)-1-at, n-1
			}
		}
		v, ok := digits(word, n)
		if !ok || mantissa >= powers[19-count] {
			return parseAnyFloat(b)
		}
		mantissa = mantissa*powers[count] + v
	}
	if fraction < 0 || fraction >= len(powers) || len(b) <= 2 {
		return parseAnyFloat(b)
	}
	v := scaled(mantissa, fraction)
	if negative {
		v = -v
	}
	return v, true
}

// parseAnyFloat is parseFloat for all numbers.
func parseAnyFloat(b []byte) (float64, bool) {
	number := b
	if b[0] == '-' || b[0] == '+' {
		number = b[1:]
	}
	i, count, point := 0, 0, false
	for ; i < len(number); i++ {
		if number[i]-'0' <= 9 {
			count++
		} else if number[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	switch {
	case count == 0:
		return infinity(number, b[0] == '-')
	case i < len(number):
		if number[i] != 'e' && number[i] != 'E' || !isExponent(number[i+1:]) {
			return 0, false
		}
	case !point && string(b) == "-0":
		return math.Copysign(0, -1), true
	case !point:
		v, ok := parseInt(b)
		return float64(v), ok
	}
	return convertFloat(b)
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
	_ = b[9]
	// the digits of year, month and day
	word := uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint16(b[5:]))<<32 | uint64(binary.LittleEndian.Uint16(b[8:]))<<48
	number, ok := digits(word, 8)
	date := uint32(number)
	year, month, day := date/10_000, date/100%100, date%100
	if !ok || month < 1 || month > 12 || day < 1 || day > monthDays[month] || day == 29 && month == 2 && daysBefore(year, 3)-daysBefore(year, 2) == 28 {
		return time.Time{}, false
	}
	t := time.Unix(86400*(int64(daysBefore(year, month)+day)-1-unixDays), 0).UTC()
	return t, !t.IsZero()
}

// monthDays is the largest number of days of each month, from 1.
var monthDays = [...]uint32{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// unixDays is daysBefore of January 1970.
const unixDays = 719468 + 146097

// daysBefore returns the number of days from 1 March of the year -400 to the first day of a month, in the Gregorian
// calendar. A year that begins in March has its leap day at the end.
func daysBefore(year, month uint32) uint32 {
	early := (14 - month) / 12 // 1 in January and February; a branch would often be mispredicted
	year += 400 - early
	return 1461*year/4 - year/100 + year/400 + (153*(month+12*early-3)+2)/5
}
