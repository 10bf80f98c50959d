package examine

import (
	"fmt"
	"math"
	"slices"
)

// Batch is a part of the first batch of a training, on the host.
type Batch struct {
	Shape   []int     // of one example
	X       []float64 // the examples one after the other
	Columns []string  // names of the values of an example; nil without
}

// Scales that a layer with usual initial weights still takes.
const (
	largestColumn = 100.  // root mean square of a column of a table
	largestImage  = 20.   // of all values, if these are no columns
	smallest      = 0.001 // of all values
)

// Inputs finds examples whose values are far from 1, and images with the channels last. raw says that a
// layer with weights takes them as they are, image that it is a convolution.
func Inputs(b Batch, raw, image bool) (found []string) {
	if image && channelsLast(b.Shape) {
		h, w, c := b.Shape[0], b.Shape[1], b.Shape[2]
		found = append(found, fmt.Sprintf("the examples have the shape [%d %d %d], which a convolution reads as %d channels of %d×%d pixels: "+
			"images have the channels first, [%d %d %d]; permute them when they are loaded", h, w, c, h, w, c, c, h, w))
	}
	if !raw || len(b.X) == 0 {
		return found
	}
	rms := meanSquare(b.X, 0, 1)
	switch {
	case len(b.Shape) == 1:
		found = append(found, column(b)...)
	case rms > largestImage && slices.Min(b.X) >= 0 && slices.Max(b.X) <= 255:
		found = append(found, fmt.Sprintf("the values of the examples reach from %.3g to %.3g, but layers learn best from values near 1: divide them by 255, for instance with Map(data.Normalize(…))",
			slices.Min(b.X), slices.Max(b.X)))
	case rms > largestImage:
		found = append(found, fmt.Sprintf("the values of the examples are large, %.3g in the root mean square, but layers learn best from values near 1: subtract the mean and divide by the deviation", rms))
	}
	if rms > 0 && rms < smallest {
		found = append(found, fmt.Sprintf("the values of the examples are small, %.3g in the root mean square, but layers learn best from values near 1: divide by the deviation", rms))
	}
	return found
}

// channelsLast reports whether a shape is that of an image whose last dimension has the channels.
func channelsLast(shape []int) bool {
	return len(shape) == 3 && (shape[2] == 1 || shape[2] == 3 || shape[2] == 4 && shape[0] == shape[1]) && shape[0] > 4 && shape[1] > 4
}

// column finds the column of a table with the largest values.
func column(b Batch) []string {
	width := b.Shape[0]
	worst, largest := 0, 0.
	for c := range width {
		if rms := meanSquare(b.X, c, width); rms > largest {
			worst, largest = c, rms
		}
	}
	if largest <= largestColumn {
		return nil
	}
	name := fmt.Sprintf("column %d", worst)
	if worst < len(b.Columns) && b.Columns[worst] != "" {
		name = fmt.Sprintf("column %d, %s,", worst, b.Columns[worst])
	}
	return []string{fmt.Sprintf("the values of %s are large, %.3g in the root mean square, but layers learn best from values near 1: standardize the columns, for instance with package preprocess", name, largest)}
}

// meanSquare returns the root mean square of every step-th value.
func meanSquare(x []float64, from, step int) float64 {
	sum, n := 0., 0
	for i := from; i < len(x); i += step {
		sum += x[i] * x[i]
		n++
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}
