package display

import (
	"fmt"
	"reflect"
	"strconv"
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
		return tableview.QuantityKey(text)
	}
	return "", ""
}
