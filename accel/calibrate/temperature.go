package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Temperature returns the number T by which the logits of a classifier are divided before the softmax, so that
// the classes have the highest likelihood (Guo et al., On Calibration of Modern Neural Networks, 2017). It is above 1
// for a model that is too sure. logits has a row for each example, classes the index of its class. T is between
// 0.01 and 100.
func Temperature(logits [][]float64, classes []int) (float64, error) {
	if len(logits) != len(classes) {
		return 0, fmt.Errorf("calibrate: Temperature: logits of %d examples, but %d classes", len(logits), len(classes))
	}
	if len(logits) == 0 {
		return 0, errors.New("calibrate: Temperature: there are no examples")
	}
	for i, row := range logits {
		if len(row) != len(logits[0]) {
			return 0, fmt.Errorf("calibrate: Temperature: example %d has %d logits, but example 0 has %d", i, len(row), len(logits[0]))
		}
		if classes[i] < 0 || classes[i] >= len(row) {
			return 0, fmt.Errorf("calibrate: Temperature: the class of example %d is %d, but there are %d logits", i, classes[i], len(row))
		}
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("calibrate: Temperature: a logit of example %d is %v", i, v)
			}
		}
	}
	if slope(logits, classes, 1) == 0 { // equal logits, for instance, for which all temperatures are as good
		return 1, nil
	}
	// The likelihood is concave in 1/T, so its slope has one zero. Far above that it may underflow to 0.
	low, high := 0.01, 100.
	for range 200 {
		middle := math.Sqrt(low * high)
		if slope(logits, classes, middle) >= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return 1 / math.Sqrt(low*high), nil
}

// slope returns the derivative of the log-likelihood with respect to b, by which logits are multiplied: the
// sum of the logit of the class minus the mean logit.
func slope(logits [][]float64, classes []int, b float64) (sum float64) {
	for i, row := range logits {
		top := slices.Max(row)
		total, mean := 0., 0.
		for _, v := range row {
			w := math.Exp(b * (v - top))
			total, mean = total+w, mean+w*v
		}
		sum += row[classes[i]] - mean/total
	}
	return sum
}
