package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// process is a Gaussian process with observations: y(x) = mean + f(x) + noise. The covariance of f is
// variance·k(r) with Matérn's k(r) = (1 + √5r + 5r²/3)·exp(-√5r) and r² = Σ δ(x, x′)/length², one length for
// each setting (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation 4.17 and section 5.1).
//
// δ is the squared difference of two numbers. For choices it is 1 if they differ, which is the squared distance
// of one-hot vectors, divided by 2.
type process struct {
	choices        []bool      // which settings are choices
	x              [][]float64 // [observation][setting]
	y              []float64
	length         []float64 // of each setting
	noise          float64   // variance of the noise, relative to that of f
	mean, variance float64
	chol           mat.Cholesky // of k + noise·I
	alpha          []float64    // (k + noise·I)⁻¹(y - mean)
}

const (
	jitter        = 1e-8 // smallest noise: keeps the matrix positive definite
	usualNoise    = 1e-4 // center of its prior
	fitIterations = 25   // of L-BFGS; the hyperparameters then hardly change any more
)

func (p *process) delta(j int, a, b []float64) float64 {
	switch d := a[j] - b[j]; {
	case !p.choices[j]:
		return d * d
	case d != 0:
		return 1
	}
	return 0
}

// matern returns k(r) and -2·dk/d(r²).
func matern(squared float64) (k, slope float64) {
	r := math.Sqrt(5 * squared)
	e := math.Exp(-r)
	return (1 + r + r*r/3) * e, 5. / 3 * (1 + r) * e
}

// fit maximizes the marginal likelihood of the observations, times weak priors, over the lengths and the noise. The
// mean and the variance that maximize it follow from these (Jones, Schonlau and Welch, Efficient Global Optimization,
// 1998, equations 5 and 6).
//
// The prior of the lengths is log-normal and grows with the number of settings (Hvarfner, Hellsten and Nardi, Vanilla
// Bayesian Optimization Performs Great in High Dimensions, 2024); that of the noise is log-normal around
// usualNoise. It returns false if no maximum was found, in which case the process has no prediction.
func (p *process) fit() bool {
	deltas := p.deltas()
	var at, gradient []float64
	value := math.Inf(1)
	evaluate := func(logs []float64) {
		if !slices.Equal(at, logs) { // the value and the gradient are requested at the same point
			at = slices.Clone(logs)
			value, gradient = p.posterior(logs, deltas)
		}
	}
	problem := optimize.Problem{
		Func: func(logs []float64) float64 { evaluate(logs); return value },
		Grad: func(g, logs []float64) { evaluate(logs); copy(g, gradient) },
	}
	settings := &optimize.Settings{
		MajorIterations: fitIterations, FuncEvaluations: 2 * fitIterations,
		Converger: &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 2},
	}
	start := append(slices.Repeat([]float64{math.Log(.5)}, len(p.choices)), math.Log(usualNoise))
	// A line search that cannot improve the value is an error of Minimize, but its best point is as good as any.
	result, _ := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if result == nil || !finite(result.F) {
		return false
	}
	evaluate(result.X)
	return true
}

// deltas returns δ of each two observations, as [setting][observation·n + earlier observation].
func (p *process) deltas() [][]float64 {
	n, deltas := len(p.x), make([][]float64, len(p.choices))
	for j := range deltas {
		deltas[j] = make([]float64, n*n)
		for a := range p.x {
			for b := range a {
				deltas[j][a*n+b] = p.delta(j, p.x[a], p.x[b])
			}
		}
	}
	return deltas
}

// posterior sets the hyperparameters, given as logarithms, and returns the negative logarithm of the likelihood times the
// priors, up to a constant, with its gradient.
func (p *process) posterior(logs []float64, deltas [][]float64) (value float64, gradient []float64) {
	value, gradient = p.likelihood(logs, deltas)
	width := len(p.choices)
	for i, log := range logs {
		mean, spread := math.Sqrt2+math.Log(float64(width))/2, math.Sqrt(3)
		if i == width {
			mean, spread = math.Log(usualNoise), 3
		}
		z := (log - mean) / spread
		value += z * z / 2
		gradient[i] += z / spread
	}
	return value, gradient
}

// likelihood sets the hyperparameters, given as logarithms, and returns the negative logarithm of the marginal
// likelihood, up to a constant, with its gradient. The value is infinite if the covariance is not positive definite.
func (p *process) likelihood(logs []float64, deltas [][]float64) (value float64, gradient []float64) {
	n, width := len(p.x), len(p.choices)
	gradient = make([]float64, len(logs))
	p.length = make([]float64, width)
	for j := range p.length {
		p.length[j] = math.Exp(logs[j])
	}
	p.noise = jitter + math.Exp(logs[width])
	k, slopes := p.covariance(deltas)
	var inverse mat.SymDense
	if !p.chol.Factorize(k) {
		return math.Inf(1), gradient
	}
	// The only error of InverseTo and SolveVecTo is a warning about the condition of the matrix.
	_ = p.chol.InverseTo(&inverse)
	p.condition()
	for a := range n {
		for b := range a {
			common := (inverse.At(a, b) - p.alpha[a]*p.alpha[b]/p.variance) * slopes[a*n+b]
			for j, length := range p.length {
				gradient[j] += common * deltas[j][a*n+b] / (length * length)
			}
		}
		gradient[width] += (inverse.At(a, a) - p.alpha[a]*p.alpha[a]/p.variance) / 2 * (p.noise - jitter)
	}
	return float64(n)/2*math.Log(p.variance) + p.chol.LogDet()/2, gradient
}

// covariance returns k + noise·I, and the slopes of matern below its diagonal.
func (p *process) covariance(deltas [][]float64) (k *mat.SymDense, slopes []float64) {
	n := len(p.x)
	k, slopes = mat.NewSymDense(n, nil), make([]float64, n*n)
	for a := range n {
		k.SetSym(a, a, 1+p.noise)
		for b := range a {
			squared := 0.
			for j, length := range p.length {
				squared += deltas[j][a*n+b] / (length * length)
			}
			value, slope := matern(squared)
			k.SetSym(a, b, value)
			slopes[a*n+b] = slope
		}
	}
	return k, slopes
}

// condition sets the mean and the variance, and alpha, from the factorization.
func (p *process) condition() {
	n := len(p.x)
	y, one := mat.NewVecDense(n, slices.Clone(p.y)), mat.NewVecDense(n, slices.Repeat([]float64{1}, n))
	var a, b mat.VecDense
	_ = p.chol.SolveVecTo(&a, y)
	_ = p.chol.SolveVecTo(&b, one)
	p.mean = mat.Sum(&a) / mat.Sum(&b)
	a.AddScaledVec(&a, -p.mean, &b)
	p.alpha = a.RawVector().Data
	p.variance = max(floats.Dot(p.alpha, p.y)/float64(n), math.SmallestNonzeroFloat64)
}

// predict returns the posterior means and standard deviations of f + mean at points.
func (p *process) predict(points [][]float64) (means, deviations []float64) {
	n, m := len(p.x), len(points)
	k := mat.NewDense(n, m, nil)
	for i, x := range p.x {
		row := k.RawRowView(i)
		for c, point := range points {
			squared := 0.
			for j, length := range p.length {
				squared += p.delta(j, x, point) / (length * length)
			}
			row[c], _ = matern(squared)
		}
	}
	means, deviations = make([]float64, m), make([]float64, m)
	for i, a := range p.alpha {
		floats.AddScaled(means, a, k.RawRowView(i))
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, p.chol.RawU().(*mat.TriDense).RawTriangular(), k.RawMatrix()) // U⁻ᵀk
	for i := range n {
		for c, v := range k.RawRowView(i) {
			deviations[c] += v * v
		}
	}
	for c := range points {
		means[c] += p.mean
		deviations[c] = math.Sqrt(p.variance * max(1-deviations[c], jitter))
	}
	return means, deviations
}

// logImprovement returns the logarithm of the expected improvement of N(mean, deviation²) below best (Ament and
// others, Unexpected Improvements to Expected Improvement, 2023).
func logImprovement(mean, deviation, best float64) float64 {
	return math.Log(deviation) + logH((best-mean)/deviation)
}

// logH returns log(φ(z) + zΦ(z)), accurate also for z far below 0, where the terms cancel and underflow (Ament and
// others, 2023, equation 9).
func logH(z float64) float64 {
	density := -z*z/2 - math.Log(2*math.Pi)/2 // logarithm of φ(z)
	switch {
	case z > -1:
		return math.Log(math.Exp(density) + z*distuv.UnitNormal.CDF(z))
	case z > -30:
		// Φ(z)/φ(z) is Mills' ratio √(π/2)·exp(z²/2)·erfc(-z/√2).
		return density + math.Log1p(z*math.Sqrt(math.Pi/2)*math.Exp(z*z/2)*math.Erfc(-z/math.Sqrt2))
	}
	// The asymptotic series 1/z² - 3/z⁴ + 15/z⁶ - …
	s := 1 / (z * z)
	return density + math.Log(s) + math.Log1p(s*(-3+s*(15-105*s)))
}
