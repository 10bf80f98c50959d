package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// PlattScaling is the probability 1/(1 + e^(A·score + B)); [Platt] returns it.
type PlattScaling struct{ A, B float64 }

// ErrOneClass is returned if all examples are positive, or all negative.
var ErrOneClass = errors.New("there must be positive and negative examples")

// check reports what all functions of scores reject.
func check(call string, scores []float64, positive []bool) error {
	if len(scores) != len(positive) {
		return fmt.Errorf("calibrate: %s: %d scores, but %d labels", call, len(scores), len(positive))
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("calibrate: %s: score %d is %v", call, i, s)
		}
	}
	if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
		return fmt.Errorf("calibrate: %s: %w", call, ErrOneClass)
	}
	return nil
}

// Platt fits a sigmoid to scores, such as logits, by the likelihood of slightly softened labels, which few
// examples do not drive to 0 and 1 (Platt, 1999; Newton's method of Lin, Lin and Weng, A Note on Platt's
// Probabilistic Outputs, 2007). positive has the same length.
func Platt(scores []float64, positive []bool) (PlattScaling, error) {
	if err := check("Platt", scores, positive); err != nil {
		return PlattScaling{}, err
	}
	yes := 0
	for _, p := range positive {
		if p {
			yes++
		}
	}
	no := len(positive) - yes
	high, low := (float64(yes)+1)/(float64(yes)+2), 1/(float64(no)+2)
	scale := 0. // so that the steps do not depend on the unit of the scores
	for _, s := range scores {
		scale = max(scale, math.Abs(s))
	}
	scale = max(scale, math.SmallestNonzeroFloat64)
	f := plattFit{target: make([]float64, len(scores)), x: make([]float64, len(scores))}
	for i, p := range positive {
		f.x[i], f.target[i] = scores[i]/scale, low
		if p {
			f.target[i] = high
		}
	}
	a, b := f.minimum(0, math.Log((float64(no)+1)/(float64(yes)+1)))
	return PlattScaling{a / scale, b}, nil
}

// Probability returns the probability that an example with this score is positive.
func (p PlattScaling) Probability(score float64) float64 {
	z := p.A*score + p.B
	if z >= 0 {
		return math.Exp(-z) / (1 + math.Exp(-z))
	}
	return 1 / (1 + math.Exp(z))
}

// plattFit is the likelihood of a sigmoid.
type plattFit struct{ x, target []float64 }

// value returns the negative logarithm of the likelihood.
func (f plattFit) value(a, b float64) (sum float64) {
	for i, x := range f.x {
		z := a*x + b
		sum += f.target[i]*z + max(-z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum
}

// minimum returns the parameters with the highest likelihood, by Newton's method with backtracking.
func (f plattFit) minimum(a, b float64) (float64, float64) {
	const ridge, least, tolerance = 1e-12, 1e-10, 1e-10
	value := f.value(a, b)
	for range 100 {
		haa, hbb, hab, ga, gb := ridge, ridge, 0., 0., 0.
		for i, x := range f.x {
			p := PlattScaling{a, b}.Probability(x)
			w, d := p*(1-p), f.target[i]-p
			haa, hbb, hab, ga, gb = haa+w*x*x, hbb+w, hab+w*x, ga+d*x, gb+d
		}
		if math.Abs(ga) < tolerance && math.Abs(gb) < tolerance {
			break
		}
		det := haa*hbb - hab*hab
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		slope := ga*da + gb*db
		step := 1.
		for ; step >= least; step /= 2 {
			if next := f.value(a+step*da, b+step*db); next < value+1e-4*step*slope {
				a, b, value = a+step*da, b+step*db, next
				break
			}
		}
		if step < least {
			break
		}
	}
	return a, b
}

// IsotonicRegression is a rising function through points, linear between them; [Isotonic] returns it.
type IsotonicRegression struct {
	Scores        []float64 // rising
	Probabilities []float64 // rising, of the same length
}

// Isotonic fits the rising function with the least squared error to labels 0 and 1 by their scores, by pooling
// adjacent violators (Zadrozny and Elkan, 2002). Equal scores have one probability, the mean of their labels.
func Isotonic(scores []float64, positive []bool) (*IsotonicRegression, error) {
	if err := check("Isotonic", scores, positive); err != nil {
		return nil, err
	}
	type block struct{ low, high, mean, weight float64 }
	var blocks []block
	for _, g := range groups(scores, positive) {
		blocks = append(blocks, block{g.score, g.score, float64(g.yes) / float64(g.yes+g.no), float64(g.yes + g.no)})
		for n := len(blocks); n > 1 && blocks[n-2].mean >= blocks[n-1].mean; n = len(blocks) {
			a, b := blocks[n-2], blocks[n-1]
			weight := a.weight + b.weight
			blocks = append(blocks[:n-2], block{a.low, b.high, (a.mean*a.weight + b.mean*b.weight) / weight, weight})
		}
	}
	r := &IsotonicRegression{}
	for _, b := range blocks {
		r.Scores, r.Probabilities = append(r.Scores, b.low), append(r.Probabilities, b.mean)
		if b.high > b.low {
			r.Scores, r.Probabilities = append(r.Scores, b.high), append(r.Probabilities, b.mean)
		}
	}
	return r, nil
}

// Probability returns the probability that an example with this score is positive: that of the nearest known
// score below the lowest and above the highest one, and NaN for NaN.
func (r *IsotonicRegression) Probability(score float64) float64 {
	n := len(r.Scores)
	i := sort.SearchFloat64s(r.Scores, score)
	switch {
	case math.IsNaN(score):
		return score
	case i == n:
		return r.Probabilities[n-1]
	case i == 0 || r.Scores[i] == score:
		return r.Probabilities[i]
	}
	share := (score - r.Scores[i-1]) / (r.Scores[i] - r.Scores[i-1])
	return r.Probabilities[i-1] + share*(r.Probabilities[i]-r.Probabilities[i-1])
}

// group are the examples with one score.
type group struct {
	score   float64
	yes, no int
}

// groups returns the scores in ascending order, each once.
func groups(scores []float64, positive []bool) (all []group) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	for _, i := range order {
		if n := len(all); n == 0 || all[n-1].score != scores[i] {
			all = append(all, group{score: scores[i]})
		}
		g := &all[len(all)-1]
		if positive[i] {
			g.yes++
		} else {
			g.no++
		}
	}
	return all
}
