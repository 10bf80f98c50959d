package frame

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// missingSet is the words that stand for a missing value, by their first byte.
type missingSet [256][]string

func newMissingSet(words []string) missingSet {
	var s missingSet
	for _, w := range words {
		if w != "" {
			s[w[0]] = append(s[w[0]], w)
		}
	}
	return s
}

// has reports whether a value that is not empty is one of the words.
func (s *missingSet) has(b []byte) bool {
	for _, w := range s[b[0]] {
		if string(b) == w {
			return true
		}
	}
	return false
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

// powers of ten that float64 represents exactly
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

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
	if digits > 15 || fraction >= len(powers) {
		return convertFloat(b)
	}
	// Both are exact, so the quotient is rounded once (Clinger 1990).
	v := float64(mantissa) / powers[fraction]
	if negative {
		v = -v
	}
	return v, true
}

// convertFloat is parseFloat for a number whose syntax is valid. Those too large are not accepted.
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
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day && !t.IsZero()
}
