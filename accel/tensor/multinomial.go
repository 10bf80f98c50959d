package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Multinomial draws n indices from weights [C] or from each row of weights [N, C], each with a probability in
// proportion to its weight: int32 [n] or [N, n], torch's multinomial. Without replacement, an index is drawn at most
// once, so a row needs n weights that are not 0. Weights are finite, not negative and not all 0. It runs
// the recorded ops, because it reads the weights. A nil generator means the default one.
func Multinomial(g *Generator, weights *Tensor, n int, replacement bool) *Tensor {
	shape := weights.Shape()
	rank := len(shape)
	fails := func(format string, args ...any) {
		panic(&ShapeError{Op: "Multinomial", Shapes: [][]int{shape}, Hint: fmt.Sprintf(format, args...)})
	}
	if rank != 1 && rank != 2 {
		fails("the weights must have one or two dimensions")
	}
	if d := weights.DType(); !d.IsFloat() {
		panic(&DTypeError{Op: "Multinomial", DTypes: []DType{d}, Hint: "the weights must be floats; convert with Cast(tensor.Float32)"})
	}
	classes := shape[rank-1]
	if n < 1 {
		fails("%d indices cannot be drawn", n)
	}
	if !replacement && n > classes {
		fails("%d indices cannot be drawn from %d without replacement", n, classes)
	}
	to := append(slices.Clone(shape[:rank-1]), n)
	data, all := hostBuffer[int32]("Multinomial", Int32, to), weights.Float64s()
	draw := g.orDefault().drawOnce
	if replacement {
		draw = g.orDefault().drawAgain
	}
	for row := range len(data) / n {
		if hint := draw(data[row*n:(row+1)*n], all[row*classes:(row+1)*classes]); hint != "" {
			fails("row %d: %s", row, hint)
		}
	}
	return fromHost("Multinomial", data, Int32, to)
}

// drawAgain draws indices with replacement, by inverting the distribution function. It returns what is wrong
// with the weights, or "".
func (g *Generator) drawAgain(data []int32, weights []float64) string {
	positive, hint := positiveWeights(weights, 1)
	if hint != "" {
		return hint
	}
	largest := weights[positive[0]]
	for _, i := range positive {
		largest = max(largest, weights[i])
	}
	upTo, total := make([]float64, len(positive)), 0.0
	for k, i := range positive {
		total += weights[i] / largest // the sum of the weights may overflow
		upTo[k] = total
	}
	for i := range data {
		u := g.Float64() * total
		k := sort.Search(len(upTo)-1, func(k int) bool { return upTo[k] > u })
		data[i] = int32(positive[k])
	}
	return ""
}

// drawOnce draws indices without replacement: those with the smallest exponential variables of their weights as
// rates come first (Efraimidis and Spirakis, 2006).
func (g *Generator) drawOnce(data []int32, weights []float64) string {
	positive, hint := positiveWeights(weights, len(data))
	if hint != "" {
		return hint
	}
	arrival := make([]float64, len(weights))
	for _, i := range positive {
		arrival[i] = math.Log(-math.Log1p(-g.Float64())) - math.Log(weights[i]) // the logarithm does not overflow
	}
	slices.SortStableFunc(positive, func(i, j int) int { return cmp.Compare(arrival[i], arrival[j]) })
	for i := range data {
		data[i] = int32(positive[i])
	}
	return ""
}

// positiveWeights returns the indices of the weights that are not 0, or what is wrong if there are fewer than n, or
// if a weight is none.
func positiveWeights(weights []float64, n int) (positive []int, hint string) {
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Sprintf("weight %d is %v; weights must be finite and not negative", i, w)
		}
		if w > 0 {
			positive = append(positive, i)
		}
	}
	if len(positive) < n {
		return nil, fmt.Sprintf("%d weights are not 0, there must be at least %d", len(positive), n)
	}
	return positive, ""
}
