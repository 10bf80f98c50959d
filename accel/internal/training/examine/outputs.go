package examine

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/quernlab/quern/internal/quantity"
)

// Outputs are some predictions [N, Width].
type Outputs struct {
	Values  []float64
	Width   int
	Classes int  // for which the loss takes a score each; 0 for other losses
	Logits  bool // the loss takes logits
	Logs    bool // the loss takes logarithms of probabilities
}

// Find finds predictions that do not fit the classes or the loss.
func (o Outputs) Find() (found []string) {
	if o.Logits && o.Width > o.Classes && o.Classes > 0 {
		found = append(found, fmt.Sprintf("the model has %d outputs for %s: the last layer needs one for each class", o.Width, quantity.Plural(o.Classes, "class")))
	}
	if o.Logits && o.Width > 1 && o.each(func(row []float64) bool { return math.Abs(floats.Sum(row)-1) < 1e-3 && !negative(row) }) {
		found = append(found, ends("Softmax", o.Width))
	}
	if o.Logs && o.Width > 1 && !o.each(func(row []float64) bool { return math.Abs(floats.LogSumExp(row)) < 1e-2 }) {
		found = append(found, "the loss takes logarithms of probabilities, but the predictions are none: end the model with nn.LogSoftmax(-1), or use nn.CrossEntropy, which takes logits")
	}
	return found
}

// each reports whether all rows fulfill a condition.
func (o Outputs) each(is func(row []float64) bool) bool {
	for at := 0; at+o.Width <= len(o.Values); at += o.Width {
		if !is(o.Values[at : at+o.Width]) {
			return false
		}
	}
	return len(o.Values) >= o.Width
}

func negative(row []float64) bool {
	for _, v := range row {
		if !(v >= 0) {
			return true
		}
	}
	return false
}
