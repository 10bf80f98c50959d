package calibrate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/quernlab/quern/accel/calibrate"
)

type golden struct {
	Cases []struct {
		Scores          []float64
		Positive        []bool
		At              []float64
		Platt, Isotonic []float64
		F               map[string]float64
		Cost            float64
	}
	Logits      [][]float64
	Classes     []int
	Temperature float64
}

func read(t *testing.T) (g golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/calibrate.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestEqualsScikitLearn compares probabilities and the best values of all thresholds.
func TestEqualsScikitLearn(t *testing.T) {
	for i, c := range read(t).Cases {
		platt, err := calibrate.Platt(c.Scores, c.Positive)
		if err != nil {
			t.Fatal(err)
		}
		isotonic, err := calibrate.Isotonic(c.Scores, c.Positive)
		if err != nil {
			t.Fatal(err)
		}
		for k, at := range c.At {
			if got := platt.Probability(at); math.Abs(got-c.Platt[k]) > 1e-5 {
				t.Errorf("case %d: Platt's probability at %v is %v, want %v", i, at, got, c.Platt[k])
			}
			if got := isotonic.Probability(at); math.Abs(got-c.Isotonic[k]) > 1e-12 {
				t.Errorf("case %d: the isotonic probability at %v is %v, want %v", i, at, got, c.Isotonic[k])
			}
		}
		for text, want := range c.F {
			beta, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			d, err := calibrate.BestF(c.Scores, c.Positive, beta)
			if err != nil || math.Abs(d.Value-want) > 1e-12 {
				t.Errorf("case %d: F%s is %v, want %v, %v", i, text, d.Value, want, err)
			}
			requireCounts(t, d, c.Scores, c.Positive)
			if again, err := d.Apply(c.Scores, c.Positive); err != nil || again.String() != d.String() {
				t.Errorf("case %d: applied to the same examples, %v is %v, %v", i, d, again, err)
			}
		}
		d, err := calibrate.Cheapest(c.Scores, c.Positive, 1, 20)
		if err != nil || d.Value != c.Cost {
			t.Errorf("case %d: the cost is %v, want %v, %v", i, d.Value, c.Cost, err)
		}
		requireCounts(t, d, c.Scores, c.Positive)
	}
}

// requireCounts requires that the threshold gives the counts of the decision.
func requireCounts(t *testing.T, d calibrate.Decision, scores []float64, positive []bool) {
	t.Helper()
	var tp, fp, fn, tn int
	for i, s := range scores {
		switch {
		case s > d.Threshold && positive[i]:
			tp++
		case s > d.Threshold:
			fp++
		case positive[i]:
			fn++
		default:
			tn++
		}
	}
	if tp != d.TruePositives || fp != d.FalsePositives || fn != d.FalseNegatives || tn != d.TrueNegatives {
		t.Errorf("%v: the threshold gives %d, %d, %d, %d", d, tp, fp, fn, tn)
	}
}

func TestTemperature(t *testing.T) {
	g := read(t)
	got, err := calibrate.Temperature(g.Logits, g.Classes)
	if err != nil || math.Abs(got-g.Temperature) > 1e-6*g.Temperature {
		t.Errorf("%v, want %v, %v", got, g.Temperature, err)
	}
	if got, err := calibrate.Temperature([][]float64{{5, 0}, {0, 5}}, []int{0, 1}); err != nil || math.Abs(got-0.01) > 1e-6 {
		t.Errorf("a model that is always right: %v, %v", got, err)
	}
	if got, err := calibrate.Temperature([][]float64{{5, 5}, {0, 0}}, []int{1, 0}); err != nil || got != 1 {
		t.Errorf("equal logits: %v, %v", got, err)
	}
	if got, err := calibrate.Temperature([][]float64{{5, 0}, {0, 5}}, []int{1, 0}); err != nil || math.Abs(got-100) > 1e-6 {
		t.Errorf("a model that is always wrong: %v, %v", got, err)
	}
}

// TestEdges has scores with one possible threshold, with equal values, and of extreme sizes.
func TestEdges(t *testing.T) {
	for name, c := range map[string]struct {
		scores   []float64
		positive []bool
		f        float64
	}{
		"two":         {[]float64{0, 1}, []bool{false, true}, 1},
		"the reverse": {[]float64{1, 0}, []bool{false, true}, 2. / 3},
		"all equal":   {[]float64{3, 3, 3, 3}, []bool{false, true, true, false}, 2. / 3},
		"large":       {[]float64{-1e300, 1e300}, []bool{false, true}, 1},
		"neighbors":   {[]float64{1, math.Nextafter(1, 2)}, []bool{false, true}, 1},
	} {
		d, err := calibrate.BestF(c.scores, c.positive, 1)
		if err != nil || math.Abs(d.Value-c.f) > 1e-12 {
			t.Errorf("%s: %v, want %v, %v", name, d, c.f, err)
		}
		requireCounts(t, d, c.scores, c.positive)
		platt, err := calibrate.Platt(c.scores, c.positive)
		if p := platt.Probability(c.scores[0]); err != nil || !(p >= 0 && p <= 1) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		isotonic, err := calibrate.Isotonic(c.scores, c.positive)
		if err != nil || !math.IsNaN(isotonic.Probability(math.NaN())) {
			t.Errorf("%s: %v, %v", name, isotonic, err)
		}
		for _, at := range append(c.scores, math.Inf(-1), math.Inf(1)) {
			if p := isotonic.Probability(at); !(p >= 0 && p <= 1) {
				t.Errorf("%s: the probability at %v is %v", name, at, p)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	scores, positive := []float64{1, 2}, []bool{true, true}
	for name, f := range map[string]func() error{
		"Platt":             func() error { _, err := calibrate.Platt(scores, positive); return err },
		"Isotonic":          func() error { _, err := calibrate.Isotonic(scores, positive); return err },
		"BestF":             func() error { _, err := calibrate.BestF(scores, positive, 1); return err },
		"Cheapest":          func() error { _, err := calibrate.Cheapest(scores, positive, 1, 1); return err },
		"nothing":           func() error { _, err := calibrate.Platt(nil, nil); return err },
		"all are negative":  func() error { _, err := calibrate.Platt(scores, []bool{false, false}); return err },
		"no ErrOneClass: a": func() error { _, err := calibrate.Platt(scores, []bool{false}); return err },
		"no ErrOneClass: b": func() error { _, err := calibrate.Isotonic([]float64{math.NaN(), 1}, []bool{false, true}); return err },
		"no ErrOneClass: c": func() error { _, err := calibrate.BestF(scores, []bool{false, true}, 0); return err },
		"no ErrOneClass: d": func() error { _, err := calibrate.BestF(scores, []bool{false, true}, math.NaN()); return err },
		"no ErrOneClass: e": func() error { _, err := calibrate.Cheapest(scores, []bool{false, true}, -1, 1); return err },
		"no ErrOneClass: f": func() error { _, err := calibrate.Temperature(nil, nil); return err },
		"no ErrOneClass: g": func() error { _, err := calibrate.Temperature([][]float64{{1, 2}}, []int{2}); return err },
		"no ErrOneClass: h": func() error { _, err := calibrate.Temperature([][]float64{{1, math.Inf(1)}}, []int{0}); return err },
		"no ErrOneClass: j": func() error { _, err := calibrate.Temperature([][]float64{{1, 2}, {1}}, []int{1, 0}); return err },
		"no ErrOneClass: i": func() error { _, err := calibrate.Temperature([][]float64{{1, 2}}, nil); return err },
	} {
		err := f()
		if other := len(name) > 2 && name[:2] == "no" && name != "nothing"; err == nil || errors.Is(err, calibrate.ErrOneClass) == other {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestApply has examples of one class, none, and invalid ones.
func TestApply(t *testing.T) {
	d, err := calibrate.Cheapest([]float64{1, 2, 3}, []bool{false, true, true}, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	missed, err := d.Apply([]float64{0, 4, 1}, []bool{true, true, true})
	if err != nil || missed.Value != 10 || missed.TruePositives != 1 || missed.FalseNegatives != 2 || missed.Threshold != d.Threshold {
		t.Errorf("%v, %v", missed, err)
	}
	if none, err := d.Apply(nil, nil); err != nil || none.Value != 0 {
		t.Errorf("without examples: %v, %v", none, err)
	}
	for name, f := range map[string]func() error{
		"lengths": func() error { _, err := d.Apply([]float64{1}, nil); return err },
		"NaN":     func() error { _, err := d.Apply([]float64{math.NaN()}, []bool{true}); return err },
		"zero":    func() error { _, err := calibrate.Decision{}.Apply([]float64{1}, []bool{true}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func ExampleCheapest() {
	scores := []float64{0.1, 0.4, 0.35, 0.8, 0.7}
	fraud := []bool{false, false, true, true, false}
	d, err := calibrate.Cheapest(scores, fraud, 1, 10) // a missed fraud costs ten times a false alarm
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d)
	// Output: threshold 0.225: 2 with 2 true and 2 false positives, 1 true and 0 false negatives
}

func ExamplePlatt() {
	p, err := calibrate.Platt([]float64{-2, -1, 1, -0.5, 2, 3}, []bool{false, false, false, true, true, true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f %.2f %.2f\n", p.Probability(-3), p.Probability(0), p.Probability(3))
	// Output: 0.17 0.45 0.77
}

// TestDecisionsOfNeighboringScores requires the counts of a decision to be those of its threshold, also where no number lies between two
// scores and where their difference overflows.
func TestDecisionsOfNeighboringScores(t *testing.T) {
	for _, low := range []float64{0.1, 0.3, math.Nextafter(0.3, 1), 1 - 0x1p-53, -0.3, -math.SmallestNonzeroFloat64, 0} {
		scores, positive := []float64{low, math.Nextafter(low, 2)}, []bool{false, true}
		d, err := calibrate.BestF(scores, positive, 1)
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.Apply(scores, positive)
		if err != nil || d.Value != 1 || again.Value != 1 || again.TruePositives != 1 || again.TrueNegatives != 1 {
			t.Errorf("scores %v: %v, but its threshold %v gives %v, %v", scores, d, d.Threshold, again, err)
		}
	}
	d, err := calibrate.BestF([]float64{-math.MaxFloat64, math.MaxFloat64}, []bool{false, true}, 1)
	if err != nil || d.Threshold != 0 {
		t.Errorf("%v, %v", d, err)
	}
}
