package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// LeastConfident selects the examples whose most likely class has the lowest probability: the
// highest 1 - max p (Lewis and Gale, A Sequential Algorithm for Training Text Classifiers,
// 1994).
func LeastConfident() Strategy {
	return Func("least confident", leastConfident)
}

// Func returns a strategy with a custom score: a function of the class probabilities of one
// example, higher for examples that should be labeled first. A score that is not finite is a
// [*NotFiniteError].
func Func(name string, measure func(p []float64) float64) Strategy {
	return strategy{name, func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		if measure == nil {
			return nil, fmt.Errorf("active: Func(%q): the function is nil", name)
		}
		probabilities, err := c.Probabilities(ctx)
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(probabilities))
		for i, p := range probabilities {
			scores[i] = measure(p)
		}
		return c.Top(scores, n)
	}}
}

func leastConfident(p []float64) float64 { return 1 - slices.Max(p) }

// Margin selects the examples whose two most likely classes are closest: the lowest p₁ - p₂
// (Scheffer and others, Active Hidden Markov Models for Information Extraction, 2001). In
// comparisons over many data sets it is hard to beat (Bahri and others, Is Margin All You
// Need?, 2022).
func Margin() Strategy { return Func("margin", margin) }

func margin(p []float64) float64 {
	first, second := twoHighest(p)
	return p[second] - p[first]
}

// twoHighest returns the indices of the highest and the second-highest value; p has at least
// two.
func twoHighest(p []float64) (first, second int) {
	first, second = 0, 1
	if p[second] > p[first] {
		first, second = second, first
	}
	for k := 2; k < len(p); k++ {
		switch {
		case p[k] > p[first]:
			first, second = k, first
		case p[k] > p[second]:
			second = k
		}
	}
	return first, second
}

// Entropy selects the examples with the highest entropy, -Σ p ln p (Shannon, 1948; for active
// learning Dagan and Engelson, 1995). With many classes it prefers examples between many of
// them; with few labels it can be worse than random.
func Entropy() Strategy { return Func("entropy", stat.Entropy) }

// Random selects at random. It is the baseline for other strategies.
func Random() Strategy {
	return strategy{"random", func(_ context.Context, c *Candidates, n int) ([]int, error) { return c.random.Perm(c.Len())[:n], nil }}
}

// Limits of [ExpectedError] for large pools.
const (
	defaultErrorCandidates = 50
	maxErrorPool           = 1000
)

// ExpectedError selects the examples whose labels are expected to reduce the error of the model
// most. For each candidate and each possible class it retrains the last layer with that label
// and computes the expected error on the pool, Σ 1 - max p; these are averaged over the classes
// by their probabilities (Roy and McCallum, Toward Optimal Active Learning through Sampling
// Estimation of Error Reduction, 2001).
//
// The last layer is a logistic regression on the features with the penalty ½‖w‖², trained to
// its optimum; the layers before it are fixed. Features are the result of the function, or the
// input of the last layer of an nn.Sequential.
//
// It is exact for pools with at most the given number of candidates (0 means 50). From larger
// pools it draws that many candidates, and computes the error on at most 1000 examples. Its
// time is one training per candidate and class.
func ExpectedError(candidates int, features ...Features) Strategy {
	return strategy{"expected error", func(ctx context.Context, c *Candidates, n int) ([]int, error) {
		return expectedError(ctx, c, cmp.Or(candidates, defaultErrorCandidates), features, n)
	}}
}

func expectedError(ctx context.Context, c *Candidates, candidates int, given []Features, n int) ([]int, error) {
	if candidates < 0 {
		return nil, fmt.Errorf("active: expected error: the number of candidates must be at least 0, got %d", candidates)
	}
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	features, labeled, err := c.features(ctx, given)
	if err != nil {
		return nil, err
	}
	rows := toFloat64(features)
	head := newRegression(toFloat64(labeled), c.pool)
	if err := head.fit(); err != nil {
		return nil, err
	}
	order := c.random.Perm(len(rows)) // also breaks ties
	tried := order[:min(len(order), max(candidates, n))]
	pool := order[:min(len(order), max(maxErrorPool, len(tried)))]
	errorsOf := make([]float64, len(tried))
	failed := make([]error, len(tried))
	inParts(len(tried), func(from, to int) {
		for k := from; k < to; k++ {
			if failed[k] = ctx.Err(); failed[k] == nil {
				errorsOf[k], failed[k] = head.expected(rows, tried[k], pool)
			}
		}
	})
	if err := errors.Join(failed...); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	best := make([]int, len(tried))
	for k := range best {
		best[k] = k
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(errorsOf[a], errorsOf[b]) })
	chosen := make([]int, n)
	for k := range chosen {
		chosen[k] = tried[best[k]]
	}
	return chosen, nil
}

// regression is a logistic regression: weights and a bias for each class with labeled
// examples.
type regression struct {
	rows    [][]float64
	labels  []int // renumbered from 0 over the classes with labels
	classes int
	width   int       // number of features
	weights []float64 // [class][width+1], the bias last
}

// newRegression returns an untrained regression on the labeled examples of a pool.
func newRegression(rows [][]float64, p *Pool) *regression {
	seen := map[int]int{}
	for class := range p.set.Classes() {
		for _, i := range p.order {
			if p.labels[i] == class {
				seen[class] = len(seen)
				break
			}
		}
	}
	r := &regression{rows: rows, classes: len(seen), width: len(rows[0])}
	for _, i := range p.order {
		r.labels = append(r.labels, seen[p.labels[i]])
	}
	r.weights = make([]float64, r.classes*(r.width+1))
	return r
}

// gradientTolerance is the convergence criterion: the largest element of the gradient of the
// sum over all examples.
const gradientTolerance = 1e-5

// toFloat64 converts rows to float64.
func toFloat64(rows [][]float32) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = make([]float64, len(row))
		for d, v := range row {
			out[i][d] = float64(v)
		}
	}
	return out
}

// fit trains the weights to the optimum, starting from their current values.
func (r *regression) fit() error {
	at, gradient := make([]float64, len(r.weights)), make([]float64, len(r.weights))
	value := r.loss(r.weights, gradient)
	copy(at, r.weights)
	evaluate := func(w []float64) { // loss and gradient are requested at the same point
		if !slices.Equal(w, at) {
			value = r.loss(w, gradient)
			copy(at, w)
		}
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { evaluate(w); return value },
		Grad: func(g, w []float64) { evaluate(w); copy(g, gradient) },
	}
	settings := &optimize.Settings{GradientThreshold: gradientTolerance, Converger: &optimize.FunctionConverge{Relative: 1e-9, Iterations: 5}}
	result, err := optimize.Minimize(problem, r.weights, settings, &optimize.LBFGS{})
	if result == nil || math.IsNaN(result.F) || math.IsInf(result.F, 0) {
		return fmt.Errorf("active: cannot train the last layer: %w", errors.Join(err, errors.New("the features are too large")))
	}
	// A line search that cannot improve at machine precision has reached the optimum.
	r.weights = result.X
	return nil
}

// loss returns the sum over the examples of -ln p of the label, plus ½‖w‖² without the biases.
// It also stores the gradient if requested.
func (r *regression) loss(w, gradient []float64) float64 {
	clear(gradient)
	total := 0.0
	p := make([]float64, r.classes)
	for i, row := range r.rows {
		r.logits(p, w, row)
		total -= p[r.labels[i]]
		total += normalize(p)
		if gradient == nil {
			continue
		}
		p[r.labels[i]]--
		for k, e := range p {
			g := gradient[k*(r.width+1) : (k+1)*(r.width+1)]
			floats.AddScaled(g[:r.width], e, row)
			g[r.width] += e
		}
	}
	for k := range r.classes {
		for d := range r.width {
			at := k*(r.width+1) + d
			total += w[at] * w[at] / 2
			if gradient != nil {
				gradient[at] += w[at]
			}
		}
	}
	return total
}

func (r *regression) logits(dst, w, row []float64) {
	for k := range dst {
		weights := w[k*(r.width+1) : (k+1)*(r.width+1)]
		dst[k] = weights[r.width] + floats.Dot(weights[:r.width], row)
	}
}

// normalize converts logits to probabilities and returns the log-sum-exp.
func normalize(p []float64) (logSum float64) {
	largest := slices.Max(p)
	total := 0.0
	for k, v := range p {
		p[k] = math.Exp(v - largest)
		total += p[k]
	}
	for k := range p {
		p[k] /= total
	}
	return largest + math.Log(total)
}

// expected returns the expected error on the rest of the pool after labeling candidate i.
func (r *regression) expected(rows [][]float64, i int, pool []int) (float64, error) {
	likely := make([]float64, r.classes)
	r.logits(likely, r.weights, rows[i])
	normalize(likely)
	total := 0.0
	p := make([]float64, r.classes)
	for class, share := range likely {
		next := *r
		next.rows = append(r.rows[:len(r.rows):len(r.rows)], rows[i])
		next.labels = append(r.labels[:len(r.labels):len(r.labels)], class)
		next.weights = slices.Clone(r.weights)
		if err := next.fit(); err != nil {
			return 0, err
		}
		for _, j := range pool {
			if j == i {
				continue
			}
			next.logits(p, next.weights, rows[j])
			normalize(p)
			total += share * (1 - slices.Max(p))
		}
	}
	return total, nil
}
