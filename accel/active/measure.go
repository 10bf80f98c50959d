package active

import (
	"fmt"
	"math"
	"strconv"

	"github.com/quernlab/quern/accel/internal/training/seeds"
)

// measure is how curves and comparisons show what they measure: the accuracy, or the error.
type measure struct {
	title, axis string // of the figure
	scale       float64
	low, high   float64 // bounds of the scaled values
	error       bool    // less is better
}

func measureOf(regression bool) measure {
	if regression {
		return measure{"Error by labels", "RMSE", 1, 0, math.Inf(1), true}
	}
	return measure{"Accuracy by labels", "accuracy, %", 100, 0, 100, false}
}

// text formats a value.
func (m measure) text(v float64) string {
	if m.error {
		return fmt.Sprintf("RMSE %.3g", v)
	}
	return percent(v, 1)
}

// withDeviation formats a mean with its deviation over the seeds, NaN for one seed.
func (m measure) withDeviation(mean, deviation float64) string {
	if m.error {
		return seeds.Text("%.3g", "", mean, deviation)
	}
	return seeds.Text("%.1f", " %", 100*mean, 100*deviation)
}

// target formats a target: 82 %, 82.5 %, RMSE 0.4.
func (m measure) target(v float64) string {
	if m.error {
		return "RMSE " + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(v*1e8)/1e6, 'f', -1, 64) + " %"
}

// reaches reports whether a value is at least as good as a target.
func (m measure) reaches(v, target float64) bool {
	if m.error {
		return v <= target*(1+rounding)
	}
	return v >= target-rounding
}

// rounded returns a value as a target that it reaches: an accuracy in whole percent, or an error with
// two digits.
func (m measure) rounded(v float64) float64 {
	if !m.error {
		return math.Floor(100*(v+rounding)) / 100
	}
	if !(v > 0) || math.IsInf(v, 0) {
		return v
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(v)))
	return math.Ceil(v*(1-rounding)*digits) / digits
}
