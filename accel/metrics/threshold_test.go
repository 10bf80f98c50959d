package metrics_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/tensor"
)

// measure returns the only value of a metric.
func measure(t *testing.T, m metrics.Metric, prediction, target *tensor.Tensor) (float64, error) {
	t.Helper()
	c, err := metrics.NewCollection(m)
	if err == nil {
		err = c.Update(prediction, target)
	}
	if err != nil {
		return math.NaN(), err
	}
	v, err := c.Values()
	if err != nil {
		return math.NaN(), err
	}
	return v[0].Value, nil
}

// TestThresholdOfTwoLogits compares metrics of two logits with those of one, their difference: a threshold
// has the effect that the name of the metric claims.
func TestThresholdOfTwoLogits(t *testing.T) {
	pairs := []float32{0, 0.2, 0, 5, 0, -3, 1, 1, 2, 0.5, -1, 4, 3, 3.5, 0, 0}
	classes := []int{0, 1, 0, 1, 0, 1, 1, 0}
	var differences, shares []float32
	for i := 0; i < len(pairs); i += 2 {
		p := 1 / (1 + math.Exp(float64(pairs[i]-pairs[i+1])))
		differences, shares = append(differences, pairs[i+1]-pairs[i]), append(shares, float32(1-p), float32(p))
	}
	n := len(classes)
	two, one, given := tensor.New(pairs, n, 2), tensor.New(differences, n), tensor.New(shares, n, 2)
	target := tensor.FromInts(classes, n)
	for _, cut := range []float64{0.01, 0.3, 0.5, 0.7, 0.9, 0.99} {
		type function = func(...metrics.Option) metrics.Metric
		for _, row := range []struct {
			of      function
			average []metrics.Option
		}{
			{metrics.F1, []metrics.Option{metrics.OfClass(1)}}, {metrics.F1, []metrics.Option{metrics.Macro}},
			{metrics.Precision, []metrics.Option{metrics.OfClass(1)}}, {metrics.Recall, []metrics.Option{metrics.Weighted}},
			{metrics.Accuracy, nil},
		} {
			options := append([]metrics.Option{metrics.Threshold(cut)}, row.average...)
			m := row.of(options...)
			want, err := measure(t, m, one, target)
			if err != nil {
				t.Fatal(err)
			}
			for what, prediction := range map[string]*tensor.Tensor{"logits": two, "probabilities": given} {
				m := m
				if what == "probabilities" {
					m = row.of(append(options, metrics.Probabilities())...)
				}
				if got, err := measure(t, m, prediction, target); got != want || err != nil {
					t.Errorf("%s of two %s is %v, of one logit %v: %v", m.Name(), what, got, want, err)
				}
			}
		}
	}
	if got, err := measure(t, metrics.F1(metrics.OfClass(1), metrics.Threshold(0.9)), tensor.New([]float32{0, 0.2, 0, 5, 0, -3}, 3, 2), tensor.FromInts([]int{0, 1, 0}, 3)); got != 1 || err != nil {
		t.Errorf("F1 at threshold 0.9 is %v: %v", got, err)
	}
}

// TestThresholdOfAClass predicts a class from its threshold on, and the largest other one below.
func TestThresholdOfAClass(t *testing.T) {
	logits := tensor.New([]float32{0, 1, 0.9, 0, 3, 0, 5, 0, 0, 0, 0, 0.1}, 4, 3)
	target := tensor.FromInts([]int{2, 1, 0, 2}, 4)
	for _, row := range []struct {
		m    metrics.Metric
		want float64
	}{
		{metrics.Recall(metrics.OfClass(2)), 0.5},
		{metrics.Recall(metrics.OfClass(2), metrics.Threshold(0.35)), 1},
		{metrics.Recall(metrics.OfClass(2), metrics.Threshold(0.4)), 0},
		{metrics.Precision(metrics.OfClass(1), metrics.Threshold(0.3)), 1. / 3},
		{metrics.Precision(metrics.OfClass(1), metrics.Threshold(0.9)), 1},
		{metrics.Recall(metrics.OfClass(0), metrics.Threshold(0.99)), 0},
	} {
		if got, err := measure(t, row.m, logits, target); got != row.want || err != nil {
			t.Errorf("%s is %v, want %v: %v", row.m.Name(), got, row.want, err)
		}
	}
	// Two of them in a collection do not share their predictions.
	c, err := metrics.NewCollection(metrics.Recall(metrics.OfClass(2), metrics.Threshold(0.35)), metrics.Recall(metrics.OfClass(1), metrics.Threshold(0.35)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Update(logits, target); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Values(); err != nil || v[0].Value != 1 || v[1].Value != 1 {
		t.Errorf("%v, %v", v, err)
	}
	var shape *tensor.ShapeError
	if _, err := measure(t, metrics.F1(metrics.Macro, metrics.Threshold(0.4)), logits, target); !errors.As(err, &shape) || !strings.Contains(err.Error(), "OfClass") {
		t.Errorf("a threshold without a class: %v", err)
	}
	var undefined *metrics.UndefinedError
	if _, err := measure(t, metrics.F1(metrics.OfClass(7), metrics.Threshold(0.4)), logits, target); !errors.As(err, &undefined) {
		t.Errorf("a class that does not exist: %v", err)
	}
}

// TestThresholdsAreInclusive takes each threshold of a curve: metrics at it have the curve's values.
func TestThresholdsAreInclusive(t *testing.T) {
	scores := []float64{0.9, 0.75, 0.75, 0.5, 0.25, 0.125, 0.1}
	positive := []bool{true, true, false, true, false, false, true}
	values, logits, classes, pairs := make([]float32, len(scores)), make([]float64, len(scores)), make([]int, len(scores)), make([]float64, 2*len(scores))
	for i, s := range scores {
		values[i], logits[i], pairs[2*i+1] = float32(s), math.Log(s/(1-s)), math.Log(s/(1-s))
		scores[i] = float64(values[i])
		if positive[i] {
			classes[i] = 1
		}
	}
	curve, err := metrics.PrecisionRecall(scores, positive)
	if err != nil {
		t.Fatal(err)
	}
	target := tensor.FromInts(classes, len(classes))
	for i, cut := range curve.Thresholds[1:] {
		for _, row := range []struct {
			m    metrics.Metric
			want float64
		}{
			{metrics.Recall(metrics.Threshold(cut), metrics.Probabilities()), curve.Recall[i+1]},
			{metrics.Precision(metrics.Threshold(cut), metrics.Probabilities()), curve.Precision[i+1]},
		} {
			if got, err := measure(t, row.m, tensor.New(values, len(values)), target); got != row.want || err != nil {
				t.Errorf("%s is %v, but the curve has %v: %v", row.m.Name(), got, row.want, err)
			}
		}
	}
	// The scores of a curve of logits are logits: a threshold is their probability.
	curve, err = metrics.PrecisionRecall(logits, positive)
	if err != nil {
		t.Fatal(err)
	}
	for i, z := range curve.Thresholds[1:] {
		cut := metrics.Threshold(1 / (1 + math.Exp(-z)))
		for name, prediction := range map[string]*tensor.Tensor{"one logit": tensor.FromFloat64s(logits, len(logits))} {
			if got, err := measure(t, metrics.Recall(cut), prediction, target); got != curve.Recall[i+1] || err != nil {
				t.Errorf("%s at %v: recall %v, but the curve has %v: %v", name, z, got, curve.Recall[i+1], err)
			}
		}
	}
}

// TestOptionsWithoutEffect demands an error for an option that a metric would carry in its name only.
func TestOptionsWithoutEffect(t *testing.T) {
	for _, m := range []metrics.Metric{
		metrics.ROCAUC(metrics.Threshold(0.9)), metrics.AveragePrecision(metrics.Threshold(0.9)), metrics.LogLoss(metrics.Threshold(0.9)),
		metrics.Perplexity(metrics.Threshold(0.9)), metrics.TopK(2, metrics.Threshold(0.9)), metrics.TopK(2, metrics.Probabilities()),
		metrics.ECE(metrics.Threshold(0.9)), metrics.F1(metrics.Bins(3)), metrics.Accuracy(metrics.Bins(3)), metrics.LogLoss(metrics.Bins(3)),
	} {
		if err := m.Valid(); err == nil || !strings.Contains(err.Error(), "does not take") {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestNamesOfClassesKeepOptions checks the names of the values of PerClass.
func TestNamesOfClassesKeepOptions(t *testing.T) {
	c, err := metrics.NewCollection(metrics.F1(metrics.PerClass), metrics.F1(metrics.PerClass, metrics.Threshold(0.9)))
	if err != nil {
		t.Fatal(err)
	}
	c.NameClasses("cat", "dog")
	if err := c.Update(tensor.New([]float32{0, 0.2, 0, 5}, 2, 2), tensor.FromInts([]int{0, 1}, 2)); err != nil {
		t.Fatal(err)
	}
	values, err := c.Values()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var numbers []float64
	for _, v := range values {
		names, numbers = append(names, v.Name), append(numbers, v.Value)
	}
	if want := []string{"F1 (cat)", "F1 (dog)", "F1 (cat, threshold 0.9)", "F1 (dog, threshold 0.9)"}; !slices.Equal(names, want) || !slices.Equal(numbers, []float64{0, 2. / 3, 1, 1}) {
		t.Errorf("%q %v, want %q", names, numbers, want)
	}
}

// TestIgnoredLabels leaves out labels of examples with several: the values are those of the others.
func TestIgnoredLabels(t *testing.T) {
	logits := []float32{2, -1, 0.5, -2, 3, 1, -1, -1, 2, 1, 1, -3}
	target := []float32{1, 0, -1, 0, 1, 0, -1, 1, 1, 0, -1, 0}
	var kept, of []float32
	for i, y := range target {
		if y >= 0 {
			kept, of = append(kept, logits[i]), append(of, y)
		}
	}
	ignore := metrics.IgnoreIndex(-1)
	for _, m := range [][2]metrics.Metric{
		{metrics.Accuracy(ignore), metrics.Accuracy()},
		{metrics.F1(metrics.Micro, ignore), metrics.F1()},
		{metrics.Recall(metrics.Micro, ignore), metrics.Recall()},
		{metrics.Precision(metrics.Micro, ignore), metrics.Precision()},
		{metrics.LogLoss(ignore), metrics.LogLoss()},
		{metrics.ROCAUC(metrics.Micro, ignore), metrics.ROCAUC()},
		{metrics.AveragePrecision(metrics.Micro, ignore), metrics.AveragePrecision()},
	} {
		got, err := measure(t, m[0], tensor.New(logits, 4, 3), tensor.New(target, 4, 3))
		if err != nil {
			t.Fatal(err)
		}
		want, err := measure(t, m[1], tensor.New(kept, len(kept)), tensor.New(of, len(of)))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v of the labels that are not left out", m[0].Name(), got, want)
		}
	}
}
