package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
)

// longest is the number of digits of the longest tick labels. If they would need more, each
// label gives the distance from an offset, which the label of the axis names.
const longest = 6

// offsetOf returns the offset of the tick labels of an axis; 0 for most axes. The offset is a
// multiple of a power of ten.
func offsetOf(lo, hi float64) float64 {
	size, length := max(math.Abs(lo), math.Abs(hi)), hi-lo
	if !(length > 0) || math.IsInf(length, 0) || lo < 0 && hi > 0 || size/length < math.Pow(10, longest-1) {
		return 0
	}
	unit := math.Pow(10, math.Ceil(math.Log10(length)))
	padding := length / 10 // at least the space between the data and the end of an axis
	if lo < 0 {
		return math.Ceil((hi-padding)/unit) * unit
	}
	return math.Floor((lo+padding)/unit) * unit
}

// withOffset adds the offset of the tick labels to the label of an axis.
func withOffset(label string, a plot.Axis) string {
	t, ok := a.Tick.Marker.(linear)
	if !ok || !t.offset {
		return label
	}
	offset := offsetOf(a.Min, a.Max)
	if offset == 0 {
		return label
	}
	digits := fractionDigits(math.Pow(10, math.Ceil(math.Log10(a.Max-a.Min))))
	written := spaced(decimals(offset, digits))
	if digits > 0 {
		written = strings.TrimRight(strings.TrimRight(written, "0"), ".")
	}
	if math.Abs(offset) >= 1e15 || math.Abs(offset) < 1e-3 {
		written = scientific(offset, 15)
	}
	if offset > 0 {
		written = "+" + written
	}
	if label == "" {
		return written
	}
	return label + " (" + written + ")"
}
