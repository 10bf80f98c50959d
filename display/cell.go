package display

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quernlab/quern/internal/quantity"
	"github.com/quernlab/quern/internal/tableview"
)

// cellOf returns a value as a cell of a table.
func cellOf(n node) tableview.Cell {
	c := tableview.Cell{Text: cellText(n), Missing: n.kind() == reflect.Invalid || n.kind() == reflect.Pointer && n.value.IsNil()}
	c.Key, c.Unit = sortKey(n, c.Text)
	return c
}

func cellText(n node) string {
	if n.kind() == reflect.Invalid {
		return ""
	}
	if to, ok := n.target(); ok && !n.hasText() && !composite(to.kind()) {
		n = to
	}
	if text, ok := n.raw(); ok {
		return cut(text, 4*cellWidth)
	}
	budget := 4 * cellWidth
	if !n.hasText() && n.kind() != reflect.String && !small(n, &budget, 0) {
		return typeName(n.typ()) + fmt.Sprintf(" (%s)", size(n))
	}
	if n.kind() == reflect.String && !n.hasText() {
		return cut(n.value.String(), 4*cellWidth)
	}
	return cut(n.line(), 4*cellWidth)
}

func size(n node) string {
	switch n.kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return quantity.Plural(n.value.Len(), "element")
	case reflect.Struct:
		return quantity.Plural(n.value.NumField(), "field")
	}
	return "large"
}

// number reports whether a value is a number without a text of its own.
func number(n node) bool {
	k := n.kind()
	return k >= reflect.Int && k <= reflect.Complex128 && k != reflect.Uintptr && !n.hasText()
}

// sortKey returns the number by which a value is sorted, and its unit; "" if it is sorted by its text.
func sortKey(n node, text string) (key, unit string) {
	if to, ok := n.target(); ok {
		n = to
	}
	if v, ok := n.shown.(time.Time); ok {
		return tableview.TimeKey(v), "time"
	}
	if n.hasText() {
		unit = n.typ().String()
	}
	switch k := n.kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		return strconv.FormatInt(n.value.Int(), 10), unit
	case k >= reflect.Uint && k <= reflect.Uint64:
		return strconv.FormatUint(n.value.Uint(), 10), unit
	case k == reflect.Float32 || k == reflect.Float64:
		return tableview.FloatKey(n.value.Float(), text), unit
	case k == reflect.String && unit == "":
		return quantityKey(text)
	}
	return "", ""
}

// numeric matches a number with an optional deviation and unit, "8.06 ms", "63.5 ± 9.1 %", or what stands for a number that is missing.
var numeric = regexp.MustCompile(`^(?:([-−+]?\d+(?:[., \x{a0}\x{202f}]\d+)*(?:e[-−+]?\d+)?)(?: ?± ?\d[\d.]*(?:e[-−+]?\d+)?)?(?: ?(%|×|[\pL/]{1,8}))?|–|NaN|[+-]Inf)$`)

func isQuantity(text string) bool { return numeric.MatchString(text) }

// scales has the units that differ by a factor.
var scales = map[string]struct {
	factor float64
	of     string
}{
	"": {1, ""}, "k": {1e3, ""}, "M": {1e6, ""}, "G": {1e9, ""}, "T": {1e12, ""},
	"ns": {1e-9, "s"}, "µs": {1e-6, "s"}, "μs": {1e-6, "s"}, "us": {1e-6, "s"}, "ms": {1e-3, "s"}, "s": {1, "s"}, "min": {60, "s"}, "h": {3600, "s"},
	"B": {1, "B"}, "kB": {1e3, "B"}, "MB": {1e6, "B"}, "GB": {1e9, "B"}, "TB": {1e12, "B"},
	"KiB": {1 << 10, "B"}, "MiB": {1 << 20, "B"}, "GiB": {1 << 30, "B"}, "TiB": {1 << 40, "B"},
}

var plainDigits = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "−", "-")

// quantityKey returns the number that a text begins with, in a unit that it has in common with others.
func quantityKey(text string) (key, unit string) {
	m := numeric.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	v, err := strconv.ParseFloat(plainDigits.Replace(m[1]), 64)
	if err != nil { // also of a comma, which may be for decimals or for thousands
		return "", ""
	}
	unit = m[2]
	if s, ok := scales[unit]; ok {
		v, unit = v*s.factor, s.of
	}
	return strconv.FormatFloat(v, 'g', -1, 64), unit
}
