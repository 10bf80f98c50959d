package examine

import (
	"fmt"
	"math"
)

// Outputs finds predictions [N, C] that do not fit the classes: of more classes than there are, or
// probabilities where a loss expects logits. values are some rows; known
// says that probabilities are known to be there; logits reports whether the loss is one of logits, and is only
// called if the answer matters.
func Outputs(values []float64, width, classes int, known bool, logits func() bool) (found []string) {
	if width > classes && classes > 0 && logits() { // not embeddings
		found = append(found, fmt.Sprintf("the model has %d outputs for %s: the last layer needs one for each class", width, plural(classes, "class", "classes")))
	}
	if !known && width > 1 && sumToOne(values, width) && logits() {
		found = append(found, Probabilities("Softmax"))
	}
	return found
}

// Probabilities is the finding of a function at the end of a model which the loss computes itself.
func Probabilities(function string) string {
	loss := map[string]string{"Softmax": "CrossEntropy", "Sigmoid": "BCEWithLogits"}[function]
	return fmt.Sprintf("the predictions are probabilities, but the loss takes logits and computes the %s itself, as %s does: twice, it learns slowly; remove the %s at the end of the model", lower[function], loss, function)
}

var lower = map[string]string{"Softmax": "softmax", "Sigmoid": "sigmoid"}

// sumToOne reports whether all rows are distributions.
func sumToOne(values []float64, width int) bool {
	for at := 0; at+width <= len(values); at += width {
		sum := 0.
		for _, v := range values[at : at+width] {
			if !(v >= 0) {
				return false
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-3 {
			return false
		}
	}
	return len(values) >= width
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
