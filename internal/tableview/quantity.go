package tableview

import (
	"regexp"
	"strconv"
	"strings"
)

// numeric matches a number with an optional deviation and unit, "8.06 ms", "63.5 ± 9.1 %", or what stands for a number that is missing.
var numeric = regexp.MustCompile(`^(?:([-−+]?\d+(?:[., \x{a0}\x{202f}]\d+)*(?:e[-−+]?\d+)?)(?: ?± ?\d[\d.]*(?:e[-−+]?\d+)?)?(?: ?(%|×|[\pL/]{1,8}))?|–|NaN|[+-]Inf)$`)

// IsQuantity reports whether a text is a number, with a unit or without, or stands for one that is missing.
func IsQuantity(text string) bool { return numeric.MatchString(text) }

// scales has the units that differ by a factor.
var scales = map[string]struct {
	factor float64
	of     string
}{
	"": {1, ""}, "k": {1e3, ""}, "M": {1e6, ""}, "G": {1e9, ""}, "T": {1e12, ""},
	"ns": {1e-9, "s"}, "µs": {1e-6, "s"}, "μs": {1e-6, "s"}, "us": {1e-6, "s"}, "ms": {1e-3, "s"}, "s": {1, "s"},
	"min": {60, "s"}, "h": {3600, "s"}, "d": {86400, "s"},
	"B": {1, "B"}, "byte": {1, "B"}, "bytes": {1, "B"},
	"kB": {1e3, "B"}, "KB": {1e3, "B"}, "MB": {1e6, "B"}, "GB": {1e9, "B"}, "TB": {1e12, "B"}, "PB": {1e15, "B"},
	"KiB": {1 << 10, "B"}, "MiB": {1 << 20, "B"}, "GiB": {1 << 30, "B"}, "TiB": {1 << 40, "B"}, "PiB": {1 << 50, "B"},
}

var (
	plainDigits = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "−", "-")

	// thousands matches numbers whose commas separate groups of three digits. Other commas may be for decimals.
	thousands = regexp.MustCompile(`^[-−+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`)
)

// QuantityKey returns the number that a text begins with, in a unit that it has in common with others, so that "9 kB" is less
// than "1,234 MB"; "" if the text is no quantity, or one that could be read in two ways, such as "1,5".
func QuantityKey(text string) (key, unit string) {
	m := numeric.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	digits := m[1]
	if thousands.MatchString(digits) {
		digits = strings.ReplaceAll(digits, ",", "")
	}
	v, err := strconv.ParseFloat(plainDigits.Replace(digits), 64)
	if err != nil {
		return "", ""
	}
	unit = m[2]
	if s, ok := scales[unit]; ok {
		v, unit = v*s.factor, s.of
	}
	return strconv.FormatFloat(v, 'g', -1, 64), unit
}
