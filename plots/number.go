package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// minus is the minus sign that is as wide as a plus. The font has no superscript digits, so
// powers of ten are written as in 1e−7.
const minus = "−"

// decimals formats v with d digits after the decimal point.
func decimals(v float64, d int) string {
	s := strconv.FormatFloat(v, 'f', max(d, 0), 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // no −0
	}
	return strings.Replace(s, "-", minus, 1)
}

// scientific formats v as a mantissa with at most d digits after the point and a power of ten.
func scientific(v float64, d int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return value(v)
	}
	s := strconv.FormatFloat(v, 'e', max(d, 0), 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	sign := strings.TrimPrefix(exponent[:1], "+")
	exponent = strings.TrimLeft(exponent[1:], "0")
	if exponent == "" {
		exponent, sign = "0", ""
	}
	return strings.ReplaceAll(mantissa+"e"+sign+exponent, "-", minus)
}

// fractionDigits returns the number of digits after the point that distinguish multiples of step.
func fractionDigits(step float64) int {
	if !(step > 0) || step >= 1 {
		return 0
	}
	return int(math.Ceil(-math.Log10(step) - 1e-9))
}

// writtenOut is the size up to which numbers are written with all their digits, as on the axes so
// in texts.
const writtenOut = 1e8

// plain formats a tick at v, one of several with a distance of step: 0.25, 1000, 12 000, 3e8.
func plain(v, step float64) string {
	size := math.Abs(v)
	switch {
	case size < step*1e-6:
		return "0"
	case size >= writtenOut || step < 1e-4 && size < .1:
		return scientific(v, int(math.Floor(math.Log10(size))-math.Floor(math.Log10(step)+1e-9)))
	}
	return spaced(decimals(v, fractionDigits(step)))
}

// percent formats a tick of an axis in percent.
func percent(v, step float64) string {
	if math.Abs(v) < step*1e-6 {
		return "0 %"
	}
	return decimals(v, fractionDigits(step)) + " %"
}

// clock formats a tick of an axis in seconds as minutes and seconds.
func clock(v, step float64) string {
	if step < 1 {
		return decimals(v, fractionDigits(step)) + " s"
	}
	sign := ""
	if v < 0 {
		sign, v = minus, -v
	}
	if v > 1e9 {
		return sign + plain(v, step) + " s"
	}
	s := int(math.Round(v))
	if s >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, s/60, s%60)
}

// value formats a number with three significant digits for text: 0.267, 91.3, 1.2e−7.
func value(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return minus + "Inf"
	case size == 0:
		return "0"
	case size < 1e-3 || size >= writtenOut:
		return scientific(v, 2)
	case size >= 1000:
		return grouped(v)
	}
	// The exponent after rounding, so that 0.9999 gives 1.00 and not 1.000.
	_, exponent, _ := strings.Cut(strconv.FormatFloat(size, 'e', 2, 64), "e")
	power, _ := strconv.Atoi(exponent)
	label := decimals(v, 2-power)
	if size < .01 { // write 0.001, not 0.00100
		label = strings.TrimRight(label, "0")
	}
	return label
}

// grouped formats a count with spaces between thousands from five digits on, like tables and
// ticks: 1845, 12 000.
func grouped(v float64) string {
	if math.Abs(v) >= 1e15 || math.IsNaN(v) {
		return value(v)
	}
	return spaced(decimals(v, 0))
}

// spaced puts spaces between the thousands of a decimal number, from five digits on.
func spaced(number string) string {
	digits, fraction := number, ""
	if i := strings.IndexByte(number, '.'); i >= 0 {
		digits, fraction = number[:i], number[i:]
	}
	sign := ""
	if strings.HasPrefix(digits, minus) {
		sign, digits = minus, digits[len(minus):]
	}
	if len(digits) < 5 {
		return number
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return sign + digits + fraction
}

// whole formats an x value: a whole number as a count, anything else as a value.
func whole(v float64) string {
	if isWhole(v) {
		return grouped(v)
	}
	return value(v)
}

// isWhole reports whether v is a whole number with at most 15 digits.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1e15 }

// ratio formats a fraction of 1 as a percentage. Only exactly 0 and 1 become 0 and 100 percent.
func ratio(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return value(v)
	case v > 0 && v < .0005:
		return "< 0.1 %"
	case v > .9995 && v < 1:
		return "> 99.9 %"
	}
	return decimals(100*v, 1) + " %"
}

// energy formats joules.
func energy(j float64) string {
	switch {
	case j >= 1e9:
		return value(j/1e9) + " GJ"
	case j >= 1e6:
		return value(j/1e6) + " MJ"
	case j >= 1e3:
		return value(j/1e3) + " kJ"
	}
	return value(j) + " J"
}
