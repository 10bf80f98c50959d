package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Percent formats a share from 0 to 1.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Number formats v with four significant digits and keeps trailing zeros, so that the decimal
// points of a column align: 0.3400, not 0.34.
func Number(v float64) string {
	text := fmt.Sprintf("%.4g", v)
	if size := math.Abs(v); size >= 1e-3 && size < 1000 && !strings.Contains(text, "e") {
		text = strings.TrimSuffix(fmt.Sprintf("%#.4g", v), ".")
	}
	return text
}

// Elapsed formats how long something took, at least in tenths of a second or whole milliseconds: 12 ms, 83.1 s.
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return "0 s"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", 1e3*d.Seconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Rate formats a rate with few digits, one below 100 with three, so that that of a slow model is not 0.
func Rate(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 1e4:
		return Integer(int(math.Round(v/100)) * 100)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	}
	return digits(v)
}

// LearningRate formats a learning rate like the axes of figures: 0.01, 5.72e−4.
func LearningRate(v float64) string {
	text := fmt.Sprintf("%.3g", v)
	if v > 0 && v < 1e-3 {
		text = strconv.FormatFloat(v, 'e', 2, 64)
	}
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok {
		if n, err := strconv.Atoi(exponent); err == nil {
			if strings.Contains(mantissa, ".") {
				mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
			}
			text = mantissa + "e" + strconv.Itoa(n)
		}
	}
	return strings.ReplaceAll(text, "-", "−")
}
