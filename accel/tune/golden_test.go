package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// golden has values of scipy, scikit-learn and mpmath, by testdata/make_golden.py.
type golden struct {
	Densities []struct {
		X, N, Word, Log []float64
		Points          [][]float64
	}
	Process struct {
		X, Points                         [][]float64
		Y, Length, Means, Deviations      []float64
		Noise, Mean, Variance, Likelihood float64
	}
	Improvements [][2]float64
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

func TestDensity(t *testing.T) {
	words := []string{"a", "b", "c"}
	space := []named{
		{"x", dimension{kind: number, low: 0, high: 1}}, {"n", dimension{kind: whole, low: 1, high: 32}},
		{"word", dimension{kind: choice, high: 2, words: words}},
	}
	for _, row := range readGolden(t).Densities {
		var trials []*Trial
		for i := range row.X {
			trials = append(trials, &Trial{Number: i + 1, Settings: []Setting{
				{"x", row.X[i]}, {"n", int(row.N[i])}, {"word", words[int(row.Word[i])]},
			}})
		}
		d := newDensity(space, trials)
		for i, at := range row.Points {
			if got := d.log(at); !near(got, row.Log[i], 1e-9) {
				t.Errorf("%d observations, at %v: %.10f, want %.10f", len(trials), at, got, row.Log[i])
			}
			// A joint density is a marginal one times a conditional one.
			marginal := newDensity(space[:1], trials)
			if got := marginal.log(at[:1]) + d.given(at[:1]).log(at[1:]); !near(got, row.Log[i], 1e-9) {
				t.Errorf("%d observations, in two steps at %v: %.10f, want %.10f", len(trials), at, got, row.Log[i])
			}
		}
	}
}

// The kernels of each kind of setting add up to 1, also those of a missing observation.
func TestKernelsAddUp(t *testing.T) {
	for name, row := range map[string]struct {
		d    dimension
		seen []float64
		step float64
	}{
		"number":        {dimension{kind: number, low: -1, high: 2}, []float64{-1, .5, .5, math.NaN(), 2}, 1e-4},
		"log":           {dimension{kind: logNumber, low: 1e-5, high: 1}, []float64{math.Log(1e-3)}, 1e-4},
		"integer":       {dimension{kind: whole, low: -3, high: 5}, []float64{5, 5, 5, 0}, 1},
		"wide integers": {dimension{kind: whole, low: 0, high: 1e4}, []float64{17, 6000}, 1},
		"choice":        {dimension{kind: choice, high: 2, words: []string{"a", "b", "c"}}, []float64{1, 1, math.NaN()}, 1},
		"no values":     {dimension{kind: number, low: 0, high: 1}, nil, 1e-4},
	} {
		k := newKernels(row.d, row.seen)
		low, high := row.d.ends()
		for i := range k.observed {
			sum := 0.
			for at := low + row.step/2; at < high; at += row.step {
				sum += math.Exp(k.log(i, at)) * row.step
			}
			if !near(sum, 1, 2e-4) {
				t.Errorf("%s: kernel %d adds up to %g", name, i, sum)
			}
		}
	}
}

func TestProcess(t *testing.T) {
	g := readGolden(t).Process
	p := process{choices: []bool{false, false, true}, x: g.X, y: g.Y}
	logs := []float64{math.Log(g.Length[0]), math.Log(g.Length[1]), math.Log(g.Length[2]), math.Log(g.Noise - jitter)}
	value, gradient := p.likelihood(logs, p.deltas())
	n := float64(len(g.Y))
	if got := -value - n/2 - n/2*math.Log(2*math.Pi); !near(got, g.Likelihood, 1e-8) || !near(p.mean, g.Mean, 1e-8) || !near(p.variance, g.Variance, 1e-8) {
		t.Errorf("likelihood %g, mean %g, variance %g, want %g, %g, %g", got, p.mean, p.variance, g.Likelihood, g.Mean, g.Variance)
	}
	means, deviations := p.predict(g.Points)
	for i := range g.Points {
		if !near(means[i], g.Means[i], 1e-7) || !near(deviations[i], g.Deviations[i], 1e-6) {
			t.Errorf("at %v: %g ± %g, want %g ± %g", g.Points[i], means[i], deviations[i], g.Means[i], g.Deviations[i])
		}
	}
	numeric := fd.Gradient(nil, func(logs []float64) float64 {
		q := process{choices: p.choices, x: g.X, y: g.Y}
		value, _ := q.likelihood(logs, q.deltas())
		return value
	}, logs, &fd.Settings{Formula: fd.Central})
	if !floats.EqualApprox(gradient, numeric, 1e-5) {
		t.Errorf("gradient %v, numerically %v", gradient, numeric)
	}
}

// The fit is at a maximum of the likelihood times the priors, from which no small step leads higher.
func TestFit(t *testing.T) {
	g := readGolden(t).Process
	p := process{choices: []bool{false, false, true}, x: g.X, y: g.Y}
	if !p.fit() {
		t.Fatal("no fit")
	}
	best := []float64{math.Log(p.length[0]), math.Log(p.length[1]), math.Log(p.length[2]), math.Log(p.noise - jitter)}
	lowest, _ := p.posterior(best, p.deltas())
	for i := range best {
		for _, step := range []float64{-.3, .3} {
			at := append([]float64{}, best...)
			at[i] += step
			if value, _ := p.posterior(at, p.deltas()); value < lowest-1e-3 {
				t.Errorf("%g at %v is below %g at %v", value, at, lowest, best)
			}
		}
	}
}

// Observations that are all at one point, or repeated, have a process.
func TestFitOfRepeatedPoints(t *testing.T) {
	for name, p := range map[string]*process{
		"one point":   {choices: []bool{false}, x: [][]float64{{.5}, {.5}, {.5}}, y: []float64{0, 1, 0}},
		"one value":   {choices: []bool{false}, x: [][]float64{{.1}, {.5}, {.9}}, y: []float64{1, 1, 1}},
		"one trial":   {choices: []bool{false}, x: [][]float64{{.1}}, y: []float64{1}},
		"two choices": {choices: []bool{true}, x: [][]float64{{0}, {1}, {1}, {0}}, y: []float64{0, 1, 1, 0}},
	} {
		if !p.fit() {
			t.Errorf("%s: no fit", name)
			continue
		}
		means, deviations := p.predict([][]float64{{0}, {.5}, {1}})
		if !finite(mat.Sum(mat.NewVecDense(3, means))) || !finite(floats.Sum(deviations)) {
			t.Errorf("%s: %v ± %v", name, means, deviations)
		}
	}
}

func TestLogImprovement(t *testing.T) {
	for _, row := range readGolden(t).Improvements {
		if got := logH(row[0]); !near(got, row[1], 1e-9) {
			t.Errorf("at %g: %.12g, want %.12g", row[0], got, row[1])
		}
	}
	// The improvement of N(1, 2²) below 3 is 2·h(1).
	if got, want := logImprovement(1, 2, 3), math.Log(2)+logH(1); got != want {
		t.Errorf("%g, want %g", got, want)
	}
	if got := fmt.Sprint(logH(math.NaN())); got != "NaN" {
		t.Error(got)
	}
}
