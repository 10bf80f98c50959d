// Package quantity formats numbers for texts, tables and figures, each kind of number in one way.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Integer formats a whole number like figures and tables do, with non-breaking spaces between
// thousands from five digits on: 1845, 12 000, 200 960.
func Integer(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	if len(digits) < 5 {
		return sign + digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u00a0" + digits[i:]
	}
	return sign + digits
}

// Bytes formats a number of bytes with three significant digits: 512 B, 1.5 KiB, 20 GiB.
func Bytes(n int) string { return scaled(float64(n), 1024, " B", " KiB", " MiB", " GiB", " TiB") }

// Bandwidth formats bytes per second with three significant digits, in the decimal units of datasheets: 980 MB/s, 25 GB/s.
func Bandwidth(v float64) string {
	return scaled(v, 1000, " B/s", " kB/s", " MB/s", " GB/s", " TB/s")
}

// Unit returns the unit in which a number of bytes has at most three digits before the decimal point, for the axis
// of a figure.
func Unit(most float64) (bytes float64, name string) {
	bytes, name = 1, "bytes"
	for _, next := range [...]string{"KiB", "MiB", "GiB", "TiB"} {
		if most < 1000*bytes {
			break
		}
		bytes, name = bytes*1024, next
	}
	return bytes, name
}

// Plural returns a number of things: 1 step, 2 steps, 2 entries, 2 classes.
func Plural(n int, thing string) string {
	if stem, ok := strings.CutSuffix(thing, "y"); ok && n != 1 {
		thing = stem + "ies"
	} else if strings.HasSuffix(thing, "s") && n != 1 {
		thing += "es"
	} else if n != 1 {
		thing += "s"
	}
	return Integer(n) + " " + thing
}

// Count formats a large number with three significant digits: 512, 1.5 k, 20 M, 3.2 G.
func Count(n int) string { return scaled(float64(n), 1000, "", " k", " M", " G", " T") }

// scaled formats v in the first unit in which it is less than 1000, each of which is step times the one before it.
func scaled(v, step float64, units ...string) string {
	for len(units) > 1 && v >= roundsTo1000 {
		v, units = v/step, units[1:]
	}
	return digits(v) + units[0]
}

// roundsTo1000 is the least number that has four digits when it is rounded to three.
const roundsTo1000 = 999.5

// digits formats a number with three significant digits, and from 1000 on as a whole number.
func digits(v float64) string {
	if v >= roundsTo1000 {
		return Integer(int(math.Round(v)))
	}
	return fmt.Sprintf("%.3g", v)
}

// Seconds formats a time in seconds with three significant digits: 20.5 µs, 3 ms, 1.25 s.
func Seconds(s float64) string {
	switch {
	case s >= roundsTo1000*1e-3:
		return digits(s) + " s"
	case s >= roundsTo1000*1e-6:
		return digits(s*1e3) + " ms"
	}
	return digits(s*1e6) + " µs"
}
